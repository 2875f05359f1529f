"""Inverse frequencies and amplitudes of plain RoPE and of YaRN, each rounded once to a double.

The other ways of scaling are in :mod:`ropewalk.geometry.scaled_frequencies`; how the values are evaluated is in
:mod:`ropewalk.geometry.precise`.

Letters: b = base (``rope_theta``), d = width (the rotary dimension as the formulas see it), i = pair index, f = factor,
o = the original number of positions. An inverse frequency is in radians per position.
"""

from typing import Literal

from mpmath import mpf

from .precise import log, nearest, powers, precise, round_all

BETA_FAST = 32.0
"""Rotations over the original context above which a pair is not slowed down (YaRN's beta)."""

BETA_SLOW = 1.0
"""Rotations over the original context below which a pair is slowed down by the whole factor (YaRN's alpha)."""

Inverted = Literal["blend", "step"]


def default_frequencies(base: float, width: int) -> tuple[float, ...]:
    """Inverse frequencies of plain RoPE: ``b ** (-2 i / d)``, for i = 0 .. ceil(d / 2) - 1.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (arXiv 2104.09864), section
    3.2.2.
    An odd width has one pair more than d / 2, as the usual software makes it.
    """
    return round_all(powers(log(base), width))


def yarn_frequencies(
    base: float,
    width: int,
    *,
    factor: float,
    original: int,
    beta_fast: float | None = None,
    beta_slow: float | None = None,
    truncate: bool = True,
    inverted: Inverted = "blend",
) -> tuple[float, ...]:
    """Inverse frequencies of YaRN: ``inv / f * ramp + inv * (1 - ramp)`` with ``inv = b ** (-2 i / d)``.

    ``ramp = clamp((i - lo) / (hi - lo), 0, 1)`` between the pairs ``lo`` and ``hi`` of :func:`yarn_range`. Where they
    are equal, ``hi`` is 0.001 more.

    Sources: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models" (arXiv 2309.00071),
    section 3.2, and its published code, which makes the ramp linear in the pair index.

    Parameters
    ----------
    base, width
        b, above 1, and d, even.
    factor, original
        f and o.
    beta_fast, beta_slow, truncate
        See :func:`yarn_range`.
    inverted
        What betas the wrong way round (``lo > hi``) mean: the ``blend`` that the same formula gives (Hugging Face), or
        a ``step`` at ``lo`` (llama.cpp, which keeps ``hi - lo`` at 0.001 or more).
    """
    low, high = _range(base, width, original, beta_fast, beta_slow, truncate)
    span = high - low
    least = precise.mpf(1) / 1000
    if span == 0 or (inverted == "step" and span < least):
        span = least
    frequencies = []
    for pair, inverse in enumerate(powers(log(base), width)):
        ramp = min(max((pair - low) / span, precise.mpf(0)), precise.mpf(1))
        frequencies.append(inverse / precise.mpf(factor) * ramp + inverse * (1 - ramp))
    return round_all(frequencies)


def yarn_range(
    base: float,
    width: int,
    *,
    original: int,
    beta_fast: float | None = None,
    beta_slow: float | None = None,
    truncate: bool = True,
) -> tuple[float, float]:
    """The pairs between which YaRN's ramp rises, ``(lo, hi)``.

    The pair that turns r times over the original context is ``c(r) = d ln(o / (2 pi r)) / (2 ln b)``. ``lo`` is
    ``c(beta_fast)`` and ``hi`` is ``c(beta_slow)``; with ``truncate`` the floor of the one and the ceiling of the
    other; then ``lo`` is at least 0 and ``hi`` at most d - 1 (not d / 2 - 1). A beta that is None or 0 takes its
    default, 32 and 1.

    Source: YaRN's published code, ``find_correction_range``; ``truncate`` is gpt-oss's.
    """
    low, high = _range(base, width, original, beta_fast, beta_slow, truncate)
    return nearest(low), nearest(high)


def yarn_amplitude(
    factor: float,
    *,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
) -> float:
    """What YaRN multiplies cos and sin with.

    An explicit ``attention_factor`` wins. Else, where ``mscale`` and ``mscale_all_dim`` are both given and not 0,
    ``g(f, mscale) / g(f, mscale_all_dim)``, else ``g(f, 1)``, with g as in :func:`yarn_gain`.

    Sources: YaRN (arXiv 2309.00071), section 3.3 (``0.1 ln f + 1``); DeepSeek-V2's published model code (the ratio).
    """
    if attention_factor is not None:
        return attention_factor
    if mscale and mscale_all_dim:
        return nearest(_gain(factor, mscale) / _gain(factor, mscale_all_dim))
    return nearest(_gain(factor, 1.0))


def yarn_gain(factor: float, mscale: float) -> float:
    """``g(f, m) = 0.1 m ln f + 1``, and 1 where f is at most 1. Source: as :func:`yarn_amplitude`."""
    return nearest(_gain(factor, mscale))


def yarn_score_scale(factor: float, mscale_all_dim: float) -> float:
    """``g(f, mscale_all_dim) ** 2``: what DeepSeek's models multiply attention scores with, beside 1 / sqrt(d).

    Source: DeepSeek-V2's published model code, where it is part of ``softmax_scale``.
    """
    return nearest(_gain(factor, mscale_all_dim) ** 2)


def _range(
    base: float, width: int, original: int, beta_fast: float | None, beta_slow: float | None, truncate: bool
) -> tuple[mpf, mpf]:
    """:func:`yarn_range`, not rounded."""

    def turning(rotations: float) -> mpf:
        return width * precise.log(original / (2 * precise.pi * precise.mpf(rotations))) / (2 * log(base))

    low = turning(beta_fast or BETA_FAST)
    high = turning(beta_slow or BETA_SLOW)
    if truncate:
        low = precise.floor(low)
        high = precise.ceil(high)
    return max(low, precise.mpf(0)), min(high, precise.mpf(width - 1))


def _gain(factor: float, mscale: float) -> mpf:
    """:func:`yarn_gain`, not rounded."""
    if factor <= 1:
        return precise.mpf(1)
    return precise.mpf(mscale) * log(factor) / 10 + 1
