"""A design of whatever scheme: the one place that tells them apart when a ``design.json`` is read."""

from typing import Any, TypeAlias

from ..design import Design
from ..design_json import design_from_json as rotary_from_json
from .alibi import AlibiDesign
from .alibi_json import alibi_design_from_json
from .learned import LearnedDesign, learned_from_json
from .sinusoidal import SinusoidalDesign
from .sinusoidal import design_from_json as sinusoidal_from_json

AnyDesign: TypeAlias = Design | AlibiDesign | LearnedDesign | SinusoidalDesign

_READERS = {
    "alibi": alibi_design_from_json,
    "learned": learned_from_json,
    "sinusoidal": sinusoidal_from_json,
}


def any_design_from_json(values: dict[str, Any], where: str) -> AnyDesign:
    """The design in ``values``, of the scheme that its geometry names; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything that defines the design is missing, unknown or out of range. What names no scheme of another unit
        is read as a rotary engine's, whose reader says what is wrong.
    """
    geometry = values.get("geometry")
    scheme = geometry.get("scheme") if isinstance(geometry, dict) else None
    read = _READERS.get(scheme) if isinstance(scheme, str) else None
    return read(values, where) if read else rotary_from_json(values, where)
