"""The emitted Verilog of a learned-table adder in Icarus and in Verilator, under cocotb: see :mod:`.cocotb_bench`."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
from ropewalk.emit.learned import load_learned, read_table
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.cosim import CocotbVerilatorEngine, IcarusEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Answer

from .memory import memory_image
from .stream import LearnedInput, LearnedOutput, Session
from .wires import beat_octets, keep_octets, output_of

BENCH = "ropewalk_sim.learned.cocotb_bench"


class _Icarus(IcarusEngine):
    """The rotary engine's builds and processes, with another design and bench."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()


class _Verilator(CocotbVerilatorEngine):
    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()


def run_cocotb(
    simulator: str,
    folder: Path,
    stream: LearnedInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
    progress: Progress | None = None,
) -> LearnedOutput:
    """Run ``stream`` through the Verilog in ``folder``; ``simulator`` is ``icarus`` or ``cocotb-verilator``.

    Raises
    ------
    EngineError
        If it cannot be built, hangs, or breaks the protocol of a stream or of AXI4.
    ValueError
        For a stream that cocotbext-axi's source cannot send: a last beat without TLAST, or a beat inside a packet of
        which not all is kept.
    """
    engine = {"icarus": _Icarus, "cocotb-verilator": _Verilator}[simulator](folder)
    design = load_learned(folder)
    stream.check(design)
    stalls, session = stalls or Stalls(), session or Session()
    if stream.beats and not stream.last[-1]:
        raise ValueError("the last beat must have TLAST")
    if not stream.keep[~stream.last].all() or (np.diff(stream.keep.astype(int), axis=1) > 0).any():
        raise ValueError("only the beat with TLAST may be kept in part, from its first element on")
    memory = session.memory
    image, errors = memory_image(design, read_table(design, folder), memory)
    build = engine.build()
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as name:
        job = Path(name)
        for table in folder.glob("*.hex"):
            (job / table.name).symlink_to(table.absolute())
        octets = beat_octets(design, stream.data)
        keep = np.unpackbits(keep_octets(design, stream.keep), axis=1, bitorder="little")[:, : octets.shape[1]]
        np.savez(
            job / "job.npz", allow_pickle=False, descriptors=stream.descriptors, data=octets, tid=stream.tid,
            last=stream.last, keep=keep, image=image, errors=errors,
        )  # fmt: skip
        fields = {
            "container_bits": design.container_bits,
            "has_keep": design.has_keep,
            "external": design.storage == "external",
            "quiet_limit": QUIET_CLOCKS,
            "hang_limit": HANG_CLOCKS,
            **{name: getattr(stalls, name) for name in ("seed", "data", "token", "output")},
            "registers_stall": stalls.registers,
            "data_start": session.data_start,
            "output_start": session.output_start,
            "registers": [asdict(access) for access in session.registers],
            "meanwhile": [asdict(access) for access in session.meanwhile],
            "most_polls": MOST_POLLS,
            "silence_clocks": SILENCE_CLOCKS,
            "memory_base": memory.base,
            "memory_stall": memory.stall,
            "latency": list(memory.latency),
        }
        (job / "job.json").write_text(json.dumps(fields))
        order = {
            "action": "test", "simulator": engine.simulator, "target": str(build), "folder": str(job),
            "arguments": engine.plusargs(stalls.seed), "module": BENCH,
        }  # fmt: skip
        engine._simulate(job, order, stream.beats, progress)
        result = json.loads((job / "result.json").read_text())
    if "fault" in result:
        raise EngineError(f"{simulator}: {result['fault']}")
    seen = [tuple(beat) for beat in result.pop("seen")]
    answers = tuple(Answer(*answer) for answer in result.pop("answers"))
    bursts = tuple(tuple(burst) for burst in result.pop("bursts"))
    return output_of(design, seen, answers=answers, bursts=bursts, **result)
