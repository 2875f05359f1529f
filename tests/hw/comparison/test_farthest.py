"""The exact largest difference of two angles, against looking at every position."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ropewalk.comparison.farthest import apart, farthest, first_between, radians

MODULI = st.sampled_from([2, 3, 7, 16, 64, 97, 256, 1000])


@settings(max_examples=500)
@given(st.data())
def test_the_farthest_position_is_that_of_a_search(data):
    modulus = data.draw(MODULI)
    difference = data.draw(st.integers(-modulus, 2 * modulus))
    positions = data.draw(st.integers(1, 80))
    found = farthest(difference, modulus, positions)
    searched = [apart(difference, modulus, position) for position in range(positions)]
    assert (found.difference, found.position) == (max(searched), searched.index(max(searched)))


@settings(max_examples=500)
@given(st.data())
def test_the_first_position_in_an_interval_is_that_of_a_search(data):
    modulus = data.draw(MODULI)
    step = data.draw(st.integers(-modulus, 2 * modulus))
    low = data.draw(st.integers(0, modulus - 1))
    high = data.draw(st.integers(low, modulus - 1))
    searched = [position for position in range(modulus) if low <= position * step % modulus <= high]
    assert first_between(step, modulus, low, high) == (searched[0] if searched else None)


@settings(max_examples=30)
@example(1)
@example((1 << 48) - 1)
@given(st.integers(0, (1 << 48) - 1))
def test_48_bit_steps_over_all_positions(difference):
    found = farthest(difference, 1 << 48, 1 << 24)
    assert apart(difference, 1 << 48, found.position) == found.difference
    assert 0 <= found.position < 1 << 24
    some = {0, 1, 2, 3, 1000, (1 << 24) - 1, found.position - 1, found.position + 1}
    assert all(apart(difference, 1 << 48, position) <= found.difference for position in some if 0 <= position < 1 << 24)


@pytest.mark.parametrize(("difference", "wanted"), [(1, 2 * math.pi / 16), (4, math.pi / 2), (8, math.pi)])
def test_radians(difference, wanted):
    assert radians(difference, 16) == pytest.approx(wanted, rel=1e-15)
