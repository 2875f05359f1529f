"""The words of a learned table: scale, the one rounding, digest, memory words, interpolation. References: fractions."""

import hashlib
import struct
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.tables.learned import (
    pack_beats,
    quantise_table,
    resize_rows,
    table_digest,
    table_fraction_bits,
    unpack_beats,
)

HALF = Fraction(1, 2)


def half_up(value: Fraction) -> int:
    return floor(value + HALF)


@given(
    st.lists(st.floats(-1000, 1000, width=32), min_size=1, max_size=20).filter(any),
    st.integers(4, 16),
    st.integers(0, 16),
)
def test_the_scale_is_the_finest_at_which_the_largest_entry_fits(values, width, fraction_bits) -> None:
    table = np.array([values])
    scale = table_fraction_bits(table, width, fraction_bits)
    limit = 1 << (width - 1)

    def fits(bits: int) -> bool:
        round_one = floor if bits > fraction_bits else half_up
        return all(-limit <= round_one(Fraction(value) * Fraction(2) ** bits) < limit for value in values)

    assert fits(scale)
    assert scale == fraction_bits + width or not fits(scale + 1)


@given(
    st.lists(st.floats(-8, 8, width=32), min_size=1, max_size=20), st.integers(4, 16), st.integers(0, 12),
    st.lists(st.integers(-(1 << 15), (1 << 15) - 1), min_size=20, max_size=20),
)  # fmt: skip
def test_a_sum_is_rounded_once(values, width, fraction_bits, elements) -> None:
    """Through the word and the adder's rounding a value is what rounding it half up at the data's LSB gives."""
    table = np.array([values])
    scale = table_fraction_bits(table, width, fraction_bits)
    words = quantise_table(table, width, fraction_bits, scale)[0]
    for value, word, element in zip(values, words.tolist(), elements, strict=False):
        exact = element + Fraction(value) * 2**fraction_bits
        dropped = scale - fraction_bits
        if dropped >= 0:
            assert element + floor(Fraction(word, 2**dropped) + HALF) == half_up(exact)
            assert abs(element + floor(Fraction(word, 2**dropped) + HALF) - exact) <= HALF
        else:
            assert word == half_up(Fraction(value) * Fraction(2) ** scale)
            assert abs(element + word * 2**-dropped - exact) <= HALF * 2**-dropped


def test_an_entry_just_below_a_half_is_not_rounded_up() -> None:
    below = np.nextafter(0.5, 0)
    assert quantise_table(np.array([[below, 0.5, -0.5, np.nextafter(-0.5, -1)]]), 8, 0, 0).tolist() == [[0, 1, 0, -1]]


def test_words_that_do_not_fit_saturate() -> None:
    assert quantise_table(np.array([[100.0, -100.0]]), 4, 0, 0).tolist() == [[7, -8]]


def test_a_table_too_large_for_its_words_is_refused() -> None:
    with pytest.raises(InputError, match=r"largest entry is 1e\+30, too large for words of 4 bits"):
        table_fraction_bits(np.array([[1e30]]), 4, 8)
    assert table_fraction_bits(np.zeros((2, 3)), 16, 8) == 24


def test_the_digest_is_of_the_bytes_it_says() -> None:
    words = np.array([[1, -2, 3]], np.int16)
    data = b"ropewalk/learned-table/1\n" + struct.pack("<IIIi3h", 1, 3, 9, -4, 1, -2, 3)
    assert table_digest(words, 9, -4) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("bits", [4, 7, 16])
def test_memory_words_hold_the_elements_in_order(lanes, bits) -> None:
    words = np.random.default_rng(1).integers(-(1 << bits - 1), 1 << bits - 1, (3, 7)).astype(np.int16)
    memory = pack_beats(words, lanes, bits)
    per_row = -(-7 // lanes)
    assert len(memory) == 3 * per_row
    for row in range(3):
        for column in range(7):
            word = memory[row * per_row + column // lanes] >> column % lanes * bits & (1 << bits) - 1
            assert word == int(words[row, column]) & (1 << bits) - 1
    assert np.array_equal(unpack_beats(memory, 3, 7, lanes, bits), words)


def geometry(rows: int, offset: int = 0, dimension: int = 3) -> LearnedGeometry:
    return LearnedGeometry(model_type="test", rows=rows, row_offset=offset, dimension=dimension)


@pytest.mark.parametrize(("rows", "offset", "new"), [(8, 0, 15), (8, 2, 20), (10, 2, 5), (6, 0, 6), (4, 1, 3)])
def test_interpolated_rows_are_what_the_definition_says(rows, offset, new) -> None:
    table = np.random.default_rng(2).normal(size=(rows, 3)).astype(np.float32)
    after, longer, warning = resize_rows(geometry(rows, offset), table, new)
    assert after.rows == new
    assert "trained" in warning
    assert f"from {rows} to {new} rows" in warning
    assert np.array_equal(longer[:offset], table[:offset])
    assert np.array_equal(longer[offset], table[offset])
    assert np.array_equal(longer[-1], table[-1])
    for position in range(new - offset):
        place = Fraction(position * (rows - offset - 1), new - offset - 1)
        low = min(floor(place), rows - offset - 2)
        for column in range(3):
            one, two = (Fraction(float(table[offset + low + step, column])) for step in (0, 1))
            exact = one + (two - one) * (place - low)
            assert abs(Fraction(float(longer[offset + position, column])) - exact) < Fraction(1, 10**12)


def test_a_table_cannot_be_resized_to_less_than_two_positions() -> None:
    with pytest.raises(InputError, match="resize rows must be an integer from 4 to"):
        resize_rows(geometry(8, 2), np.zeros((8, 3)), 3)
    with pytest.raises(InputError, match="no two positions"):
        resize_rows(geometry(3, 2), np.zeros((3, 3)), 8)
