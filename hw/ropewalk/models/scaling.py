"""The kinds of rotary frequencies (``rope_type``) and how each is read.

Adding one is a function and a row in :data:`ROPE_TYPES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from ..geometry.frequencies import (
    BETA_FAST,
    BETA_SLOW,
    default_frequencies,
    yarn_amplitude,
    yarn_frequencies,
    yarn_gain,
    yarn_range,
    yarn_score_scale,
)
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..strict_json import Keys, show
from .families import LATER

Follow = Literal["hf", "llama.cpp", "vllm"]

FACTOR_LIMIT = float(1 << 20)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a rope type is asked for, beside its own keys.

    Parameters
    ----------
    base
        ``rope_theta``, at least 1.
    width
        The rotary dimension as the formulas see it (may be odd).
    max_position
        ``max_position_embeddings``.
    original
        ``original_max_position_embeddings`` beside the rope parameters, which wins over the one inside.
    latent
        A model with multi-head latent attention.
    nested
        The parameters stand in an object per layer type.
    follow
        The software whose reading of doubtful keys is followed.
    note
        Takes a sentence that the user should see.
    """

    base: float
    width: int
    max_position: int
    original: int | None
    latent: bool
    nested: bool
    follow: Follow
    note: Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """One set of frequencies. ``name`` replaces the variant's name where a rope type makes several sets."""

    inverse_frequency: tuple[float, ...]
    amplitude: float
    max_position: int
    score_scale: float | None = None
    name: str | None = None


@dataclass(frozen=True)
class RopeType:
    """How a rope type is made, and the keys that it understands beside the general ones."""

    make: Callable[[Keys, Request], list[Scaled]]
    keys: frozenset[str]


GENERAL_KEYS = frozenset(["rope_type", "type", "rope_theta", "partial_rotary_factor"])
"""Keys of every rope type."""

HARMLESS_KEYS = frozenset(["finetuned", "llama_4_scaling_beta", "max_position_embeddings"])
"""Keys that do not change the rotation. (The second is a gain on queries, reported as ``attention_scale``.)"""

MULTI_AXIS_KEYS = frozenset(["mrope_section", "mrope_interleaved", "xdrope_section"])


def make_variants(keys: Keys, rope_type: str, request: Request) -> list[Scaled]:
    """The frequencies that the rope parameters ``keys`` mean.

    Raises
    ------
    InputError
        If the type is unknown or not supported yet, or if a key is unknown to it or has a wrong value.
    """
    for key in sorted(MULTI_AXIS_KEYS):
        if key in keys:
            raise keys.refuse(f"{keys.name(key)} asks for positions with several axes, {LATER}")
    if rope_type in LATER_TYPES:
        raise keys.refuse(f"the rope type {rope_type!r} is not supported yet; a later version of Ropewalk adds it")
    if rope_type not in ROPE_TYPES:
        raise keys.refuse(f"the rope type {show(rope_type)} is unknown; known are {', '.join(sorted(ROPE_TYPES))}")
    kind = ROPE_TYPES[rope_type]
    for key in sorted(keys):
        if key not in kind.keys and key not in GENERAL_KEYS and key not in HARMLESS_KEYS:
            hint = "" if "rope_type" in keys or "type" in keys else " (no rope_type is given, which means default)"
            raise keys.refuse(f"{keys.name(key)} is not a key of the rope type {rope_type!r}{hint}")
    return kind.make(keys, request)


def _default(keys: Keys, request: Request) -> list[Scaled]:
    """Plain RoPE."""
    frequencies = default_frequencies(request.base, request.width)
    return [Scaled(inverse_frequency=frequencies, amplitude=1.0, max_position=request.max_position)]


