"""Slope words of every head count against the paper's formula, in 200 bits."""

import zlib

import mpmath
import pytest
from ropewalk.geometry.alibi import alibi_slopes
from ropewalk.tables.slopes import slope_crc, slope_load_words, slope_words
from ropewalk_sim.alibi.exact import exact_slopes


@pytest.mark.parametrize(("fraction_bits", "counts"), [(8, range(1, 257)), (0, (1, 12, 255)), (24, (1, 12, 255))])
def test_every_head_count_from_1_to_256(fraction_bits, counts):
    with mpmath.workprec(200):
        for heads in counts:
            words = slope_words(alibi_slopes(heads), fraction_bits)
            for word, slope in zip(words, exact_slopes(heads), strict=True):
                # Half a unit of the word, and what a double may be off by.
                assert abs(word - slope * 2 ** (fraction_bits + 30)) <= 0.5 + 2.0 ** (fraction_bits - 24)
                assert 0 < word < 1 << fraction_bits + 30


def test_words_are_rounded_half_up():
    assert slope_words([0.0, 2.0**-31, 3 * 2.0**-31, 2.0**-32, 0.5], 0) == [0, 1, 2, 0, 1 << 29]


def test_the_words_of_a_load_and_their_crc():
    words = [(5 << 32) + 7, 9]
    assert slope_load_words(words) == [7, 5, 9, 0]
    assert slope_crc(words) == zlib.crc32(bytes.fromhex("07000000 05000000 09000000 00000000"))
