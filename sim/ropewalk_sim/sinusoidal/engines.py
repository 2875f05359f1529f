"""The engines of the sinusoidal adder: those of :mod:`ropewalk_sim.units`, with its arrays."""

from pathlib import Path

from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.gateware.sinusoidal.top import SinusoidalPorts
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.units.engines import open_bench
from ropewalk_sim.units.rows import RowInput, RowOutput, from_unit, to_unit
from ropewalk_sim.units.streams import UnitInput

from .model import run_model


def run_engine(
    name: str,
    folder: Path | None,
    design: SinusoidalDesign,
    stream: RowInput,
    stalls: Stalls | None = None,
    script: Script[UnitInput] | None = None,
    *,
    progress: Progress | None = None,
) -> RowOutput:
    """Run ``stream`` through one of :data:`ropewalk_sim.units.engines.ENGINES`. ``amaranth`` needs no ``folder``.

    Raises
    ------
    EngineError
        If the unit cannot be built, hangs, or breaks the protocol.
    """
    if name == "model":
        return run_model(design, stream)
    stream.check(design)
    run = open_bench(name, folder, lambda: SinusoidalPorts(design))
    return from_unit(design, run(to_unit(design, stream), stalls=stalls, script=script, progress=progress))
