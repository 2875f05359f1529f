"""Rope types that stretch every pair by a rule: linear, dynamic and static NTK, llama3, proportional."""

from typing import Any

from ..geometry.frequencies import default_frequencies
from ..geometry.precise import nearest, precise
from ..geometry.recipe import HIGH_BASE, Recipe, RopeKind
from ..geometry.rotary import MAX_POSITIONS
from ..geometry.scaled_frequencies import (
    dynamic_ntk_frequencies,
    fixed_ntk_frequencies,
    linear_frequencies,
    llama3_frequencies,
    ntk_frequencies,
    proportional_frequencies,
    proportional_pairs,
)
from ..strict_json import Keys
from .rope_types import FACTOR_LIMIT, Request, Scaled, original_length, required_factor

ALPHA_LIMIT = float(1 << 30)

HUNYUAN_KEYS = frozenset(["beta_fast", "beta_slow", "mscale", "mscale_all_dim"])
"""Keys that HunYuan's files carry beside ``alpha``, and that no software reads there."""

DYNAMIC_KEYS = (
    frozenset(["alpha", "factor", "max_trained_positions", "original_max_position_embeddings"]) | HUNYUAN_KEYS
)
LLAMA3_KEYS = frozenset(["factor", "high_freq_factor", "low_freq_factor", "original_max_position_embeddings"])


def default(keys: Keys, request: Request) -> list[Scaled]:
    """Plain RoPE."""
    return [_unscaled(request, default_frequencies(request.base, request.width), _recipe(request, "default"))]


def linear(keys: Keys, request: Request) -> list[Scaled]:
    """Position interpolation."""
    factor = required_factor(keys)
    frequencies = linear_frequencies(request.base, request.width, factor=factor)
    return [_unscaled(request, frequencies, _recipe(request, "linear", factor=factor))]


def dynamic(keys: Keys, request: Request) -> list[Scaled]:
    """Dynamic NTK scaling, frozen at one length; with ``alpha`` the static one."""
    alpha = keys.number("alpha", 1.0, ALPHA_LIMIT)
    if alpha is not None:
        keys.number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
        if request.follow == "hf" and not request.model_type.startswith("hunyuan"):
            request.note(f"{keys.name('alpha')} makes NTK static, as in vLLM; Hugging Face reads it in HunYuan's only")
        frequencies = ntk_frequencies(request.base, _ntk_width(keys, request), alpha=alpha)
        return [_unscaled(request, frequencies, _static_ntk_recipe(request, alpha))]
    for key in sorted(HUNYUAN_KEYS):
        if key in keys:
            raise keys.refuse(f"{keys.name(key)} is not a key of the rope type 'dynamic' without alpha")
    factor = required_factor(keys)
    keys.integer("original_max_position_embeddings", 1, MAX_POSITIONS)  # no software reads it here
    trained = keys.integer("max_trained_positions", 1, MAX_POSITIONS)
    original = request.max_position
    length = max(request.sequence_length or original, original)
    if request.follow == "llama.cpp":
        request.note("llama.cpp has no dynamic NTK scaling: these are the default frequencies")
        length = original
    elif request.follow == "vllm":
        original, length = min(trained or original, original), original
        request.note(
            "vLLM freezes dynamic NTK scaling at max_position_embeddings, and scales only what exceeds "
            f"max_trained_positions: {length} over {original}"
        )
    elif request.sequence_length is None:
        request.note(
            f"dynamic NTK scaling is frozen at the original length {original}, where it changes nothing; "
            "--sequence-length freezes it elsewhere"
        )
    else:
        request.note(f"dynamic NTK scaling is frozen at length {length} (the original one is {original})")
    frequencies = dynamic_ntk_frequencies(
        request.base, _ntk_width(keys, request), factor=factor, length=length, original=original
    )
    recipe = _recipe(request, "dynamic", factor=factor, original=original, length=length)
    if request.follow == "llama.cpp":
        recipe = _recipe(request, "default")
    elif request.follow == "vllm" and length > original:
        recipe = None  # its single-precision steps are not among those we follow
    return [Scaled(inverse_frequency=frequencies, amplitude=1.0, max_position=length, recipe=recipe)]


def fixed_ntk(keys: Keys, request: Request) -> list[Scaled]:
    """vLLM's ``ntk``, with or without mixed bases."""
    frequencies = fixed_ntk_frequencies(
        request.base, request.width, factor=required_factor(keys), mixed=keys.number("mixed_b", 0.0, 16.0)
    )
    request.note("the rope type 'ntk' is vLLM's; other software does not have it")
    return [_unscaled(request, frequencies)]


def llama3(keys: Keys, request: Request) -> list[Scaled]:
    """Llama 3.1's scaling by wavelength."""
    low = keys.required_number("low_freq_factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
    high = keys.required_number("high_freq_factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
    factor, original = required_factor(keys), original_length(keys, request)
    frequencies = llama3_frequencies(request.base, request.width, factor=factor, low=low, high=high, original=original)
    recipe = _recipe(request, "llama3", factor=factor, original=original, low_freq_factor=low, high_freq_factor=high)
    return [_unscaled(request, frequencies, recipe)]


def proportional(keys: Keys, request: Request) -> list[Scaled]:
    """The exponents of a whole head, of which only a share turns."""
    factor = keys.number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT) or 1.0
    turning = proportional_pairs(request.width, request.fraction)
    if not turning:
        raise keys.refuse(
            f"partial_rotary_factor {request.fraction:g} of head_dim {request.width} leaves nothing to rotate"
        )
    frequencies = proportional_frequencies(request.base, request.width, fraction=request.fraction, factor=factor)
    return [_unscaled(request, frequencies, _recipe(request, "proportional", factor=factor, rotated=turning))]


def _unscaled(request: Request, frequencies: tuple[float, ...], recipe: Recipe | None = None) -> Scaled:
    return Scaled(inverse_frequency=frequencies, amplitude=1.0, max_position=request.max_position, recipe=recipe)


def _recipe(request: Request, kind: RopeKind, **own: Any) -> Recipe:
    return Recipe(kind=kind, base=request.base, width=request.width, **own)


def _static_ntk_recipe(request: Request, alpha: float) -> Recipe | None:
    """HunYuan's: plain RoPE of a base that Python computes with doubles."""
    width = request.width
    base = request.base * nearest(precise.mpf(alpha) ** precise.mpf(width / (width - 2)))
    return Recipe(kind="default", base=base, width=width) if base <= HIGH_BASE else None


def _ntk_width(keys: Keys, request: Request) -> int:
    if request.width <= 2:
        raise keys.refuse(f"NTK scaling needs more than 2 rotated elements, not {request.width}")
    return request.width
