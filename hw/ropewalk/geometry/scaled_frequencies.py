"""Inverse frequencies of the other ways to stretch a context: linear, NTK, llama3, longrope, proportional.

Plain RoPE and YaRN, and the letters, are in :mod:`ropewalk.geometry.frequencies`; everything is rounded once, as
:mod:`ropewalk.geometry.precise` says.
"""

from collections.abc import Sequence

from .precise import log, nearest, powers, precise, round_all


def linear_frequencies(base: float, width: int, *, factor: float) -> tuple[float, ...]:
    """Position interpolation: ``b ** (-2 i / d) / f``.

    Source: Chen et al., "Extending Context Window of Large Language Models via Positional Interpolation" (arXiv
    2306.15595), section 3.2.
    """
    return round_all([inverse / precise.mpf(factor) for inverse in powers(log(base), width)])


def ntk_frequencies(base: float, width: int, *, alpha: float) -> tuple[float, ...]:
    """NTK-aware scaling: plain RoPE of the base ``b * alpha ** (d / (d - 2))``; d is above 2 and alpha above 0.

    Source: the YaRN paper (arXiv 2309.00071), definition 1; its repository's ``LlamaNTKScaledRotaryEmbedding``.
    """
    return round_all(powers(log(base) + precise.log(precise.mpf(alpha)) * width / (width - 2), width))


def dynamic_ntk_frequencies(base: float, width: int, *, factor: float, length: int, original: int) -> tuple[float, ...]:
    """Dynamic NTK scaling, frozen at ``length`` positions: NTK with ``alpha = f L / M - (f - 1)``.

    L is ``length`` but at least M, and M is ``original``; at L = M these are the default frequencies.

    Source: transformers 5.24, ``_compute_dynamic_ntk_parameters``.
    """
    stretch = precise.mpf(max(length, original)) / original
    alpha = precise.mpf(factor) * stretch - (precise.mpf(factor) - 1)
    return round_all(powers(log(base) + precise.log(alpha) * width / (width - 2), width))


def fixed_ntk_frequencies(base: float, width: int, *, factor: float, mixed: float | None = None) -> tuple[float, ...]:
    """vLLM's ``ntk``: ``(b f) ** (-2 i / d) / f ** (2 / d)``, or, with ``mixed`` = m, mixed bases.

    Mixed bases: ``b ** (-2 i / d) / exp(a (i + 1) ** m)`` with ``a = ln f / (d / 2) ** m``.

    Sources: Su, "Transformer upgrade road" 10 and 11 (kexue.fm/archives/9706), as vLLM's
    ``NTKScalingRotaryEmbedding`` has it.
    """
    if mixed is None:
        slower = precise.exp(log(factor) * 2 / width)
        return round_all([inverse / slower for inverse in powers(log(base) + log(factor), width)])
    rate = log(factor) / (precise.mpf(width) / 2) ** precise.mpf(mixed)
    return round_all(
        [
            inverse / precise.exp(rate * precise.mpf(pair + 1) ** precise.mpf(mixed))
            for pair, inverse in enumerate(powers(log(base), width))
        ]
    )


def llama3_frequencies(
    base: float, width: int, *, factor: float, low: float, high: float, original: int
) -> tuple[float, ...]:
    """Llama 3.1's scaling: long wavelengths are slowed down, short ones kept, those between are mixed.

    With ``w = 2 pi / inv``: ``inv / f`` where ``w > o / low``; ``inv`` where ``w < o / high``; else
    ``(1 - s) inv / f + s inv`` with ``s = (o / w - low) / (high - low)``. Where ``low`` = ``high`` (Llama 4 Scout)
    nothing lies between.

    Source: Meta's llama-models, ``apply_scaling``, as in transformers 5.24, ``_compute_llama3_parameters``.
    """
    low_mp, high_mp = precise.mpf(low), precise.mpf(high)
    frequencies = []
    for inverse in powers(log(base), width):
        turns = inverse * original / (2 * precise.pi)
        if turns < low_mp:
            frequencies.append(inverse / precise.mpf(factor))
        elif turns > high_mp or low == high:
            frequencies.append(inverse)
        else:
            smooth = (turns - low_mp) / (high_mp - low_mp)
            frequencies.append((1 - smooth) * inverse / precise.mpf(factor) + smooth * inverse)
    return round_all(frequencies)


def longrope_frequencies(base: float, width: int, *, divisors: Sequence[float]) -> tuple[float, ...]:
    """``b ** (-2 i / d)`` divided by a list: longrope's short or long one, or any list of divisors.

    Source: Ding et al., "LongRoPE" (arXiv 2402.13753), section 3.2.
    """
    return round_all(
        [inverse / precise.mpf(divisor) for inverse, divisor in zip(powers(log(base), width), divisors, strict=True)]
    )


def longrope_amplitude(factor: float, original: int) -> float:
    """``sqrt(1 + ln f / ln o)``, 1 where f is at most 1: longrope's amplitude, of both lists; o is above 1.

    Source: Phi-3's published model code.
    """
    if factor <= 1:
        return 1.0
    return nearest(precise.sqrt(1 + log(factor) / log(float(original))))


def proportional_pairs(head_dim: int, fraction: float) -> int:
    """How many pairs of a head proportional RoPE turns: ``int(p D // 2)``, as the software computes it."""
    return int(fraction * head_dim // 2)


def proportional_frequencies(base: float, head_dim: int, *, fraction: float, factor: float = 1.0) -> tuple[float, ...]:
    """Proportional RoPE: the exponent is that of the whole head, and the pairs past a share of it stand still.

    ``b ** (-2 i / D) / f`` for the first :func:`proportional_pairs`, else 0, D / 2 in all: zero is the identity.

    Source: transformers 5.24, ``_compute_proportional_rope_parameters`` (Gemma 4).
    """
    turning = proportional_pairs(head_dim, fraction)
    return linear_frequencies(base, head_dim, factor=factor)[:turning] + (0.0,) * (head_dim // 2 - turning)
