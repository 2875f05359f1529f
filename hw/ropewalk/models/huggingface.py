"""A Hugging Face ``config.json`` as a rotary geometry.

Older files have ``rope_theta`` and ``rope_scaling``, newer ones ``rope_parameters``, flat or one object per layer type;
multimodal ones keep the language model in ``text_config``. ``docs/geometry.md`` has the rules.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ..geometry.rotary import MAX_POSITIONS, RotaryGeometry, Variant
from ..geometry.shape import PAIRINGS, Pairing, Shape
from ..strict_json import Keys
from .families import FAMILIES, REFUSED
from .family import Family
from .known_keys import check_keys, check_outer_keys, ignored_keys, says_rotary
from .layers import FULL, layer_kinds, layer_variants
from .multi_axis import pair_axes
from .own_keys import general_keys
from .rope_objects import RopeObject, rope_objects
from .scaling import OTHER_NAMES, Follow, Request, Scaled, make_variants
from .sizes import Sizes, read_sizes, rotary_fraction, rotary_width
from .text_parts import TEXT_DEFAULTS, TEXT_PARTS

BY_LENGTH = frozenset(["dynamic", "longrope"])
"""Rope types that depend on the sequence length."""


def geometry_from_config(
    config: Mapping[str, Any],
    where: str,
    *,
    sequence_length: int | None = None,
    pairing: Pairing | None = None,
    follow: Follow = "hf",
    note: Callable[[str], None],
    ignored: Callable[[str], None],
) -> RotaryGeometry:
    """The geometry of the model that ``config`` describes; ``where`` begins every error.

    ``note`` takes sentences that the user should see, ``ignored`` the name of each key that was not looked at. The
    other parameters are those of :func:`ropewalk.models.read_model`.

    Raises
    ------
    InputError
        If the configuration is not of a rotary model that this version imports, or anything in it is wrong.
    """
    keys, model_type = _language_model(Keys(config, where), note)
    family = _family(keys, model_type, pairing, note)
    check_keys(keys, model_type, known=model_type in FAMILIES)
    keys = general_keys(keys, family, model_type, note)
    max_position = _max_position(keys, family)
    original = keys.integer("original_max_position_embeddings", 1, MAX_POSITIONS)
    objects, absent = rope_objects(keys, family, note)
    rope_types = [_rope_type(rope.keys, model_type, note) for rope in objects]
    inward, outward = _pairings(keys, family, pairing)
    variants: list[Variant] = []
    shapes: list[Shape] = []
    in_force: dict[str, str] = {}
    scales: list[float | str] = []
    for rope, rope_type in zip(objects, rope_types, strict=True):
        sizes = read_sizes(keys, family, model_type, full=rope.name == FULL)
        whole = rope_type == "proportional"
        width = sizes.head_dim if whole else rotary_width(keys, rope.keys, family, sizes)
        rotary_dim = width + width % 2
        axes = pair_axes(rope.keys, rope.keys.values.get("type"), family, rotary_dim // 2, note)
        request = Request(
            base=rope.base,
            width=width,
            max_position=max_position,
            original=None if rope.nested else original,
            latent=family.latent,
            nested=rope.nested,
            follow=follow,
            note=note,
            sequence_length=sequence_length,
            model_type=model_type,
            fraction=_share(rotary_fraction(keys, rope.keys), family.rotary_fraction),
        )
        shape = Shape(
            **asdict(sizes),
            rotary_dim=rotary_dim,
            rotary_start=sizes.head_dim - rotary_dim if family.rotated_last else 0,
            pairing=inward,
            output_pairing=outward,
        )
        for scaled in make_variants(rope.keys, OTHER_NAMES.get(rope_type, rope_type), request):
            variant = _variant(rope, scaled, axes)
            variants.append(variant)
            shapes.append(shape)
            if scaled.in_force:
                in_force[rope.name] = variant.name
            scales.extend(_scales(keys, rope.keys, family, model_type, sizes, scaled, max_position))
    if sequence_length is not None and not BY_LENGTH.intersection(rope_types):
        note("the sequence length changes nothing: only dynamic NTK scaling and longrope depend on it")
    if follow == "llama.cpp" and pairing is None:
        note("pairing is that of the Hugging Face weights; llama.cpp permutes q and k of some families (see --pairing)")
    layers = layer_variants(keys, family, layer_kinds(keys, family, note), in_force, absent)
    for key in ignored_keys(keys):
        ignored(keys.name(key))
    return RotaryGeometry(
        model_type=model_type,
        **asdict(shapes[0]),
        layers=layers,
        variants=tuple(variants),
        attention_scale=_joined(scales),
    ).with_shapes(tuple(shapes))


def _share(given: float | None, otherwise: float) -> float:
    return otherwise if given is None else given


def _language_model(outer: Keys, note: Callable[[str], None]) -> tuple[Keys, str]:
    """The keys of the language model, and its ``model_type``."""
    model_type = outer.text("model_type")
    inner = outer.object("text_config")
    if inner is None:
        if model_type is None:
            raise outer.error("model_type", 'the name of the model\'s family, such as "llama"')
        if model_type in TEXT_PARTS and model_type not in FAMILIES:
            raise outer.refuse(f"a {model_type} configuration needs a text_config")
        return outer, model_type
    check_outer_keys(outer, inner)
    inner_type = inner.text("model_type") or TEXT_PARTS.get(model_type or "")
    if inner_type is None:
        raise inner.error("model_type", 'the name of the model\'s family, such as "llama"')
    defaults = {key: value for key, value in TEXT_DEFAULTS.get(inner_type, {}).items() if key not in inner}
    if defaults:
        note(f"text_config leaves out {', '.join(defaults)}: the class defaults of {inner_type} are used")
        inner = Keys(defaults | inner.values, where=inner.where, prefix=inner.prefix)
    return inner, inner_type


def _family(keys: Keys, model_type: str, pairing: Pairing | None, note: Callable[[str], None]) -> Family:
    """The family's row, or that of an unknown rotary model."""
    if model_type in REFUSED:
        raise keys.refuse(f"model_type {model_type!r} {REFUSED[model_type]}")
    family = FAMILIES.get(model_type)
    if family is not None:
        return family
    if not says_rotary(keys):
        raise keys.refuse(f"model_type {model_type!r} is unknown and none of its keys says that it is a rotary model")
    if pairing is None:
        note(f"model_type {model_type!r} is unknown: half pairing is assumed (--pairing interleaved overrides)")
    return Family(latent="qk_rope_head_dim" in keys)


