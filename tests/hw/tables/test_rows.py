"""Table rows against multiple precision, entry by entry, and at the roundings that a double cannot decide."""

import math
import time

import mpmath
import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.tables import rows as rows_module
from ropewalk.tables.rows import pack_entries, rows_at, table_rows

FREQUENCIES = [1e4 ** (-2 * i / 32) for i in range(16)]


def exact_entry(frequency, amplitude, position, width):
    """(quadrant, cos, sin) by the definition, with 60 digits."""
    with mpmath.workdps(60):
        angle = mpmath.mpf(frequency) * position
        quadrant = int(mpmath.floor(angle / (mpmath.pi / 2)))
        rest = angle - quadrant * mpmath.pi / 2
        words = (
            int(mpmath.floor(mpmath.mpf(amplitude) * value * 2 ** (width - 1) + mpmath.mpf(1) / 2))
            for value in (mpmath.cos(rest), mpmath.sin(rest))
        )
        return quadrant % 4, *(min(word, 2**width - 1) for word in words)


@pytest.mark.parametrize(("width", "amplitude"), [(18, 1.0), (18, 1.1386294361119891), (24, 1.9), (8, 2 - 2**-17)])
def test_entries_are_correctly_rounded(width, amplitude):
    positions = [0, 1, 2, 3, 1000, 65535, 2**20 + 7, 2**24 - 1]
    rows = rows_at(FREQUENCIES, amplitude, positions, width)
    assert rows.shape == (8, 16, 3)
    for row, position in zip(rows, positions, strict=True):
        expected = [exact_entry(frequency, amplitude, position, width) for frequency in FREQUENCIES]
        assert row.tolist() == [list(entry) for entry in expected]


def test_multiple_precision_agrees_with_doubles_where_they_decide(monkeypatch):
    usual = table_rows(FREQUENCIES, 1.25, 40, 24)
    monkeypatch.setattr(rows_module, "_MARGIN", 1.0)
    assert np.array_equal(table_rows(FREQUENCIES, 1.25, 40, 24), usual)


def test_quadrant_edges_are_decided_exactly():
    # The doubles beside k quarter turns: their angle lies a few 1e-16 beside the edge, at position 1.
    edges = [k * math.pi / 2 for k in range(1, 9)]
    frequencies = [beside for edge in edges for beside in (math.nextafter(edge, 0), edge, math.nextafter(edge, 99))]
    rows = rows_at(frequencies, 1.0, [1, 2, 3, 2**24 - 1], 18)
    for row, position in zip(rows, (1, 2, 3, 2**24 - 1), strict=True):
        assert row.tolist() == [list(exact_entry(frequency, 1.0, position, 18)) for frequency in frequencies]


def test_values_beside_a_tie_are_decided_exactly():
    # sin(f) * 2**17 next to n + 1/2: nearer than a double's own error in the scaled value can tell apart.
    frequencies = []
    for n in (1, 2, 1000, 65536, 120000):
        tie = math.asin((n + 0.5) / 2**17)
        frequencies += [math.nextafter(tie, 0), tie, math.nextafter(tie, 9)]
    rows = rows_at(frequencies, 1.0, [1], 18)
    assert rows[0].tolist() == [list(exact_entry(frequency, 1.0, 1, 18)) for frequency in frequencies]


def test_standing_still_is_the_amplitude_exactly():
    rows = rows_at([0.0, 1.0], 1 + 2**-18, [0, 5], 18)
    assert rows[0].tolist() == [[0, 131073, 0], [0, 131073, 0]]  # 131072.5: a tie goes up
    assert rows[1, 0].tolist() == [0, 131073, 0]
    assert rows_at([1.0], 2 - 2**-17, [0], 8).tolist() == [[[0, 255, 0]]]  # 255.999 saturates


def test_entries_pack_into_plain_integers():
    rows = np.array([[[3, 5, 7]], [[1, 2**24 - 1, 2**23]]])
    assert pack_entries(rows, 24) == [3 | 5 << 2 | 7 << 26, 1 | (2**24 - 1) << 2 | 1 << 49]
    assert all(type(word) is int for word in pack_entries(rows, 24))


def test_a_million_entries_do_not_take_long():
    start = time.monotonic()
    rows = table_rows(FREQUENCIES, 1.0, 1 << 16, 18)
    assert rows.shape == (1 << 16, 16, 3)
    assert time.monotonic() - start < 15  # 4 million within a minute


def test_what_no_table_can_hold_is_refused():
    with pytest.raises(InputError, match="the amplitude must be above 0"):
        table_rows([1.0], 2.5, 4, 18)
    with pytest.raises(InputError, match="inverse frequency of pair 0"):
        table_rows([math.nan], 1.0, 4, 18)
    with pytest.raises(ValueError, match=r"positions must be from 0 to 2\*\*24 - 1"):
        rows_at([1.0], 1.0, [1 << 24], 18)
