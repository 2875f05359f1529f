"""Linear, NTK, llama3, longrope and proportional frequencies against exact and published values."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from ropewalk.geometry.axes import section_axes
from ropewalk.geometry.scaled_frequencies import (
    dynamic_ntk_frequencies,
    fixed_ntk_frequencies,
    linear_frequencies,
    llama3_frequencies,
    longrope_amplitude,
    longrope_frequencies,
    ntk_frequencies,
    proportional_frequencies,
    proportional_pairs,
)

mp = mpmath.mp.clone()
mp.prec = 300


def nearest_double(value):
    """The double nearest to an mpf, by exact rational arithmetic."""
    sign, mantissa, exponent, _ = value._mpf_
    return float((-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent))


def plain(base, width):
    return [mp.power(mp.mpf(base), mp.mpf(-2 * i) / width) for i in range(width // 2)]


DIVISORS = [1.0 + 0.37 * i * i for i in range(48)]


def llama3(base, width, factor, low, high, original):
    made = []
    for inverse in plain(base, width):
        length = 2 * mp.pi / inverse
        if length > mp.mpf(original) / low:
            made.append(inverse / factor)
        elif length < mp.mpf(original) / high:
            made.append(inverse)
        else:
            smooth = (original / length - low) / (high - low)
            made.append((1 - smooth) * inverse / factor + smooth * inverse)
    return made


@pytest.mark.parametrize(
    ("ours", "exact"),
    [
        (linear_frequencies(1e4, 128, factor=7.3), lambda: [x / mp.mpf(7.3) for x in plain(1e4, 128)]),
        (ntk_frequencies(1e4, 128, alpha=4.0), lambda: plain(1e4 * mp.power(4, mp.mpf(128) / 126), 128)),
        (
            dynamic_ntk_frequencies(1e6, 96, factor=3.5, length=50_000, original=32768),
            lambda: plain(1e6 * mp.power(mp.mpf(3.5) * 50_000 / 32768 - 2.5, mp.mpf(96) / 94), 96),
        ),
        (
            fixed_ntk_frequencies(1e4, 64, factor=8.0),
            lambda: [x / mp.power(8, mp.mpf(2) / 64) for x in plain(8e4, 64)],
        ),
        (
            fixed_ntk_frequencies(1e4, 64, factor=8.0, mixed=0.625),
            lambda: [
                x / mp.exp(mp.log(8) / mp.power(32, mp.mpf(0.625)) * mp.power(i + 1, mp.mpf(0.625)))
                for i, x in enumerate(plain(1e4, 64))
            ],
        ),
        (
            llama3_frequencies(5e5, 64, factor=32.0, low=1.0, high=4.0, original=8192),
            lambda: llama3(5e5, 64, 32, 1, 4, 8192),
        ),
        (
            longrope_frequencies(1e4, 96, divisors=DIVISORS),
            lambda: [x / mp.mpf(by) for x, by in zip(plain(1e4, 96), DIVISORS, strict=True)],
        ),
        (
            proportional_frequencies(1e6, 512, fraction=0.25, factor=3.0),
            lambda: [x / 3 for x in plain(1e6, 512)[:64]] + [mp.mpf(0)] * 192,
        ),
    ],
    ids=["linear", "ntk", "dynamic", "vllm ntk", "mixed bases", "llama3", "longrope", "proportional"],
)
def test_frequencies_are_rounded_once(ours, exact):
    assert list(ours) == [nearest_double(value) for value in exact()]


def test_dynamic_ntk_up_to_the_original_length_changes_nothing():
    frequencies = linear_frequencies(1e4, 128, factor=1.0)
    for length in (1, 4095, 4096):
        assert dynamic_ntk_frequencies(1e4, 128, factor=4.0, length=length, original=4096) == frequencies


def test_dynamic_ntk_at_the_lengths_of_hugging_faces_state_machine():
    # transformers 5.24, factor 4, M 4096: calls at positions 10, 4095, 4096, 8191, 5000, 100, 4096 give pair 10 of 64
    # these values. The state is the longest length so far; it is forgotten in a call shorter than M.
    frequencies, state = [], 4096
    for position in (10, 4095, 4096, 8191, 5000, 100, 4096):
        length = position + 1
        if length > state:
            state = length
        if length < 4096 < state:
            state = 4096
        frequencies.append(dynamic_ntk_frequencies(1e4, 128, factor=4.0, length=state, original=4096)[10])
    expected = [0.237137, 0.237137, 0.237101, 0.183676, 0.183676, 0.237137, 0.237101]
    assert [round(value, 6) for value in frequencies] == expected


def test_llama3_keeps_mixes_and_slows_down():
    ours = np.array(llama3_frequencies(5e5, 64, factor=32.0, low=1.0, high=4.0, original=8192))
    ratio = 5e5 ** (-np.arange(32) / 32) / ours
    assert np.allclose(ratio[:15], 1)
    assert np.all((ratio[15:18] > 1.001) & (ratio[15:18] < 31.9))
    assert np.allclose(ratio[18:], 32)


def test_llama3_without_a_middle():
    ours = np.array(llama3_frequencies(5e5, 128, factor=16.0, low=1.0, high=1.0, original=8192))
    ratio = 5e5 ** (-np.arange(64) / 64) / ours
    turns = 5e5 ** (-np.arange(64) / 64) * 8192 / (2 * math.pi)
    assert np.allclose(ratio, np.where(turns < 1, 16.0, 1.0))


def test_longropes_amplitude():
    assert longrope_amplitude(32.0, 4096) == pytest.approx(1.1902380714238083, rel=1e-15)
    assert longrope_amplitude(1.0, 4096) == longrope_amplitude(0.5, 4096) == 1.0


def test_proportional_pairs_are_counted_as_the_software_counts():
    assert proportional_pairs(512, 0.25) == 64
    assert proportional_pairs(100, 0.33) == 16  # 33.0 // 2
    assert proportional_pairs(64, 1.0) == 32


def test_interleaved_sections_are_bounded():
    axes = section_axes([24, 20, 20], "interleaved")
    assert axes[:60] == (0, 1, 2) * 20
    assert axes[60:] == (0, 0, 0, 0)
    assert section_axes([11, 11, 10], "interleaved") == (0, 1, 2) * 10 + (0, 1)


def test_other_layouts_of_sections():
    assert section_axes([16, 24, 24], "contiguous") == (0,) * 16 + (1,) * 24 + (2,) * 24
    assert section_axes([22, 22, 20], "height-width") == (1, 2) * 22 + (0,) * 20
    assert section_axes([4], "interleaved") == section_axes([4], "contiguous") == (0,) * 4
