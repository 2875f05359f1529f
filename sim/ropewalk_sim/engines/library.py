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
from ropewalk_sim.engines.clocked import CLOCKED, clocked
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

VERILATE = ("--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal")
# -fno-gnu-unique: or the libraries of two designs would share the static variables of their inline functions.
COMPILE = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-DVL_TIME_CONTEXT", "-DVERILATOR=1")
USER_HOOKS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_WARN")
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")

FST = Path(__file__).with_name("fst")
"""Stands in for the headers of liblz4 and zlib, which Verilator's writer of FST files includes."""

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
    if hasattr(library, "rw_trace"):
        library.rw_trace.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64]
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


def build_library(folder: Path, waveform: str | None = None) -> Path:
    """The compiled library of the Verilog in ``folder``, from the cache or built now.

    With ``waveform``, ``vcd`` or ``fst``, one that can write such files, which is another build and slower.
    """
    verilog = read_verilog(folder)
    verilog += clocked(verilog.decode(errors="replace")).encode()
    if waveform is None:
        return compiled("verilator", HARNESS, verilog, top=CLOCKED, level=optimisation(folder))
    # What writes signals is much, and seldom run.
    defines = ("-DVM_TRACE=1", f"-DVM_TRACE_{waveform.upper()}=1")
    return compiled("verilator", HARNESS, verilog, top=CLOCKED, level="-O0", defines=defines, waveform=waveform)


def compiled(
    kind: str,
    harness: Path,
    verilog: bytes,
    *,
    top: str,
    level: str,
    defines: tuple[str, ...] = (),
    waveform: str | None = None,
) -> Path:
    """The library of ``verilog``, whose module ``top`` the C++ file ``harness`` drives, in the cache's ``kind``.

    ``level`` and ``defines`` are for the C++ compiler; with ``waveform`` the writer of such files is compiled in.
    """
    tools = (verilator_version(), compiler_version(), *VERILATE, *COMPILE, *USER_HOOKS)
    include = verilator_root() / "include"
    flags = (*COMPILE, *USER_HOOKS, f"-I{include}", f"-I{include / 'vltstd'}")
    tracing = [f"--trace-{waveform}"] if waveform else []
    writers = [include / f"verilated_{waveform}_c.cpp"] if waveform else []
    headers = sorted(FST.iterdir()) if waveform == "fst" else []

    def build_runtime(target: Path) -> None:
        for name in RUNTIME:
            run_tool("g++ (Verilator's runtime)", [compiler(), "-O2", *flags, "-c", include / name, "-o",
                                                   target / f"{name}.o"])  # fmt: skip

    def build(target: Path) -> None:
        (target / "ropewalk.v").write_bytes(verilog)
        run_tool("verilator", [verilator_root() / "bin" / "verilator_bin", *VERILATE, *tracing, "--prefix", "Vropewalk",
                               "--Mdir", "cpp", "--top-module", top, "ropewalk.v"], folder=target)  # fmt: skip
        runtime = cached("verilated", tools, build_runtime)
        sources = [*sorted((target / "cpp").glob("*.cpp")), harness]
        unit = target / "unit.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        run_tool("g++", [compiler(), level, *defines, *flags, f"-I{FST}", f"-I{REGISTER_PORT.parent}",
                         f"-I{target / 'cpp'}", "-shared", unit, *writers,
                         *(runtime / f"{name}.o" for name in RUNTIME), "-pthread", "-Wl,-Bsymbolic", "-o",
                         target / "ropewalk.so"], folder=target)  # fmt: skip
        shutil.rmtree(target / "cpp")

    parts = (*tools, level, *defines, harness.read_bytes(), REGISTER_PORT.read_bytes(), verilog, top, waveform or "")
    return cached(kind, (*parts, *(header.read_bytes() for header in headers)), build) / "ropewalk.so"
