"""What a model's positional encoding is, as plain numbers: one frozen class per scheme, and their JSON form.

:data:`Geometry` is any of them; :func:`geometry_to_json` and :func:`geometry_from_json` choose by ``scheme``. The
readers of configurations are in :mod:`ropewalk.models`.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..errors import InputError
from ..strict_json import show
from . import alibi, learned, rotary, sinusoidal
from .alibi import AlibiGeometry
from .learned import LearnedGeometry
from .rotary import RotaryGeometry
from .sinusoidal import SinusoidalGeometry

__all__ = [
    "SCHEMES",
    "AlibiGeometry",
    "Geometry",
    "LearnedGeometry",
    "RotaryGeometry",
    "SinusoidalGeometry",
    "geometry_from_json",
    "geometry_to_json",
    "only_rotary",
    "scheme_of",
]

Geometry: TypeAlias = RotaryGeometry | AlibiGeometry | LearnedGeometry | SinusoidalGeometry

SCHEMES: tuple[str, ...] = ("rope", "alibi", "learned", "sinusoidal")


def scheme_of(geometry: Geometry) -> str:
    """The name of the scheme of ``geometry``: one of :data:`SCHEMES`."""
    match geometry:
        case RotaryGeometry():
            return "rope"
        case AlibiGeometry():
            return "alibi"
        case LearnedGeometry():
            return "learned"
        case SinusoidalGeometry():
            return "sinusoidal"


def only_rotary(geometry: Geometry) -> RotaryGeometry:
    """``geometry`` itself where it is a rotary one.

    Raises
    ------
    InputError
        If it is of another scheme.
    """
    if isinstance(geometry, RotaryGeometry):
        return geometry
    raise InputError(
        f"{geometry.model_type} has {DESCRIPTIONS[scheme_of(geometry)]}, and only the variants of rotary models have a "
        "place in a rotary engine"
    )


DESCRIPTIONS = {
    "rope": "rotary positions",
    "alibi": "attention with linear biases (ALiBi)",
    "learned": "learned positions",
    "sinusoidal": "sinusoidal positions",
}
"""What a model of each scheme has, for messages."""


def geometry_to_json(geometry: Geometry) -> dict[str, Any]:
    """``geometry`` as ``ropewalk geometry --json`` prints it: plain values in a fixed order, without notes."""
    match geometry:
        case RotaryGeometry():
            return rotary.geometry_to_json(geometry)
        case AlibiGeometry():
            return alibi.geometry_to_json(geometry)
        case LearnedGeometry():
            return learned.geometry_to_json(geometry)
        case SinusoidalGeometry():
            return sinusoidal.geometry_to_json(geometry)


def geometry_from_json(values: object, where: str = "geometry") -> Geometry:
    """The geometry that :func:`geometry_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, unknown, of another kind, out of range, or contradicts the rest.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: the geometry must be an object, not {show(values)}")
    match values.get("scheme"):
        case "rope":
            return rotary.geometry_from_json(values, where)
        case "alibi":
            return alibi.geometry_from_json(values, where)
        case "learned":
            return learned.geometry_from_json(values, where)
        case "sinusoidal":
            return sinusoidal.geometry_from_json(values, where)
    raise InputError(
        f"{where}: scheme must be {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}, not {show(values.get('scheme'))}"
    )
