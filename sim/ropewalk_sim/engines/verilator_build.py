"""Compiles the emitted Verilog into a shared library that takes and returns arrays: once per design, see :mod:`.cache`.

The clock loop is ``harness.cpp``; it knows no design.
"""

import shutil
from pathlib import Path

from ropewalk_sim.engines.cache import cached
from ropewalk_sim.engines.toolchain import (
    compiler,
    compiler_version,
    read_verilog,
    run_tool,
    verilator_root,
    verilator_version,
)

_HERE = Path(__file__).parent
HARNESS = _HERE / "harness.cpp"
HEADERS = tuple(_HERE / name for name in ("port_words.h", "read_memory.h", "register_port.h"))

VERILATE = ("--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal", "--top-module", "ropewalk")
# -fno-gnu-unique: or the libraries of two designs would share the static variables of their inline functions.
COMPILE = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-DVL_TIME_CONTEXT", "-DVERILATOR=1")
USER_HOOKS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_WARN")
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")


def build_library(folder: Path) -> Path:
    """The compiled library of the Verilog in ``folder``, from the cache or built now."""
    verilog = read_verilog(folder)
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
        run_tool("g++", [compiler(), "-O2", *flags, f"-I{target / 'cpp'}", "-shared", unit,
                         *(runtime / f"{name}.o" for name in RUNTIME), "-pthread", "-Wl,-Bsymbolic", "-o",
                         target / "ropewalk.so"], folder=target)  # fmt: skip
        shutil.rmtree(target / "cpp")

    sources = [file.read_bytes() for file in (HARNESS, *HEADERS)]
    return cached("verilator", (*tools, *sources, verilog), build) / "ropewalk.so"
