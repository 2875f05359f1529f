"""The arithmetic of the ALiBi unit in numpy, in every bit what the hardware gives. ``docs/alibi.md``."""

import numpy as np
from numpy.typing import NDArray
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.tables.slopes import SLOPE_FRACTION_BITS

RELATIVE, ABSOLUTE, MPT, SYMMETRIC = range(4)

Integers = NDArray[np.int64]


def bias_words(word: Integers, mode: int, query: Integers, key: Integers, length: Integers) -> Integers:
    """The bias in LSBs of the score, rounded half up; 0 for keys below 0. Arrays of one shape, or that broadcast.

    ``word`` is the slope's, ``query`` and ``key`` are positions, ``length`` is that of the row, for MPT's form.
    """
    distance = key - _origin(mode, query, length)
    if mode == SYMMETRIC:
        distance = -np.abs(distance)
    # In two parts, so that nothing leaves 64 bits: the whole LSBs of the slope, and its fraction.
    whole, fraction = word >> SLOPE_FRACTION_BITS, word & (1 << SLOPE_FRACTION_BITS) - 1
    rounded = fraction * distance + (1 << SLOPE_FRACTION_BITS - 1) >> SLOPE_FRACTION_BITS
    return np.where(key < 0, 0, whole * distance + rounded)


def _origin(mode: int, query: Integers, length: Integers) -> Integers:
    if mode == ABSOLUTE:
        return np.zeros_like(query)
    return length - 1 if mode == MPT else query


def add_bias(
    design: AlibiDesign, score: Integers, word: Integers, mode: int, query: Integers, key: Integers, length: Integers,
    causal: NDArray[np.bool_],
) -> Integers:  # fmt: skip
    """Scores with their bias, saturated; where ``causal``, keys after the query become the most negative score."""
    low, high = design.data.minimum, design.data.maximum
    biased = np.clip(score + bias_words(word, mode, query, key, length), low, high)
    return np.where(causal & (key > query), low, biased)
