"""The error of a design, from the trial and the statistics of ``ropewalk verify``: its model against the exact result.

The model agrees with the Verilog in every bit, which ``verify`` and the tests show.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from ropewalk.design import Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.any_design import AnyDesign
from ropewalk.designs.learned import LearnedDesign
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.alibi.unit import AlibiUnit
from ropewalk_sim.learned.unit import LearnedUnit
from ropewalk_sim.sinusoidal.unit import SinusoidalUnit
from ropewalk_sim.stream_model import run_model
from ropewalk_sim.units.unit import Unit

from ..evidence import accuracy
from ..schemes import units
from ..trials import BULK, SEED, built_in


def worst_lsb(design: AnyDesign, files: Mapping[str, str]) -> float | None:
    """The worst error in LSB of ``verify``'s random tokens; ``files`` are those of the design's folder."""
    if isinstance(design, Design):
        stream = next(trial.stream for trial in built_in(design, ["model"])[0] if trial.name == BULK)
        found = [one.worst_lsb for one in accuracy(design, stream, run_model(design, stream))]
        return max((one for one in found if one is not None), default=None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        unit = _unit(design, folder)
        stream = unit.plain(units.BULK_BEATS, SEED)
        return units.accuracy(unit, stream, unit.run("model", stream))["worst_lsb"]


def _unit(design: AlibiDesign | LearnedDesign | SinusoidalDesign, folder: Path) -> Unit:
    match design:
        case AlibiDesign():
            return AlibiUnit(design, folder)
        case LearnedDesign():
            return LearnedUnit(design, folder)
        case SinusoidalDesign():
            return SinusoidalUnit(design, folder)