def _max_position(keys: Keys, family: Family) -> int:
    given = keys.integer("max_position_embeddings", 1, MAX_POSITIONS) or keys.integer("n_positions", 1, MAX_POSITIONS)
    if given is None:
        given = family.max_position
    if given is None:
        raise keys.error("max_position_embeddings", "the number of positions")
    return given


def _rope_type(parameters: Keys, model_type: str, note: Callable[[str], None]) -> str:
    """``rope_type``, or ``type`` as older files have it, or default."""
    newer, older = parameters.text("rope_type"), parameters.text("type")
    if newer is not None and older is not None and newer != older:
        note(f"{parameters.name('rope_type')} {newer!r} is used, not type {older!r}")
    rope_type = newer or older or "default"
    if model_type in ("phi3", "phimoe") and rope_type in ("su", "yarn"):
        return "longrope"  # what these names mean in that family's older files
    return "longrope" if rope_type == "su" else rope_type


def _variant(rope: RopeObject, scaled: Scaled, axes: tuple[int, ...] | None) -> Variant:
    name = rope.name
    if scaled.name is not None:
        name = f"{rope.name}.{scaled.name}" if rope.nested else scaled.name
    return Variant(
        name=name,
        axis=axes,
        inverse_frequency=scaled.inverse_frequency,
        amplitude=scaled.amplitude,
        max_position=scaled.max_position,
        recipe=scaled.recipe,
    )


def _pairings(keys: Keys, family: Family, override: Pairing | None) -> tuple[Pairing, Pairing]:
    """Which elements pair in the model's own order, and the order that they come out in."""
    if override is not None:
        return override, override
    if keys.flag("rope_interleave") is False:
        return PAIRINGS[0], PAIRINGS[0]
    return family.pairing, family.output_pairing or family.pairing


def _scales(
    keys: Keys, parameters: Keys, family: Family, model_type: str, sizes: Sizes, scaled: Scaled, max_position: int
) -> list[float | str]:
    """What the model multiplies scores or queries with, beside 1 / sqrt(head size)."""
    found: list[float | str] = []
    if scaled.score_scale is not None:
        found.append(scaled.score_scale)
    beta = parameters.number("llama_4_scaling_beta", 0.0, 1e6)
    if beta:
        original = parameters.integer("original_max_position_embeddings", 1, MAX_POSITIONS) or max_position
        found.append(f"queries x (1 + {beta:g} ln(1 + floor(position / {original})))")
    if model_type == "llama4_text" and keys.flag("attn_temperature_tuning") is not False:
        scale = keys.number("attn_scale", 0.0, 1e6)
        scale = 0.1 if scale is None else scale
        floor = keys.number("floor_scale", 1.0, float(MAX_POSITIONS)) or 8192.0
        found.append(f"queries of layers without rotation x (1 + {scale:g} ln(1 + floor((position + 1) / {floor:g})))")
    square = keys.number("query_pre_attn_scalar", 2.0**-20, 2.0**40) if family.query_scale else None
    if square and square != sizes.head_dim:
        found.append(math.sqrt(sizes.head_dim / square))
    return found


def _joined(scales: list[float | str]) -> float | str | None:
    """One value where there is one, else a description; the variants of a model say the same."""
    distinct = list(dict.fromkeys(scales))
    if len(distinct) <= 1:
        return distinct[0] if distinct else None
    return "; ".join(scale if isinstance(scale, str) else f"scores x {scale!r}" for scale in distinct)
