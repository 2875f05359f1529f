"""Slopes as the integers that the ALiBi unit multiplies with: ``docs/alibi.md``, "Slopes"."""

import zlib
from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

SLOPE_FRACTION_BITS = 30
"""Fraction bits of a slope in units of the score's LSB.

A slope is off by at most 2 ** -31 LSB, and what is made of it at a distance of 2 ** 24 by 2 ** -7: with the one
rounding of the result, 0.5078 LSB. With a bit less it would be more than 0.51.
"""


def slope_words(slopes: Sequence[float], fraction_bits: int) -> list[int]:
    """``floor(slope * 2 ** (fraction_bits + SLOPE_FRACTION_BITS) + 1/2)`` of each, exactly; a slope is a double."""
    one = 1 << fraction_bits + SLOPE_FRACTION_BITS
    return [floor(Fraction(slope) * one + Fraction(1, 2)) for slope in slopes]


def slope_load_words(words: Sequence[int]) -> list[int]:
    """The 32-bit words of a load, in its order: for each head the low word, then the high one."""
    return [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]


def slope_crc(words: Sequence[int]) -> int:
    """CRC-32 (IEEE 802.3, as zlib has it) over the words of a load, each little-endian."""
    return zlib.crc32(np.array(slope_load_words(words), "<u4").tobytes())
