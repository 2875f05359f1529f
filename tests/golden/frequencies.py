"""The exact frequencies and amplitudes of the golden configurations: multiple-precision numbers, from the papers.

Nothing of ``ropewalk`` is used, so that an error in its geometry or tables cannot hide. Sources, beside those of
:mod:`ropewalk_sim.exact`: Chen et al., "Extending Context Window" (arXiv 2306.15595) for linear scaling; bloc97's NTK
scaling, with the length as Hugging Face has it, for dynamic; Meta's Llama 3.1 release for llama3; Ding et al.,
"LongRoPE" (arXiv 2402.13753); Gemma 4's published code for proportional.
"""

from typing import Any

import mpmath
from ropewalk_sim.exact import exact_inverse_frequency

_context: Any = mpmath.mp.clone()
_context.prec = 256

Number = Any
"""An ``mpf``."""


def exact_frequencies(
    parameters: dict[str, Any], dim: int, *, max_position: int, length: int = 0, long: bool = False,
    whole_pairs: bool = False,
) -> list[Number]:  # fmt: skip
    """Radians per position, one per pair.

    Parameters
    ----------
    parameters
        ``rope_parameters`` as the software was given them.
    dim
        Elements that are rotated.
    max_position
        The configuration's ``max_position_embeddings``.
    length
        Of the sequence, to which dynamic NTK looks.
    long
        Which of longrope's lists.
    whole_pairs
        Let YaRN's range begin and end at whole pairs whatever ``truncate`` says, as llama.cpp does.
    """
    kind, base = parameters["rope_type"], _context.mpf(parameters["rope_theta"])
    plain = exact_inverse_frequency(base, dim)
    factor = _context.mpf(parameters.get("factor", 1))
    if kind == "default":
        return plain
    if kind == "linear":
        return [theta / factor for theta in plain]
    if kind == "dynamic":
        stretch = factor * max(length, max_position) / max_position - (factor - 1)
        return exact_inverse_frequency(base * stretch ** (_context.mpf(dim) / (dim - 2)), dim)
    if kind == "llama3":
        return [_llama3(theta, factor, parameters) for theta in plain]
    if kind == "yarn":
        return exact_inverse_frequency(
            base, dim, factor=factor, original=parameters["original_max_position_embeddings"],
            beta_fast=parameters.get("beta_fast", 32), beta_slow=parameters.get("beta_slow", 1),
            truncate=whole_pairs or parameters.get("truncate", True),
        )  # fmt: skip
    if kind == "longrope":
        divisors = parameters["long_factor" if long else "short_factor"]
        return [theta / _context.mpf(divisor) for theta, divisor in zip(plain, divisors, strict=True)]
    if kind == "proportional":
        turning = int(parameters["partial_rotary_factor"] * dim // 2)
        return plain[:turning] + [_context.mpf(0)] * (dim // 2 - turning)
    raise ValueError(f"no formula for the type {kind}")


def exact_amplitude(parameters: dict[str, Any], max_position: int) -> float:
    """What cos and sin are multiplied with: YaRN's attention factor, longrope's, else 1."""
    kind = parameters["rope_type"]
    if kind == "longrope":
        original = parameters["original_max_position_embeddings"]
        return float(_context.sqrt(1 + _context.log(_context.mpf(max_position) / original) / _context.log(original)))
    if kind != "yarn":
        return 1.0

    def gain(mscale: float) -> Number:
        return 1 + mscale * _context.log(parameters["factor"]) / 10

    one, other = parameters.get("mscale"), parameters.get("mscale_all_dim")
    return float(gain(one) / gain(other)) if one and other else float(gain(1))


def _llama3(theta: Number, factor: Number, parameters: dict[str, Any]) -> Number:
    original = parameters["original_max_position_embeddings"]
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    turns = original * theta / (2 * _context.pi)  # over the original context
    if turns < low:
        return theta / factor
    if turns > high:
        return theta
    share = (turns - low) / (high - low)
    return (1 - share) * theta / factor + share * theta
