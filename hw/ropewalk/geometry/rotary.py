"""What a rotary model's configuration means: which elements pair, at which frequency, with which amplitude.

Plain numbers and their JSON form. The formulas that fill these in are in :mod:`ropewalk.geometry.frequencies`; the
readers of configurations are in :mod:`ropewalk.models`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import InputError
from ..strict_json import Keys, show
from .recipe import Recipe, recipe_from_json, recipe_to_json
from .shape import PAIRINGS, SHAPE_KEYS, Pairing, Shape

MAX_HEAD_DIM = 1 << 16
MAX_HEADS = 1 << 12
MAX_LAYERS = 1 << 12
MAX_VARIANTS = 64
MAX_POSITIONS = 1 << 40
MAX_FREQUENCY = float(1 << 20)
"""Radians per position. Published models stay at or below 1."""
MAX_AMPLITUDE = 1024.0
"""What a geometry may say; an engine takes no more than 2 - 2**-17."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One set of frequencies: what one slot of the engine holds.

    ``inverse_frequency`` has one double per pair, in radians per position; the doubles are correctly rounded
    from multiple precision and are the exact truth from which every integer follows.
    ``max_position`` is exclusive: the number of positions. ``axis`` says which axis of the position each pair follows
    (0, 1 or 2), and is ``None`` where positions have one axis.
    ``recipe`` is what software makes the frequencies from, ``None`` where that is not known: no software's own angles
    can be followed then. It says where the numbers come from, and does not tell variants apart.
    The other fields are this variant's own where they differ from the geometry's, else ``None``
    (:meth:`RotaryGeometry.of` fills them in).
    """

    name: str
    inverse_frequency: tuple[float, ...]
    amplitude: float
    max_position: int
    axis: tuple[int, ...] | None = None
    recipe: Recipe | None = field(default=None, compare=False)
    head_dim: int | None = None
    rotary_dim: int | None = None
    rotary_start: int | None = None
    query_heads: int | None = None
    key_heads: int | None = None
    pairing: Pairing | None = None
    output_pairing: Pairing | None = None


@dataclass(frozen=True, kw_only=True)
class RotaryGeometry:
    """The rotary part of a model. Field names are those of ``ropewalk geometry --json``.

    The shape at the top is that of slot 0; a variant of another shape says what differs.
    """

    model_type: str
    head_dim: int
    rotary_dim: int
    rotary_start: int
    query_heads: int
    key_heads: int
    pairing: Pairing
    output_pairing: Pairing
    layers: tuple[str | None, ...] | None
    variants: tuple[Variant, ...]
    attention_scale: float | str | None = None
    notes: tuple[str, ...] = ()

    def of(self, slot: int) -> Shape:
        """The shape of the variant in ``slot``: its own where it has one, else the geometry's."""
        return Shape(**{key: _own(self.variants[slot], key, getattr(self, key)) for key in SHAPE_KEYS})

    def with_shapes(self, shapes: "tuple[Shape, ...]") -> "RotaryGeometry":
        """This geometry with one shape per variant: slot 0's at the top, what differs from it in the variants."""
        top = shapes[0]
        variants = tuple(
            replace(
                variant,
                **{
                    key: getattr(shape, key) if getattr(shape, key) != getattr(top, key) else None for key in SHAPE_KEYS
                },
            )
            for variant, shape in zip(self.variants, shapes, strict=True)
        )
        return replace(self, **{key: getattr(top, key) for key in SHAPE_KEYS}, variants=variants)

    def only(self, name: str) -> "RotaryGeometry":
        """The geometry of the layers that the variant ``name`` rotates: that variant alone, in slot 0.

        Layers of other variants are null in its ``layers``. Of a variant that no layer names (longrope's other list)
        the layers are unknown.

        Raises
        ------
        InputError
            If there is no such variant.
        """
        for slot, variant in enumerate(self.variants):
            if variant.name == name:
                layers = None
                if self.layers is not None and name in self.layers:
                    layers = tuple(layer if layer == name else None for layer in self.layers)
                return replace(self, variants=(variant,), layers=layers).with_shapes((self.of(slot),))
        names = ", ".join(variant.name for variant in self.variants)
        raise InputError(f"the model has no variant {show(name)}; its variants are {names}")


def _own(variant: Variant, key: str, otherwise: Any) -> Any:
    value = getattr(variant, key)
    return otherwise if value is None else value


def geometry_to_json(geometry: RotaryGeometry, *, recipes: bool = False) -> dict[str, Any]:
    """``geometry`` as ``ropewalk geometry --json`` prints it: plain values in a fixed order, without notes.

    With ``recipes``, as ``design.json`` holds it: also the recipes of the variants that have one.
    """
    return {
        "scheme": "rope",
        "model_type": geometry.model_type,
        "head_dim": geometry.head_dim,
        "rotary_dim": geometry.rotary_dim,
        "rotary_start": geometry.rotary_start,
        "query_heads": geometry.query_heads,
        "key_heads": geometry.key_heads,
        "pairing": geometry.pairing,
        "output_pairing": geometry.output_pairing,
        "layers": None if geometry.layers is None else list(geometry.layers),
        "variants": [
            {
                "name": variant.name,
                "slot": slot,
                "inverse_frequency": list(variant.inverse_frequency),
                "amplitude": variant.amplitude,
                "max_position": variant.max_position,
                "axis": None if variant.axis is None else list(variant.axis),
            }
            | {key: getattr(variant, key) for key in SHAPE_KEYS if getattr(variant, key) is not None}
            | ({"recipe": recipe_to_json(variant.recipe)} if recipes and variant.recipe is not None else {})
            for slot, variant in enumerate(geometry.variants)
        ],
        "attention_scale": geometry.attention_scale,
    }


