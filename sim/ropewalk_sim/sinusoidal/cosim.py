"""The emitted Verilog of a sinusoidal adder in Icarus and in Verilator, under cocotb: see :mod:`.cocotb_bench`."""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS
from ropewalk_sim.engines.cosim import CocotbVerilatorEngine, IcarusEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Answer

from .stream import Session, SinusoidalInput, SinusoidalOutput
from .wires import beat_octets, keep_octets, output_of

BENCH = "ropewalk_sim.sinusoidal.cocotb_bench"


class _Icarus(IcarusEngine):
    """The rotary engine's builds and processes, for another top and bench."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()


class _Verilator(CocotbVerilatorEngine):
    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder).absolute()


def run_cocotb(
    simulator: str,
    folder: Path,
    design: SinusoidalDesign,
    stream: SinusoidalInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
) -> SinusoidalOutput:
    """Run ``stream`` through the Verilog in ``folder``; ``simulator`` is ``icarus`` or ``cocotb-verilator``.

    Raises
    ------
    EngineError
        If it cannot be built, hangs, or breaks the protocol of a stream.
    ValueError
        For a stream that cocotbext-axi's source cannot send: a last beat without TLAST, or a beat inside a packet of
        which not all is kept.
    """
    engine = {"icarus": _Icarus, "cocotb-verilator": _Verilator}[simulator](folder)
    stream.check(design)
    stalls, session = stalls or Stalls(), session or Session()
    if stream.beats and not stream.last[-1]:
        raise ValueError("the last beat must have TLAST")
    if not stream.keep[~stream.last].all() or (np.diff(stream.keep.astype(int), axis=1) > 0).any():
        raise ValueError("only the beat with TLAST may be kept in part, from its first element on")
    build = engine._build()  # noqa: SLF001
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as name:
        job = Path(name)
        for words in folder.glob("*.hex"):
            (job / words.name).symlink_to(words.absolute())
        octets = beat_octets(design, stream.data)
        keep = np.ones(octets.shape, np.uint8)
        if design.has_keep:
            keep = np.unpackbits(keep_octets(design, stream.keep), axis=1, bitorder="little")[:, : octets.shape[1]]
        np.savez(
            job / "job.npz", allow_pickle=False, descriptors=stream.descriptors, data=octets, tid=stream.tid,
            last=stream.last, keep=keep,
        )  # fmt: skip
        fields = {
            "container_bits": design.container_bits,
            "has_keep": design.has_keep,
            "quiet_limit": QUIET_CLOCKS + design.groups,
            "hang_limit": HANG_CLOCKS,
            **{name: getattr(stalls, name) for name in ("seed", "data", "token", "output")},
            "registers_stall": stalls.registers,
            "data_start": session.data_start,
            "output_start": session.output_start,
            "registers": [asdict(access) for access in session.registers],
            "meanwhile": [asdict(access) for access in session.meanwhile],
            "most_polls": MOST_POLLS,
            "silence_clocks": SILENCE_CLOCKS,
        }
        (job / "job.json").write_text(json.dumps(fields))
        order = {
            "action": "test", "simulator": engine.simulator, "target": str(build), "folder": str(job),
            "arguments": engine.plusargs(stalls.seed), "module": BENCH,
        }  # fmt: skip
        engine._simulate(job, order, stream.beats, None)  # noqa: SLF001
        result = json.loads((job / "result.json").read_text())
    if "fault" in result:
        raise EngineError(f"{simulator}: {result['fault']}")
    return output_of(
        design,
        [tuple(beat) for beat in result["seen"]],
        answers=tuple(Answer(*answer) for answer in result["answers"]),
        clocks=np.array(result["clocks"]),
        early_tokens=result["early_tokens"],
    )
