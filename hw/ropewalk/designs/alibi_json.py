"""An ALiBi unit's design as JSON and back: what ``design.json`` holds, keyed as the rotary engine's is."""

from typing import Any

from .. import __version__
from ..errors import InputError
from ..family import FAMILIES
from ..geometry.alibi import geometry_from_json, geometry_to_json
from ..strict_json import Keys
from ..tables.digest import model_digest
from ..tables.slopes import slope_crc
from .alibi import LANES, MOST_FRACTION_BITS, MOST_HEADS, AlibiDesign

FORMAT = "ropewalk design 1"
_KEYS = ("format", "ropewalk", "parameters", "geometry", "digest", "derived")
_INTEGERS = {"lanes": (1, LANES[-1]), "data_width": (8, 32), "fraction_bits": (0, MOST_FRACTION_BITS),
             "capacity": (2, MOST_HEADS)}  # fmt: skip
_OTHERS = ("family", "registers")


def derived_facts(design: AlibiDesign, *, latency: int) -> dict[str, Any]:
    """What a reader of ``design.json`` wants to know and every program can compute from the rest."""
    return {
        "latency": latency,
        "beats_per_clock": 1,
        "elements_per_beat": design.lanes,
        "container_bits": design.container_bits,
        "score_lsb": 2.0**-design.fraction_bits,
        "slope_bits": design.slope_bits,
        "memory_bits": design.memory_bits,
        "slope_crc": f"{slope_crc(design.slope_words):08x}" if design.registers else None,
    }


def alibi_design_to_json(design: AlibiDesign, derived: dict[str, Any]) -> dict[str, Any]:
    """Everything that defines ``design``, and ``derived`` beside it."""
    return {
        "format": FORMAT,
        "ropewalk": __version__,
        "parameters": {name: getattr(design, name) for name in (*_INTEGERS, *_OTHERS)},
        "geometry": geometry_to_json(design.geometry),
        "digest": model_digest(design.geometry),
        "derived": derived,
    }


def alibi_design_from_json(values: dict[str, Any], where: str) -> AlibiDesign:
    """The design that :func:`alibi_design_to_json` made ``values`` from; ``where`` begins every error.

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
    parameters = _checked(inside, (*_INTEGERS, *_OTHERS))
    integers = {name: parameters.required_integer(name, *limits) for name, limits in _INTEGERS.items()}
    geometry = geometry_from_json(values.get("geometry"), f"{where}: geometry")
    family = parameters.required_choice("family", FAMILIES)
    registers = parameters.flag("registers")
    if registers is None:
        raise parameters.error("registers", "true or false")
    try:
        design = AlibiDesign(geometry=geometry, family=family, registers=registers, **integers)
    except InputError as refusal:  # what does not fit together; it does not know of the file
        raise top.refuse(str(refusal)) from None
    digest = model_digest(geometry)
    if values.get("digest") != digest:
        raise top.error("digest", f"the digest of the geometry beside it, {digest}")
    return design


def _checked(keys: Keys, known: tuple[str, ...]) -> Keys:
    for key in keys:
        if key not in known:
            raise keys.error(key, "absent: it is not a key of an ALiBi design")
    return keys