_GEOMETRY_KEYS = frozenset(["scheme", "model_type", *SHAPE_KEYS, "layers", "variants", "attention_scale"])
_VARIANT_KEYS = frozenset(
    ["name", "slot", "inverse_frequency", "amplitude", "max_position", "axis", "recipe", *SHAPE_KEYS]
)


def geometry_from_json(values: object, where: str = "geometry") -> RotaryGeometry:
    """The geometry that :func:`geometry_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, unknown, of another kind, out of range, or contradicts the rest.
    """
    keys = _object(values, where, "", _GEOMETRY_KEYS)
    if keys.values.get("scheme") != "rope":
        raise keys.error("scheme", '"rope"')
    shape = _shape(keys, None)
    listed = keys.items("variants", MAX_VARIANTS)
    if not listed:
        raise keys.error("variants", f"a list of 1 to {MAX_VARIANTS}")
    variants = tuple(_variant(item, where, slot, shape) for slot, item in enumerate(listed))
    names = [variant.name for variant in variants]
    if len(set(names)) < len(names):
        raise InputError(f"{where}: two variants have the same name")
    layers = keys.items("layers", MAX_LAYERS)
    for layer in layers or ():
        if layer is not None and layer not in names:
            raise InputError(f"{where}: layers names {show(layer)}, which is not a variant")
    scale = keys.values.get("attention_scale")
    if isinstance(scale, str):
        if len(scale) > 400 or not scale.isprintable():
            raise keys.error("attention_scale", "at most 400 printable characters")
    else:
        scale = keys.number("attention_scale", 0.0, 1e9)
    return RotaryGeometry(
        model_type=keys.required_text("model_type"),
        **vars(shape),
        layers=None if layers is None else tuple(layers),
        variants=variants,
        attention_scale=scale,
    )


def _object(values: object, where: str, prefix: str, known: frozenset[str]) -> Keys:
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: {prefix.rstrip('.') or 'the geometry'} must be an object, not {show(values)}")
    for key in values:
        if key not in known:
            raise InputError(f"{where}: {prefix}{show(key)} is not a key of a geometry")
    return Keys(values, where, prefix)


def _shape(keys: Keys, top: Shape | None) -> Shape:
    """The shape in ``keys``; what is absent is that of ``top``, or is missing where there is none."""

    def integer(key: str, low: int, high: int) -> int:
        if top is not None and key not in keys:
            return getattr(top, key)
        return keys.required_integer(key, low, high)

    def pairing(key: str) -> Pairing:
        if top is not None and key not in keys:
            return getattr(top, key)
        return _pairing(keys, key)

    head_dim = integer("head_dim", 2, MAX_HEAD_DIM)
    rotary_dim = integer("rotary_dim", 2, head_dim)
    rotary_start = integer("rotary_start", 0, head_dim - rotary_dim)
    shape = Shape(
        head_dim=head_dim,
        rotary_dim=rotary_dim,
        rotary_start=rotary_start,
        query_heads=integer("query_heads", 1, MAX_HEADS),
        key_heads=integer("key_heads", 1, MAX_HEADS),
        pairing=pairing("pairing"),
        output_pairing=pairing("output_pairing"),
    )
    for key in ("head_dim", "rotary_dim", "rotary_start"):
        if getattr(shape, key) % 2:
            raise keys.error(key, "even")
    if rotary_start + rotary_dim > head_dim:
        raise keys.refuse(f"{keys.name('rotary_dim')} {rotary_dim} does not fit head_dim {head_dim}")
    if shape.query_heads % shape.key_heads:
        raise keys.refuse(
            f"{keys.name('key_heads')} {shape.key_heads} does not divide the {shape.query_heads} query heads"
        )
    return shape


def _pairing(keys: Keys, key: str) -> Pairing:
    for pairing in PAIRINGS:
        if keys.values.get(key) == pairing:
            return pairing
    raise keys.error(key, "half or interleaved")


def _variant(values: object, where: str, slot: int, top: Shape) -> Variant:
    keys = _object(values, where, f"variants[{slot}].", _VARIANT_KEYS)
    shape = _shape(keys, top)
    pairs = shape.rotary_dim // 2
    keys.required_integer("slot", slot, slot)
    frequencies = keys.items("inverse_frequency", pairs)
    if frequencies is None or len(frequencies) != pairs:
        raise keys.error("inverse_frequency", f"a list of {pairs} numbers (rotary_dim / 2)")
    axis = keys.items("axis", pairs)
    if axis is not None:
        if len(axis) != pairs:
            raise keys.error("axis", f"null or a list of {pairs} axes (rotary_dim / 2)")
        for item in axis:
            if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item <= 2:
                raise InputError(f"{where}: {keys.name('axis')} must hold 0, 1 and 2 only, not {show(item)}")
    amplitude = keys.required_number("amplitude", 0.0, MAX_AMPLITUDE)
    if amplitude == 0:
        raise keys.error("amplitude", "above 0")
    return Variant(
        name=keys.required_text("name"),
        inverse_frequency=tuple(_frequency(item, keys, pair) for pair, item in enumerate(frequencies)),
        amplitude=amplitude,
        max_position=keys.required_integer("max_position", 1, MAX_POSITIONS),
        axis=None if axis is None else tuple(axis),
        recipe=recipe_from_json(keys.get("recipe"), where, keys.name("recipe."), pairs) if "recipe" in keys else None,
        **{key: getattr(shape, key) for key in SHAPE_KEYS if key in keys},
    )


def _frequency(value: object, keys: Keys, pair: int) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MAX_FREQUENCY:
        name = keys.name("inverse_frequency")
        raise InputError(
            f"{keys.where}: {name}[{pair}] must be a number from 0 to {MAX_FREQUENCY:g} (radians per position), "
            f"not {show(value)}"
        )
    return float(value)
