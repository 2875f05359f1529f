"""A unit's emitted Verilog in Icarus or Verilator under cocotb; the bench in the simulator is :mod:`.cocotb_bench`."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.cosim import CocotbVerilatorEngine, IcarusEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Answer

from .script import UnitScript
from .streams import UnitInput, UnitOutput

BENCH = "ropewalk_sim.units.cocotb_bench"


class _UnitCocotb:
    """What the two have in common. Every packet of an input must end with TLAST: the source can send no other."""

    engine: type[IcarusEngine] | type[CocotbVerilatorEngine]

    def __init__(self, folder: Path) -> None:
        # The build and the runner know no design; the rest of the rotary engine's class is not used.
        self._runner: Any = object.__new__(self.engine)
        self._runner._folder = Path(folder).absolute()

    def run(
        self,
        stream: UnitInput,
        *,
        stalls: Stalls | None = None,
        script: UnitScript | None = None,
        progress: Progress | None = None,
    ) -> UnitOutput:
        """Run ``stream`` through the simulated Verilog. Raises ``EngineError`` if it hangs or breaks the protocol."""
        stalls, script = stalls or Stalls(), script or UnitScript()
        if script.interrupted is not None and not script.reset_clocks:
            raise ValueError("cocotb's sources cannot take back what they offer: give a reset of a clock or more")
        runner = self._runner
        build = runner.build()
        with tempfile.TemporaryDirectory(prefix="ropewalk-") as name:
            job = Path(name)
            for memory in runner._folder.glob("*.hex"):
                (job / memory.name).symlink_to(memory)
            _write_job(job, stream, stalls, script)
            order = {"action": "test", "simulator": runner.simulator, "target": str(build), "folder": str(job),
                     "arguments": runner.plusargs(stalls.seed), "module": BENCH}  # fmt: skip
            runner._simulate(job, order, stream.beats, progress)
            return _read_result(job, runner.name)


class UnitIcarus(_UnitCocotb):
    """In Icarus Verilog."""

    engine = IcarusEngine


class UnitCocotbVerilator(_UnitCocotb):
    """In Verilator, under cocotb."""

    engine = CocotbVerilatorEngine


def _write_job(job: Path, stream: UnitInput, stalls: Stalls, script: UnitScript) -> None:
    arrays: dict[str, np.ndarray] = {}
    streams = {"": stream} | ({"interrupted_": script.interrupted} if script.interrupted is not None else {})
    for prefix, one in streams.items():
        if one.beats and not one.last[-1]:
            raise ValueError("the last beat must have TLAST: cocotbext-axi's source cannot leave a packet open")
        for name in ("descriptors", "data", "keep", "tid", "last"):
            arrays[prefix + name] = getattr(one, name)
    np.savez(job / "job.npz", allow_pickle=False, **arrays)
    fields: dict[str, Any] = {
        "quiet_limit": QUIET_CLOCKS,
        "hang_limit": HANG_CLOCKS,
        **{name: getattr(stalls, name) for name in ("seed", "data", "token", "output")},
        "registers_stall": stalls.registers,
        **{name: getattr(script, name) for name in ("output_start", "interrupted_clocks", "reset_clocks")},
        **{
            name: [asdict(access) for access in getattr(script, name)]
            for name in ("registers", "interrupted_registers", "meanwhile")
        },
        "most_polls": MOST_POLLS,
        "silence_clocks": SILENCE_CLOCKS,
    }
    (job / "job.json").write_text(json.dumps(fields))


def _read_result(job: Path, name: str) -> UnitOutput:
    results = json.loads((job / "result.json").read_text())
    if "fault" in results:
        raise EngineError(f"{name}: {results['fault']}")
    outputs = {}
    with np.load(job / "result.npz", allow_pickle=False) as arrays:
        for part, fields in results.items():
            fields["answers"] = tuple(Answer(*answer) for answer in fields["answers"])
            beats = {key: arrays[f"{part}_{key}"] for key in ("data", "tid", "user")}
            flags = {key: arrays[f"{part}_{key}"].astype(bool) for key in ("keep", "last")}
            outputs[part] = {**beats, **flags, **fields}
    before = UnitOutput(**outputs["before"]) if "before" in outputs else None
    return UnitOutput(**outputs["run"], before=before)
