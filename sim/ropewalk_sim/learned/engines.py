"""The engines of the learned-table adder: those of :mod:`ropewalk_sim.units`, with its arrays and its table."""

from pathlib import Path

from ropewalk.designs.learned import LearnedDesign
from ropewalk.gateware.learned.top import LearnedPorts
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.units.engines import open_bench
from ropewalk_sim.units.rows import RowInput, RowOutput, from_unit, to_unit
from ropewalk_sim.units.streams import UnitInput

from .memory import Memory
from .model import run_model


def run_engine(
    name: str,
    folder: Path | None,
    design: LearnedDesign,
    words: Words,
    stream: RowInput,
    stalls: Stalls | None = None,
    script: Script[UnitInput] | None = None,
    *,
    memory: Memory | None = None,
    progress: Progress | None = None,
) -> RowOutput:
    """Run ``stream`` through one of :data:`ropewalk_sim.units.engines.ENGINES`.

    A table outside is ``words``, in ``memory``; one inside is what the emitted files in ``folder`` hold, and ``words``
    for ``amaranth``, which needs no ``folder``.

    Raises
    ------
    EngineError
        If the unit cannot be built, hangs, or breaks the protocol of a stream, of AXI4-Lite or of AXI4.
    """
    memory, outside = memory or Memory(), design.storage == "external"
    if name == "model":
        return run_model(design, words, stream, unreadable=memory.errors(design) if outside else None)
    stream.check(design)
    run = open_bench(name, folder, lambda: LearnedPorts(design, words))
    output = run(
        to_unit(design, stream),
        stalls=stalls,
        script=script,
        progress=progress,
        memory=memory.with_table(design, words) if outside else None,
    )
    return from_unit(design, output)
