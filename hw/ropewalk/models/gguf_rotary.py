"""The rotary part of a GGUF file: kinds of layers, their shapes and bases, divisors, axes."""

import math
from dataclasses import dataclass
from typing import Any

from ..geometry.precise import nearest, precise
from ..geometry.rotary import MAX_HEAD_DIM, MAX_POSITIONS, RotaryGeometry, Variant
from ..geometry.shape import Pairing, Shape
from ..strict_json import Keys
from .gguf_axes import pair_axes, read_sections, still_pairs
from .gguf_layers import Layers, head_size, read_layers
from .gguf_model import Model
from .gguf_scaling import file_recipe, read_scaling, scaled_frequencies
from .gguf_tensors import read_divisors
from .gguf_yarn import Scaling, check_yarn_range
from .layers import FULL, SLIDING
from .rope_objects import HIGH_BASE, LOW_BASE

BASE = 10_000.0
"""llama.cpp's base where ``rope.freq_base`` is absent."""


@dataclass(frozen=True)
class _Kind:
    """The rotation of one kind of layers."""

    name: str
    shape: Shape
    base: float
    scaled: bool


def rotary_geometry(model: Model, override: Pairing | None) -> RotaryGeometry:
    """The geometry of a rotary model; ``override`` replaces its pairing.

    Raises
    ------
    InputError
        If a key or tensor is missing, out of range, contradicts another, or belongs to another architecture.
    """
    keys, architecture = model.keys, model.architecture
    if architecture.switch and keys.flag("rope.scaling.finetuned") is False:
        raise keys.refuse(f"{keys.name('rope.scaling.finetuned')} is false, which turns rotation off in {model.name}")
    keys.flag("rope.scaling.finetuned")
    layers = read_layers(keys, architecture)
    kinds = _kinds(model, layers, override)
    width = kinds[0].shape.rotary_dim
    long = read_divisors(model.header, "rope_factors_long.weight", width // 2)
    short = read_divisors(model.header, "rope_factors_short.weight", width // 2)
    if (long is None) != (short is None):
        raise keys.refuse("of rope_factors_long.weight and rope_factors_short.weight only one is there")
    divisors = _divisors(model, kinds)
    lists = (short, long) if short and long and divisors is None else None
    scaling = read_scaling(keys, model.name, architecture, model.follow, lists is not None, model.note)
    if lists and len(kinds) > 1:
        raise keys.refuse("longrope's two lists together with two kinds of layers are not understood")
    variants = _longrope(kinds[0], scaling, lists) if lists else _variants(model, kinds, scaling, divisors)
    names = {kind.name for kind in kinds}
    single = _list_in_force(model, scaling) if lists else "default"
    if model.sequence_length is not None and not lists:
        model.note("the sequence length changes nothing: only longrope's choice of a list depends on it")
    top = kinds[0].shape
    geometry = RotaryGeometry(
        model_type=model.name,
        head_dim=top.head_dim,
        rotary_dim=top.rotary_dim,
        rotary_start=0,
        query_heads=top.query_heads,
        key_heads=top.key_heads,
        pairing=top.pairing,
        output_pairing=top.output_pairing,
        layers=tuple(kind and (kind if kind in names else single) for kind in layers.kinds),
        variants=tuple(variants),
        attention_scale=_score_scale(model, layers, top, scaling),
    )
    return geometry if lists else geometry.with_shapes(tuple(kind.shape for kind in kinds))


def _kinds(model: Model, layers: Layers, override: Pairing | None) -> list[_Kind]:
    """The kinds of layers that are rotated differently, global ones first; one named ``default`` where all agree."""
    keys, architecture = model.keys, model.architecture
    axes = read_sections(model) is not None
    pairing = override or ("half" if axes else architecture.pairing)
    base = keys.number("rope.freq_base", LOW_BASE, HIGH_BASE)
    base = _stretched(model, BASE if base is None else base, layers)
    found = []
    for name in (FULL, SLIDING):
        if name in layers.kinds:
            shape = _shape(model, layers, name, pairing)
            scaled = name == FULL or architecture.window is None or architecture.window.scaled
            found.append(_Kind(name, shape, base if name == FULL else _windowed_base(model, base), scaled))
        elif name == SLIDING:
            _unused_window_keys(model, base)
    first = found[0]
    if len(found) > 1:
        same = found[0].shape == found[1].shape and found[0].base == found[1].base
        if architecture.two_bases or not same or (found[0].scaled != found[1].scaled and _asks_for_scaling(model.keys)):
            return found
    return [_Kind("default", first.shape, first.base, first.scaled)]


def _asks_for_scaling(keys: Keys) -> bool:
    """Whether any key asks for scaling, so that unscaled layers differ."""
    return any(key in keys for key in ("rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor"))


def _shape(model: Model, layers: Layers, name: str, pairing: Pairing) -> Shape:
    keys, architecture = model.keys, model.architecture
    heads, key_heads = layers.most(name)
    if layers.uneven(name):
        model.note(f"head counts differ between layers; the largest are taken, {heads} and {key_heads}")
    if architecture.latent:
        width = keys.required_integer("rope.dimension_count", 2, MAX_HEAD_DIM)
        size, key_heads = width, 1
    else:
        size = head_size(keys, layers.heads)
        width = keys.integer("rope.dimension_count", 2, MAX_HEAD_DIM) or size
    if architecture.halved and name == FULL:
        width //= 2
    if name == SLIDING:
        size = keys.integer("attention.key_length_swa", 2, MAX_HEAD_DIM) or size
        width = keys.integer("rope.dimension_count_swa", 2, MAX_HEAD_DIM) or width
    if width % 2 or size % 2 or not 2 <= width <= size:
        raise keys.refuse(
            f"{keys.name('rope.dimension_count')} {width} must be even and at most the head size {size}, also even"
        )
    if architecture.whole_head and width != size:
        raise keys.refuse(
            f"{keys.name('rope.dimension_count')} {width} must be the head size {size}: llama.cpp refuses anything "
            f"else in {model.name}"
        )
    return Shape(
        head_dim=size,
        rotary_dim=width,
        rotary_start=0,
        query_heads=heads,
        key_heads=key_heads,
        pairing=pairing,
        output_pairing=pairing,
    )


def _stretched(model: Model, base: float, layers: Layers) -> float:
    """The base after ``rope.scaling.alpha``, which one architecture has (static NTK)."""
    alpha = model.keys.number("rope.scaling.alpha", 0.0, 1e9)
    if not alpha:
        return base
    if model.name != "hunyuan_vl":
        raise model.keys.refuse(f"the key {model.keys.name('rope.scaling.alpha')} is not one of {model.name}")
    size = head_size(model.keys, layers.heads)
    if size <= 2:
        raise model.keys.error("attention.key_length", "above 2, as there is a rope.scaling.alpha")
    stretched = nearest(precise.mpf(base) * precise.power(precise.mpf(alpha), precise.mpf(size) / (size - 2)))
    if not LOW_BASE <= stretched <= HIGH_BASE:
        raise model.keys.refuse(f"rope.freq_base x alpha ** (d / (d - 2)) must be from 1 to {HIGH_BASE:g}")
    return stretched


def _windowed_base(model: Model, base: float) -> float:
    own = model.keys.number("rope.freq_base_swa", LOW_BASE, HIGH_BASE)
    if own is not None:
        return own
    window = model.architecture.window
    if window is None or window.base is None:
        return base
    model.note(
        f"{model.keys.name('rope.freq_base_swa')} is absent: {window.base:g}, as llama.cpp takes it in {model.name}"
    )
    return window.base


def _unused_window_keys(model: Model, base: float) -> None:
    """Keys of windowed layers in a model without any that rotate: harmless where they say what holds anyway."""
    keys = model.keys
    own = keys.number("rope.freq_base_swa", LOW_BASE, HIGH_BASE)
    if own is None or own == base:
        return
    name = keys.name("rope.freq_base_swa")
    if model.architecture.window is None and model.follow != "llama.cpp":
        raise keys.refuse(f"{name} is given, but {model.name} is not known to have layers with a window")
    model.note(f"{name} {own:g} is ignored: no layer that is rotated has a window")


def _divisors(model: Model, kinds: list[_Kind]) -> tuple[float, ...] | None:
    """``rope_freqs.weight``, as long as the first kind's pairs."""
    found = read_divisors(model.header, "rope_freqs.weight", kinds[0].shape.rotary_dim // 2)
    widths = {kind.shape.rotary_dim for kind in kinds}
    if found is not None and len(widths) > 1 and not model.architecture.divisors_on_full:
        raise model.keys.refuse("rope_freqs.weight is for one width, and the layers rotate two")
    return found


def _variants(model: Model, kinds: list[_Kind], scaling: Scaling, divisors: tuple[float, ...] | None) -> list[Variant]:
    found = []
    axes = read_sections(model)
    for kind in kinds:
        own = None if kind.name == SLIDING and model.architecture.divisors_on_full else divisors
        if kind.scaled:
            check_yarn_range(model.keys, kind.base, kind.shape.rotary_dim, scaling, model.note)
        frequencies = scaled_frequencies(kind.base, kind.shape.rotary_dim, scaling if kind.scaled else None, own)
        still = still_pairs(model, axes, kind.shape.rotary_dim // 2)
        found.append(
            Variant(
                name=kind.name,
                inverse_frequency=tuple(0.0 if pair in still else value for pair, value in enumerate(frequencies)),
                amplitude=scaling.amplitude if kind.scaled else 1.0,
                max_position=scaling.max_position if kind.scaled else scaling.context,
                axis=None if axes is None else pair_axes(model, axes, kind.shape.rotary_dim // 2),
                recipe=None
                if still
                else file_recipe(kind.base, kind.shape.rotary_dim, scaling if kind.scaled else None, own),
            )
        )
    return found


def _longrope(kind: _Kind, scaling: Scaling, lists: tuple[tuple[float, ...], tuple[float, ...]]) -> list[Variant]:
    return [
        Variant(
            name=name,
            inverse_frequency=scaled_frequencies(kind.base, kind.shape.rotary_dim, scaling, divisors),
            amplitude=scaling.amplitude,
            max_position=limit,
            recipe=file_recipe(kind.base, kind.shape.rotary_dim, scaling, divisors),
        )
        for name, divisors, limit in (
            ("short", lists[0], scaling.original),
            ("long", lists[1], scaling.context),
        )
    ]


def _list_in_force(model: Model, scaling: Scaling) -> str:
    """Which of longrope's lists the layers use at the length that was asked for."""
    original, length = scaling.original, model.sequence_length
    if model.follow == "hf":
        model.note(
            f"longrope: Hugging Face uses the long list for all tokens of a call whose highest position is "
            f"{original} or more, else the short one; llama.cpp chooses one for good (--follow llama.cpp)"
        )
        return "long" if length is not None and length > original else "short"
    length = length or scaling.context
    chosen = "long" if length > original else "short"
    model.note(
        f"longrope: {model.follow} chooses one list for good by the length it is started with ({length} against "
        f"{original}: {chosen})"
    )
    return chosen


def _score_scale(model: Model, layers: Layers, shape: Shape, scaling: Scaling) -> float | str | None:
    """What the model multiplies scores or queries with, beside 1 / sqrt(head size)."""
    keys = model.keys
    if scaling.score_scale is not None:
        return scaling.score_scale
    beta = keys.number("attention.temperature_scale", 0.0, 1e6)
    if beta and model.name in ("mistral3", "mistral4", "deepseek2"):
        length = keys.integer("attention.temperature_length", 1, MAX_POSITIONS) or scaling.original
        return f"queries x (1 + {beta:g} ln(1 + floor(position / {length})))"
    if model.architecture.unrotated == "fourth" and layers.windowed:
        return "queries of layers without rotation x (1 + 0.1 ln(1 + floor((position + 1) / 8192)))"
    own = keys.number("attention.scale", 0.0, 1e6)
    if own:
        scale = own * math.sqrt(shape.head_dim)
        return None if abs(scale - 1) < 1e-6 else scale
    width: Any = keys.get("embedding_length")
    if len(layers.kinds) == model.architecture.narrow_layers and isinstance(width, int):
        square = width // layers.heads[0]
        return None if square in (0, shape.head_dim) else math.sqrt(shape.head_dim / square)
    return None
