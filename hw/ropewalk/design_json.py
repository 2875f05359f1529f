"""A design as JSON and back: what ``design.json`` holds.

``parameters`` and ``geometry`` define the design; ``digest`` proves that they are those that the folder was made from;
``derived`` states facts for readers (widths, rates, slots) and is not read back.
"""

from typing import Any, get_args

from . import __version__
from .design import MAX_AXES, AngleModel, Coefficients, Design, LaneMultipliers, Source
from .design_checks import MAX_HEADS, MAX_SLOTS
from .errors import InputError
from .family import FAMILIES
from .formats import Rounding
from .geometry.rotary import geometry_from_json, geometry_to_json
from .order import StreamPairing
from .strict_json import Keys
from .tables.digest import geometry_digest

FORMAT = "ropewalk design 1"
_KEYS = ("format", "ropewalk", "parameters", "geometry", "digest", "derived")
_INTEGERS = {
    "lanes": 32,
    "data_width": 32,
    "coefficient_width": 24,
    "phase_bits": 48,
    "clocks_per_pair": 8,
    "slots": MAX_SLOTS,
}
_CHOICES = {
    "source": get_args(Source),
    "lane_multipliers": get_args(LaneMultipliers),
    "rounding": get_args(Rounding),
    "coefficients": get_args(Coefficients),
    "angle_model": get_args(AngleModel),
    "input_pairing": get_args(StreamPairing),
    "output_pairing": get_args(StreamPairing),
}
_OTHERS = ("positions", "position_axes", "value_heads", "family", "registers")


def design_to_json(design: Design, derived: dict[str, Any]) -> dict[str, Any]:
    """Everything that defines ``design``, and ``derived`` beside it."""
    return {
        "format": FORMAT,
        "ropewalk": __version__,
        "parameters": {name: getattr(design, name) for name in (*_INTEGERS, *_CHOICES, *_OTHERS)},
        "geometry": geometry_to_json(design.geometry, recipes=True),
        "digest": geometry_digest(design),
        "derived": derived,
    }


def design_from_json(values: dict[str, Any], where: str) -> Design:
    """The design that :func:`design_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything that defines the design is missing, unknown or out of range, or is not what the digest says.
    """
    top = _checked(Keys(values, where), _KEYS)
    if values.get("format") != FORMAT:
        raise top.error("format", f'"{FORMAT}"')
    inside = top.object("parameters")
    if inside is None:
        raise top.error("parameters", "an object")
    parameters = _checked(inside, (*_INTEGERS, *_CHOICES, *_OTHERS))
    choices: dict[str, Any] = {name: parameters.required_text(name) for name in _CHOICES}
    for name, known in _CHOICES.items():
        if choices[name] not in known:
            raise parameters.error(name, " or ".join(known))
    geometry = geometry_from_json(values.get("geometry"), f"{where}: geometry")
    integers = {name: parameters.required_integer(name, 1, high) for name, high in _INTEGERS.items()}
    integers["value_heads"] = parameters.required_integer("value_heads", 0, MAX_HEADS)
    positions, family = parameters.integer("positions", 1, 1 << 24), parameters.required_choice("family", FAMILIES)
    position_axes = parameters.integer("position_axes", 1, MAX_AXES)
    registers = parameters.flag("registers")
    if registers is None:
        raise parameters.error("registers", "true or false")
    try:
        design = Design(
            geometry=geometry,
            positions=positions,
            position_axes=position_axes,
            family=family,
            registers=registers,
            **integers,
            **choices,
        )
        digest = geometry_digest(design)
    except InputError as refusal:  # what does not fit together; it does not know of the file
        raise top.refuse(str(refusal)) from None
    if values.get("digest") != digest:
        raise top.error("digest", f"the digest of the geometry beside it, {digest}")
    return design


def _checked(keys: Keys, known: tuple[str, ...]) -> Keys:
    for key in keys:
        if key not in known:
            raise keys.error(key, "absent: it is not a key of a design")
    return keys
