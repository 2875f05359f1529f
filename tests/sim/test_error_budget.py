"""The bounds that docs/number-contract.md states, by going through every phase there is.

The truth is a double's cosine and sine of the exact place in the octant: good to 1e-10 of what is measured.
"""

import math

import numpy as np
import pytest
from ropewalk.sine_format import SineFormat
from ropewalk_sim.model import magnitudes

YARN = 0.1 * math.log(4) + 1  # amplitude of YaRN with factor 4, eq. 22 of the paper


def octant_words(width, phase_bits, place):
    """Cosine and sine, M fraction bits, at the places ``place`` of the first octant."""
    fmt = SineFormat(coefficient_width=width, phase_bits=phase_bits)
    shift = np.uint64(phase_bits - fmt.reduced_phase_bits)
    quadrant, cosine, sine = magnitudes(fmt, place.astype(np.uint64) << shift)
    assert not quadrant.any()
    return cosine, sine


def test_every_phase_of_the_default_widths():
    """C = 18, P = 48: the error of a coefficient pair at every one of the 2**26 places of the octant.

    A phase is off by up to 2**-25 turns (half a unit of the step, 2**24 positions) and up to 2**-29 (truncation).
    The other octants mirror this one.
    """
    word = 149242
    stored = word / 2**17
    one, turn = 1 << 17, 2 * math.pi
    off = turn * (2**-25 + 2**-29) * one
    worst = {"corrected": 0.0, "one": 0.0, "both": 0.0, "box": 0.0, "ball": 0.0, "yarn": 0.0}
    block = 1 << 16
    for start in range(0, 1 << 26, block):
        place = np.arange(start, start + block)
        cosine, sine = octant_words(18, 48, place)
        angle = place * (turn / 2**29)
        exact_cosine, exact_sine = np.cos(angle) * one, np.sin(angle) * one
        corrected = np.maximum(np.abs(cosine / 16 - exact_cosine), np.abs(sine / 16 - exact_sine))
        cosine_error = (cosine + 8 >> 4) - exact_cosine
        sine_error = (sine + 8 >> 4) - exact_sine
        found = {
            "corrected": corrected,
            "one": np.maximum(np.abs(cosine_error), np.abs(sine_error)),
            "both": np.abs(cosine_error) + np.abs(sine_error),
        }
        # Both bounds are convex in the phase's error, so they are largest at its ends.
        tilt_cosine, tilt_sine = exact_sine * (off / one), exact_cosine * (off / one)
        yarn_cosine = (cosine * word + (1 << 20) >> 21) - stored * exact_cosine
        yarn_sine = (sine * word + (1 << 20) >> 21) - stored * exact_sine
        for sign in (-1, 1):
            first, second = cosine_error + sign * tilt_cosine, sine_error - sign * tilt_sine
            found["box"] = np.abs(first) + np.abs(second)
            found["ball"] = np.hypot(first, second)
            found["yarn"] = np.abs(yarn_cosine + stored * sign * tilt_cosine)
            found["yarn"] += np.abs(yarn_sine - stored * sign * tilt_sine)
            for name, values in found.items():
                worst[name] = max(worst[name], float(values.max()))
    # An LSB of 16-bit data is 2**-15 of full scale, that of a coefficient 2**-17 of 1: a quarter.
    assert worst["corrected"] < 0.069
    assert worst["one"] < 0.568
    assert worst["both"] < 1.113
    assert worst["box"] < 1.123
    assert 0.5 + 0.7 / 4 * worst["box"] < 0.697
    assert worst["ball"] < 0.795
    assert 0.5 + 1 / 4 * worst["ball"] < 0.700
    assert worst["yarn"] < 1.132
    # The amplitude word is off by a fraction of the result, which is at most full scale: more saturates.
    assert 0.5 + 0.7 / 4 * worst["yarn"] + 2**15 * abs(1 - stored / YARN) < 0.796


@pytest.mark.parametrize("width", range(8, 25))
def test_ranges_and_errors_at_every_width(width):
    """Cosine and sine stay in 0 to 1 inclusive and within 0.0700 LSB of the coefficient, for every P.

    Inside a cell both are monotone (the slopes are not negative), so a cell's two ends bound its range; we take the
    ends and places between, in every cell.
    """
    for phase_bits in sorted({*range(16, width + 12), 48}):
        fmt = SineFormat(coefficient_width=width, phase_bits=phase_bits)
        size = 1 << fmt.cell_bits
        within = np.unique(np.concatenate([np.linspace(0, size - 1, 9).astype(int), [size // 2, size - 1]]))
        place = (np.arange(1 << fmt.index_bits)[:, None] * size + within).reshape(-1)
        octant = 1 << fmt.octant_bits
        place = np.concatenate([place, [octant], 2 * octant - place])
        place = place[place < 2 * octant]
        cosine, sine = octant_words(width, phase_bits, place)
        one = 1 << fmt.magnitude_fraction_bits
        assert min(cosine.min(), sine.min()) == 0
        assert max(cosine.max(), sine.max()) == one
        angle = place * (math.pi / 4 / octant)
        assert np.abs(cosine - one * np.cos(angle)).max() / 16 < 0.0700
        assert np.abs(sine - one * np.sin(angle)).max() / 16 < 0.0700
