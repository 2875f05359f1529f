"""The frequencies of a GGUF model: ``rope.scaling.*``, divisor lists, and where the stacks read them differently.

llama.cpp computes ``theta_i = b ** (-2 i / d) / divisor_i``, scales it by ``1 / factor`` and, for YaRN, blends the two;
see ``ggml_rope_cache_init`` and ``rope_yarn`` (ggml) and ``llama_context`` (the amplitude).
"""

import struct
from collections.abc import Callable

from ..geometry.frequencies import default_frequencies, yarn_frequencies
from ..geometry.recipe import Recipe
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..geometry.scaled_frequencies import linear_frequencies, longrope_amplitude, longrope_frequencies
from ..strict_json import Keys, show
from .gguf_architectures import Architecture
from .gguf_tensors import LARGEST_DIVISOR
from .gguf_yarn import Scaling, read_yarn
from .scaling import FACTOR_LIMIT, Follow

TYPES = ("none", "linear", "yarn", "longrope")

YARN_KEYS = ("yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow", "yarn_ext_factor", "yarn_log_multiplier")


def read_scaling(
    keys: Keys, name: str, architecture: Architecture, follow: Follow, lists: bool, note: Callable[[str], None]
) -> Scaling:
    """The scaling that ``keys`` of the architecture ``name`` mean; ``lists``: there are longrope's divisor lists.

    Raises
    ------
    InputError
        If a key has a wrong value, or belongs to another architecture.
    """
    context = keys.required_integer("context_length", 1, MAX_POSITIONS)
    original = keys.integer("rope.scaling.original_context_length", 0, MAX_POSITIONS) or context
    kind = keys.get("rope.scaling.type")
    if kind is not None and kind not in TYPES:
        raise keys.error("rope.scaling.type", f"{', '.join(TYPES[:-1])} or {TYPES[-1]}")
    factor = keys.number("rope.scaling.factor", 0.0, FACTOR_LIMIT)
    legacy = keys.number("rope.scale_linear", 0.0, FACTOR_LIMIT)
    factor = legacy if factor is None else factor
    if kind == "none" or not factor:
        factor = 1.0
    if factor < 1 / FACTOR_LIMIT:
        raise keys.error("rope.scaling.factor", f"0 or from {1 / FACTOR_LIMIT:g} to {FACTOR_LIMIT:g}")
    gain = keys.number("rope.scaling.attn_factor", 0.0, MAX_AMPLITUDE)
    if gain == 0:
        raise keys.error("rope.scaling.attn_factor", "above 0")
    if kind == "yarn":
        return read_yarn(keys, name, architecture, follow, factor, context, original, gain or 1.0, note)
    for key in YARN_KEYS:
        if f"rope.scaling.{key}" in keys:
            keys.get(f"rope.scaling.{key}")
            note(f"{keys.name(f'rope.scaling.{key}')} is ignored: the scaling is not YaRN")
    if kind == "longrope" and not lists:
        raise keys.refuse(
            "rope.scaling.type is longrope, but the tensors rope_factors_long.weight and rope_factors_short.weight "
            "are missing"
        )
    if lists:
        gain = _longrope_amplitude(keys, follow, context, original, gain, note)
        kind = "longrope"
    return Scaling(
        kind=kind if kind == "longrope" else "linear",
        factor=factor,
        context=context,
        original=original,
        amplitude=gain or 1.0,
    )


def scaled_frequencies(
    base: float, width: int, scaling: Scaling | None, divisors: tuple[float, ...] | None
) -> tuple[float, ...]:
    """The inverse frequencies of ``width`` rotated elements; ``scaling`` None leaves them unscaled.

    The largest divisor that converters write stands for a pair that is not rotated, whose frequency is 0.
    """
    if scaling is None or scaling.factor == 1:
        found = default_frequencies(base, width) if divisors is None else _divided(base, width, divisors)
    elif scaling.kind == "yarn":
        found = _yarn_blend(base, width, scaling)
        if divisors is not None:
            found = tuple(frequency / divisor for frequency, divisor in zip(found, divisors, strict=True))
    elif divisors is None:
        found = linear_frequencies(base, width, factor=scaling.factor)
    else:
        found = tuple(frequency / scaling.factor for frequency in _divided(base, width, divisors))
    if divisors is None:
        return found
    return tuple(
        0.0 if divisor >= LARGEST_DIVISOR else frequency for frequency, divisor in zip(found, divisors, strict=True)
    )


def file_recipe(base: float, width: int, scaling: Scaling | None, divisors: tuple[float, ...] | None) -> Recipe | None:
    """What llama.cpp starts from for :func:`scaled_frequencies`; ``None`` for a part of YaRN, which has no name."""
    if scaling is not None and scaling.kind == "yarn":
        if scaling.blend != 1:
            return None
        return Recipe(
            kind="yarn",
            base=base,
            width=width,
            factor=scaling.factor,
            original=scaling.original,
            beta_fast=scaling.beta_fast,
            beta_slow=scaling.beta_slow,
            truncate=scaling.truncate,
            divisors=divisors,
        )
    if scaling is not None and scaling.factor != 1:
        return Recipe(kind="linear", base=base, width=width, factor=scaling.factor, divisors=divisors)
    listed = scaling is not None and scaling.kind == "longrope"
    return Recipe(kind="longrope" if listed else "default", base=base, width=width, divisors=divisors)


def _divided(base: float, width: int, divisors: tuple[float, ...]) -> tuple[float, ...]:
    return longrope_frequencies(base, width, divisors=divisors)


def _yarn_blend(base: float, width: int, scaling: Scaling) -> tuple[float, ...]:
    whole = yarn_frequencies(
        base,
        width,
        factor=scaling.factor,
        original=scaling.original,
        beta_fast=scaling.beta_fast,
        beta_slow=scaling.beta_slow,
        truncate=scaling.truncate,
        inverted="step" if scaling.step else "blend",
    )
    if scaling.blend == 1:
        return whole
    linear = linear_frequencies(base, width, factor=scaling.factor)
    share = scaling.blend
    return tuple(share * a + (1 - share) * b for a, b in zip(whole, linear, strict=True))


def _longrope_amplitude(
    keys: Keys, follow: Follow, context: int, original: int, given: float | None, note: Callable[[str], None]
) -> float:
    """``rope.scaling.attn_factor``; the exact formula where the file's 32-bit float is that, or where it is absent."""
    if original < 2:
        raise keys.error("rope.scaling.original_context_length", "above 1")
    exact = longrope_amplitude(context / original, original)
    if given is None:
        if exact == 1 or follow == "llama.cpp":
            return 1.0
        note(
            f"{keys.name('rope.scaling.attn_factor')} is absent: the amplitude is longrope's own, {exact:.6g}; "
            f"llama.cpp takes 1"
        )
        return exact
    if struct.pack("<f", exact) == struct.pack("<f", given):
        return exact
    if abs(given / exact - 1) > 1e-6:
        note(
            f"{keys.name('rope.scaling.attn_factor')} is {show(given)}; longrope's formula gives {exact:.6g} for these "
            f"lengths"
        )
    return given
