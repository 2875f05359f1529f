"""What two models with ALiBi, learned or sinusoidal positions do differently, as far as the digest covers it."""

from ..geometry import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ..tables.other_digests import PHASE_BITS, sinusoidal_limit
from ..tables.steps import step_words
from .difference import Difference, plain
from .steps import compare_steps

FAR = 1000
"""Distance in positions at which a difference of slopes is expressed as one of biases."""


def compare_alibi(a: AlibiGeometry, b: AlibiGeometry) -> list[Difference]:
    """The differences of two models with ALiBi."""
    differences = plain("heads", a.heads, b.heads, "the number of heads")
    differences += plain("mode", a.mode, b.mode, "the mode (what a slope is multiplied with)")
    differences += plain("scale_after", a.scale_after, b.scale_after, "the factor of the biased scores (scale_after)")
    heads = range(min(a.heads, b.heads))
    differing = [head for head in heads if a.slopes[head] != b.slopes[head]]
    if differing:
        worst = max(differing, key=lambda head: (abs(a.slopes[head] - b.slopes[head]), -head))
        one, other = a.slopes[worst], b.slopes[worst]
        sentence = (
            f"{len(differing)} of {len(heads)} heads have another slope, the first is head {differing[0]}; "
            f"head {worst} is the farthest off, {one:.6g} in A and {other:.6g} in B: {abs(one - other) * FAR:.6g} "
            f"between the biases at a distance of {FAR:,} positions"
        )
        more = {
            "differing_heads": len(differing),
            "first_head": differing[0],
            "worst_head": worst,
            "bias_difference": abs(one - other) * FAR,
        }
        differences.append(Difference("slopes", one, other, sentence, None, more))
    return differences


def compare_learned(a: LearnedGeometry, b: LearnedGeometry) -> list[Difference]:
    """The differences of two models with learned positions; their weights are not looked at."""
    texts = {
        "rows": "the number of rows of the table",
        "row_offset": "the row of position 0 (row_offset)",
        "dimension": "the number of elements of a row",
        "mask": "what masked tokens do to positions (mask)",
        "masked_row": "the row of masked tokens",
    }
    return [found for key, text in texts.items() for found in plain(key, getattr(a, key), getattr(b, key), text)]


def compare_sinusoidal(a: SinusoidalGeometry, b: SinusoidalGeometry) -> list[Difference]:
    """The differences of two models with sinusoids."""
    texts = {
        "dimension": "the number of elements of a row",
        "layout": "the layout",
        "row_offset": "what is added to a position (row_offset)",
        "zero_row": "the row of zeros",
        "mask": "what masked tokens do to positions (mask)",
    }
    found = [each for key, text in texts.items() for each in plain(key, getattr(a, key), getattr(b, key), text)]
    limits = sinusoidal_limit(a), sinusoidal_limit(b)
    found += plain("max_position", *limits, "the number of positions")
    frequencies = a.inverse_frequency, b.inverse_frequency
    found += plain("pairs", len(frequencies[0]), len(frequencies[1]), "the number of sines")
    found += compare_steps(
        step_words(frequencies[0], PHASE_BITS),
        step_words(frequencies[1], PHASE_BITS),
        (PHASE_BITS, PHASE_BITS),
        min(limits),
        frequencies,
    )
    return found
