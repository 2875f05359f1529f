"""A component of a unit alone, as Verilog: what it takes and how fast it is, without the rest."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..design import Design
from ..designs.alibi import AlibiDesign
from ..designs.any_design import AnyDesign
from ..designs.learned import LearnedDesign
from ..designs.sinusoidal import SinusoidalDesign
from ..errors import InputError
from ..gateware.alibi.contents import alibi_contents
from ..gateware.alibi.engine import AlibiEngine
from ..gateware.component import Component
from ..gateware.contents import RomContents, rom_contents
from ..gateware.engine import RotaryEngine
from ..gateware.generator import RowGenerator
from ..gateware.learned.engine import LearnedEngine
from ..gateware.rotator import RotatorLane
from ..gateware.sinusoidal.contents import rom_contents as sinusoidal_contents
from ..gateware.sinusoidal.engine import SinusoidalEngine
from ..gateware.sinusoidal.generator import PairGenerator
from ..gateware.streamed_rotator import StreamedRotator
from .verilog import emit_top

CLOCK = "clk"
"""The clock of a component alone; its reset, active high, is ``rst``."""

_Makers = Mapping[str, Callable[[Any], Component]]

_ROTARY: _Makers = {
    "engine": RotaryEngine,
    "rotator": lambda design: StreamedRotator(replace(design, lanes=1)),
    "lane": RotatorLane,
}
_SYNTH: _Makers = {"generator": RowGenerator}
_ALIBI: _Makers = {"engine": AlibiEngine}
_LEARNED: _Makers = {"engine": LearnedEngine}
_SINUSOIDAL: _Makers = {"engine": SinusoidalEngine, "generator": lambda design: PairGenerator(design, 0)}


def _parts(design: AnyDesign) -> tuple[_Makers, Mapping[str, RomContents]]:
    """How the components of a design are made, and the memories of the whole."""
    match design:
        case Design():
            made = {**_ROTARY, **_SYNTH} if design.source == "synth" else _ROTARY
            return made, rom_contents(design)
        case AlibiDesign():
            return _ALIBI, alibi_contents(design)
        case LearnedDesign():
            return _LEARNED, {}
        case SinusoidalDesign():
            return _SINUSOIDAL, sinusoidal_contents(design)


def component_files(design: AnyDesign, name: str) -> dict[str, str]:
    """The Verilog of a component of ``design``, and its memory files, by name. The module is ``ropewalk``.

    ``engine`` is the unit without registers and ports; ``rotator`` one lane of a rotary engine, between streams, and
    ``lane`` without them; ``generator`` what makes the rows of a rotary engine, or one generator of a sinusoidal adder.

    Raises
    ------
    InputError
        If the design has no such component.
    """
    made, memories = _parts(design)
    if name not in made:
        raise InputError(
            f"the unit for {design.geometry.model_type} has no component {name}; it has {', '.join(sorted(made))}"
        )
    return emit_top(made[name](design), memories, family=design.family, alone=True)
