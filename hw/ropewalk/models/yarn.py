"""YaRN as a rope type: its keys, and who reads them how."""

from ..geometry.frequencies import (
    BETA_FAST,
    BETA_SLOW,
    yarn_amplitude,
    yarn_frequencies,
    yarn_gain,
    yarn_range,
    yarn_score_scale,
)
from ..geometry.recipe import Recipe
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..strict_json import Keys
from .rope_types import FACTOR_LIMIT, Request, Scaled, original_length, ratio_of_lengths

YARN_KEYS = frozenset(
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
)


def yarn(keys: Keys, request: Request) -> list[Scaled]:
    """YaRN, as the followed software reads its keys."""
    if request.base <= 1:
        raise keys.refuse(f"rope_theta must be above 1 for YaRN, not {request.base:g}")
    if request.width % 2:
        raise keys.refuse(f"YaRN needs an even number of rotated elements, not {request.width}")
    original = original_length(keys, request)
    factor = keys.number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
    if factor is None:
        factor = ratio_of_lengths(keys, request, original)
        request.note(f"{keys.name('factor')} is absent: it is max_position_embeddings / original = {factor:g}")
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
            recipe=Recipe(
                kind="yarn",
                base=request.base,
                width=request.width,
                factor=factor,
                original=original,
                beta_fast=beta_fast,
                beta_slow=beta_slow,
                truncate=truncate,
            ),
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
    request.note(
        f"{keys.name('truncate')} is false and respected, as Hugging Face and vLLM do; llama.cpp always truncates, "
        f"which gives other frequencies (--follow llama.cpp)"
    )
    return False


def _amplitude(keys: Keys, request: Request, factor: float, mscale_all_dim: float | None) -> float:
    """YaRN's amplitude."""
    attention_factor = keys.number("attention_factor", 0.0, MAX_AMPLITUDE)
    if attention_factor == 0:
        raise keys.error("attention_factor", "above 0")
    mscale = keys.number("mscale", 0.0, 100.0)
    if request.follow == "llama.cpp":
        # It knows one multiplier of the logarithm only, and takes both to be equal where a file gives it.
        if (mscale or mscale_all_dim) and mscale != mscale_all_dim:
            request.note(
                f"{keys.name('mscale')} is read as llama.cpp does: "
                + ("equal to mscale_all_dim" if request.latent else "not at all, nor is mscale_all_dim")
            )
        mscale = mscale_all_dim if request.latent else None
    if request.follow == "vllm" and request.latent and attention_factor is None:
        # It takes a missing mscale for 1 and a missing mscale_all_dim for 0.
        mscale = 1.0 if mscale is None else mscale
        if not mscale_all_dim:
            return yarn_gain(factor, mscale)
    return yarn_amplitude(
        factor, attention_factor=attention_factor, mscale=mscale, mscale_all_dim=mscale_all_dim if mscale else None
    )
