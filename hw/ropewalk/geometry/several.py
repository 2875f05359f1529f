"""Variants of several models in one geometry: what one engine holds in its slots side by side."""

from dataclasses import replace

from ..errors import InputError
from ..strict_json import NAME, show
from .rotary import MAX_VARIANTS, RotaryGeometry


def with_variants(base: RotaryGeometry, name: str, other: RotaryGeometry) -> RotaryGeometry:
    """``base`` with the variants of ``other`` behind its own, each with the shape that it has in ``other``.

    The only variant of ``other`` is called ``name``; of several, each is called ``name``, a dot and its own name.
    Layers, notes and ``attention_scale`` stay those of ``base``.

    Raises
    ------
    InputError
        If a name is taken or too long, the head sizes differ, or there are more than 64 variants.
    """
    added = [
        replace(variant, name=name if len(other.variants) == 1 else f"{name}.{variant.name}")
        for variant in other.variants
    ]
    taken = [variant.name for variant in base.variants]
    for variant in added:
        if not NAME.fullmatch(variant.name):
            raise InputError(f"{show(variant.name)} is no name: it has more than 64 letters, digits and _ . -")
        if variant.name in taken:
            raise InputError(
                f"there is a variant {show(variant.name)} already (the variants are {', '.join(taken)}): "
                f"give another name"
            )
    shapes = [geometry.of(slot) for geometry in (base, other) for slot in range(len(geometry.variants))]
    for variant, shape in zip(added, shapes[len(taken) :], strict=True):
        if shape.head_dim != base.head_dim:
            raise InputError(
                f"{variant.name} ({other.model_type}) has heads of {shape.head_dim} elements, and {taken[0]} "
                f"({base.model_type}) has heads of {base.head_dim}: an engine has one head size"
            )
    if len(shapes) > MAX_VARIANTS:
        raise InputError(f"{len(shapes)} variants are too many: an engine holds at most {MAX_VARIANTS}")
    return replace(base, variants=(*base.variants, *added)).with_shapes(tuple(shapes))
