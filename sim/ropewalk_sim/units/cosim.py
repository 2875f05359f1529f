"""An emitted top in Icarus or Verilator under cocotb; the bench in the simulator is :mod:`.cocotb_bench`.

Each run is a job in a temporary folder, where the memory files can be found, in a process of its own. Much slower than
the ``verilator`` engine, and independent of it.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.cocotb_runner import CocotbRunner, CocotbVerilatorRunner, IcarusRunner
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Answer

from .read_memory import ReadMemory
from .streams import UnitInput, UnitOutput

BENCH = "ropewalk_sim.units.cocotb_bench"


class _UnitCocotb:
    """What the two have in common. Every packet of an input must end with TLAST: the source can send no other."""

    runner: type[CocotbRunner]

    def __init__(self, folder: Path) -> None:
        self._runner = self.runner(folder)

    def run(
        self,
        stream: UnitInput,
        *,
        stalls: Stalls | None = None,
        script: Script[UnitInput] | None = None,
        progress: Progress | None = None,
        memory: ReadMemory | None = None,
        quiet_clocks: int = QUIET_CLOCKS,
    ) -> UnitOutput:
        """Run ``stream`` through the simulated Verilog; ``memory`` is what its read master finds, where it has one.

        A run ends ``quiet_clocks`` after the last beat.

        Raises
        ------
        EngineError
            If it cannot be built, hangs, or breaks the protocol.
        ValueError
            For what cocotbext-axi's source cannot send: a last beat without TLAST; and an interruption without reset.
        """
        stalls, script = stalls or Stalls(), script or Script()
        if script.interrupted is not None and not script.reset_clocks:
            raise ValueError(
                f"the {self._runner.name} engine cannot take back what it offers: give a reset of a clock or more"
            )
        runner = self._runner
        build = runner.build()
        with tempfile.TemporaryDirectory(prefix="ropewalk-") as name:
            job = Path(name)
            runner.link_memories(job)
            _write_job(job, stream, stalls, script, memory, quiet_clocks)
            runner.simulate(job, runner.order(build, job, stalls.seed, module=BENCH), stream.beats, progress)
            return _read_result(job, runner.name)


class UnitIcarus(_UnitCocotb):
    """In Icarus Verilog."""

    runner = IcarusRunner


class UnitCocotbVerilator(_UnitCocotb):
    """In Verilator, under cocotb."""

    runner = CocotbVerilatorRunner


def _write_job(
    job: Path,
    stream: UnitInput,
    stalls: Stalls,
    script: Script[UnitInput],
    memory: ReadMemory | None,
    quiet_clocks: int,
) -> None:
    arrays: dict[str, np.ndarray] = {}
    streams = {"": stream} | ({"interrupted_": script.interrupted} if script.interrupted is not None else {})
    for prefix, one in streams.items():
        if one.beats and not one.last[-1]:
            raise ValueError("the last beat must have TLAST: cocotbext-axi's source cannot leave a packet open")
        for name in ("descriptors", "data", "keep", "tid", "last"):
            arrays[prefix + name] = getattr(one, name)
    fields: dict[str, Any] = {
        "quiet_limit": quiet_clocks,
        "hang_limit": HANG_CLOCKS,
        **{name: getattr(stalls, name) for name in ("seed", "data", "token", "output")},
        "registers_stall": stalls.registers,
        **{name: getattr(script, name) for name in ("data_start", "token_start", "output_start")},
        **{name: getattr(script, name) for name in ("interrupted_clocks", "reset_clocks")},
        **{
            name: [asdict(access) for access in getattr(script, name)]
            for name in ("registers", "interrupted_registers", "meanwhile")
        },
        "most_polls": MOST_POLLS,
        "silence_clocks": SILENCE_CLOCKS,
    }
    if memory is not None:
        arrays |= {"image": memory.image, "unreadable": memory.unreadable}
        fields |= {f"memory_{name}": getattr(memory, name) for name in ("base", "latency", "stall")}
    np.savez(job / "job.npz", allow_pickle=False, **arrays)
    (job / "job.json").write_text(json.dumps(fields))


def _read_result(job: Path, name: str) -> UnitOutput:
    results = json.loads((job / "result.json").read_text())
    if "fault" in results:
        raise EngineError(f"{name}: {results['fault']}")
    outputs = {}
    with np.load(job / "result.npz", allow_pickle=False) as arrays:
        for part, fields in results.items():
            fields["answers"] = tuple(Answer(*answer) for answer in fields["answers"])
            fields["bursts"] = tuple(tuple(burst) for burst in fields["bursts"])
            beats = {key: arrays[f"{part}_{key}"] for key in ("data", "tid", "user")}
            flags = {key: arrays[f"{part}_{key}"].astype(bool) for key in ("keep", "last")}
            outputs[part] = {**beats, **flags, **fields}
    before = UnitOutput(**outputs["before"]) if "before" in outputs else None
    return UnitOutput(**outputs["run"], before=before)