def _yarn(keys: Keys, request: Request) -> list[Scaled]:
    """YaRN, as the followed software reads its keys."""
    if request.base <= 1:
        raise keys.refuse(f"rope_theta must be above 1 for YaRN, not {request.base:g}")
    if request.width % 2:
        raise keys.refuse(f"YaRN needs an even number of rotated elements, not {request.width}")
    original = keys.integer("original_max_position_embeddings", 1, MAX_POSITIONS)
    original = request.original or original or request.max_position
    factor = keys.number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
    if factor is None:
        factor = request.max_position / original
        request.note(f"{keys.name('factor')} is absent: it is max_position_embeddings / original = {factor:g}")
        if not 1 / FACTOR_LIMIT <= factor <= FACTOR_LIMIT:
            raise keys.refuse(f"max_position_embeddings / original must be at most {FACTOR_LIMIT:g}, not {factor:g}")
    max_position = max(request.max_position, int(factor * original))
    if max_position > MAX_POSITIONS:
        raise keys.refuse(f"factor x original_max_position_embeddings must be at most 2**40, not {max_position}")
    if "attn_factor" in keys:
        keys.number("attn_factor", 0.0, MAX_AMPLITUDE)
        request.note(
            f"{keys.name('attn_factor')} is ignored, as Hugging Face and vLLM do (attention_factor is the key)"
        )
    beta_fast = keys.number("beta_fast", 0.0, 1e9) or BETA_FAST
    beta_slow = keys.number("beta_slow", 0.0, 1e9) or BETA_SLOW
    truncate = _truncate(keys, request)
    if beta_fast < beta_slow:
        request.note(
            f"{keys.name('beta_fast')} {beta_fast:g} is below beta_slow {beta_slow:g}: imported as {request.follow} "
            f"computes it, which slows down the fast pairs instead of the slow ones"
        )
    inverted = "step" if request.follow == "llama.cpp" else "blend"
    low, high = yarn_range(
        request.base,
        request.width,
        original=original,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
    )
    if low > high and beta_fast >= beta_slow:
        request.note(f"YaRN's ramp runs backwards, from pair {low:g} to {high:g}: the original context is very short")
    frequencies = yarn_frequencies(
        request.base,
        request.width,
        factor=factor,
        original=original,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
        inverted=inverted,
    )
    mscale_all_dim = keys.number("mscale_all_dim", 0.0, 100.0)
    return [
        Scaled(
            inverse_frequency=frequencies,
            amplitude=_amplitude(keys, request, factor, mscale_all_dim),
            max_position=max_position,
            score_scale=yarn_score_scale(factor, mscale_all_dim) if request.latent and mscale_all_dim else None,
        )
    ]


def _truncate(keys: Keys, request: Request) -> bool:
    """Whether YaRN's range is rounded to whole pairs."""
    truncate = keys.flag("truncate")
    if truncate is not False:
        return True
    if request.follow == "llama.cpp":
        request.note(f"{keys.name('truncate')} is ignored: llama.cpp always truncates")
        return True
    if request.follow == "vllm" and request.latent:
        request.note(f"{keys.name('truncate')} is ignored, as vLLM does for latent attention")
        return True
    if request.follow == "hf" and request.nested:
        request.note(f"{keys.name('truncate')} is ignored, as Hugging Face reads it outside the layer types only")
        return True
    return False


def _amplitude(keys: Keys, request: Request, factor: float, mscale_all_dim: float | None) -> float:
    """YaRN's amplitude."""
    attention_factor = keys.number("attention_factor", 0.0, MAX_AMPLITUDE)
    if attention_factor == 0:
        raise keys.error("attention_factor", "above 0")
    mscale = keys.number("mscale", 0.0, 100.0)
    if request.follow == "llama.cpp":
        # It knows one multiplier of the logarithm only, and takes both to be equal where a file gives it.
        mscale = mscale_all_dim if request.latent else None
    if request.follow == "vllm" and request.latent and attention_factor is None:
        # It takes a missing mscale for 1 and a missing mscale_all_dim for 0.
        mscale = 1.0 if mscale is None else mscale
        if not mscale_all_dim:
            return yarn_gain(factor, mscale)
    return yarn_amplitude(
        factor, attention_factor=attention_factor, mscale=mscale, mscale_all_dim=mscale_all_dim if mscale else None
    )


ROPE_TYPES: Mapping[str, RopeType] = {
    "default": RopeType(_default, frozenset()),
    "yarn": RopeType(
        _yarn,
        frozenset(
            [
                "attention_factor",
                "attn_factor",
                "beta_fast",
                "beta_slow",
                "factor",
                "mscale",
                "mscale_all_dim",
                "original_max_position_embeddings",
                "truncate",
            ]
        ),
    ),
}

LATER_TYPES = frozenset(
    ["axial", "deepseek_yarn", "dynamic", "linear", "llama3", "longrope", "mrope", "ntk", "proportional", "su"]
)
"""Rope types that exist in published configurations and are not here yet."""
