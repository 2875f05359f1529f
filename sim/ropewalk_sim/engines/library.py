"""The shared library that a design's Verilog is compiled into: built once per content (:mod:`.cache`), and loaded.

Its C++ side is ``harness.cpp``. The ROM files are read from the design's folder whenever a run begins, so a changed
word there is seen.
"""

import contextlib
import ctypes
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from ropewalk_sim.engines.cache import cached
from ropewalk_sim.engines.toolchain import (
    compiler,
    compiler_version,
    optimisation,
    read_verilog,
    run_tool,
    verilator_root,
    verilator_version,
)
from ropewalk_sim.errors import EngineError

HARNESS = Path(__file__).with_name("harness.cpp")
REGISTER_PORT = Path(__file__).with_name("register_port.h")

VERILATE = ("--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal", "--top-module", "ropewalk")
# -fno-gnu-unique: or the libraries of two designs would share the static variables of their inline functions.
COMPILE = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-DVL_TIME_CONTEXT", "-DVERILATOR=1")
USER_HOOKS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_WARN")
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")

# The current directory belongs to the whole process; the ROM files are found through it.
_directory_lock = threading.Lock()


def load_library(path: Path) -> ctypes.CDLL:
    """The library at ``path``, its functions declared.

    Raises
    ------
    EngineError
        If it cannot be loaded.
    """
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise EngineError(f"the compiled library cannot be loaded ({error}); delete {path.parent}") from None
    library.rw_open.restype = ctypes.c_void_p
    library.rw_message.restype = ctypes.c_char_p
    for name in ("rw_close", "rw_message", "rw_start"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.rw_reset.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    library.rw_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    return library


@contextlib.contextmanager
def current_directory(folder: Path) -> Iterator[None]:
    """Make ``folder`` the current directory for a moment: initial blocks read ROM files by their relative names."""
    with _directory_lock:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(folder)
            yield
        finally:
            os.fchdir(here)
            os.close(here)


def build_library(folder: Path) -> Path:
    """The compiled library of the Verilog in ``folder``, from the cache or built now."""
    verilog, level = read_verilog(folder), optimisation(folder)
    tools = (verilator_version(), compiler_version(), *VERILATE, *COMPILE, *USER_HOOKS)
    include = verilator_root() / "include"
    flags = (*COMPILE, *USER_HOOKS, f"-I{include}", f"-I{include / 'vltstd'}")

    def build_runtime(target: Path) -> None:
        for name in RUNTIME:
            run_tool("g++ (Verilator's runtime)", [compiler(), "-O2", *flags, "-c", include / name, "-o",
                                                   target / f"{name}.o"])  # fmt: skip

    def build(target: Path) -> None:
        (target / "ropewalk.v").write_bytes(verilog)
        run_tool("verilator", [verilator_root() / "bin" / "verilator_bin", *VERILATE, "--prefix", "Vropewalk",
                               "--Mdir", "cpp", "ropewalk.v"], folder=target)  # fmt: skip
        runtime = cached("verilated", tools, build_runtime)
        sources = [*sorted((target / "cpp").glob("*.cpp")), HARNESS]
        unit = target / "unit.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        run_tool("g++", [compiler(), level, *flags, f"-I{target / 'cpp'}", "-shared", unit,
                         *(runtime / f"{name}.o" for name in RUNTIME), "-pthread", "-Wl,-Bsymbolic", "-o",
                         target / "ropewalk.so"], folder=target)  # fmt: skip
        shutil.rmtree(target / "cpp")

    parts = (*tools, level, HARNESS.read_bytes(), REGISTER_PORT.read_bytes(), verilog)
    return cached("verilator", parts, build) / "ropewalk.so"
