"""Steps and amplitude words against exact arithmetic written here."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.tables import amplitude_word, step_words

# 1/(2 pi) to 60 decimals, from published digits of 1/pi halved.
INVERSE_TWO_PI = Fraction("0.159154943091895335768883763372514362034459645740456448747667")


def test_one_radian_per_position_is_the_published_constant():
    assert step_words([1.0], 48) == (math.floor(INVERSE_TWO_PI * 2**48 + Fraction(1, 2)),)


@given(
    frequency=st.floats(min_value=1e-12, max_value=1e6, allow_nan=False),
    phase_bits=st.integers(min_value=16, max_value=96),
)
def test_every_step_is_within_half_a_unit_of_the_fraction(frequency, phase_bits):
    (step,) = step_words([frequency], phase_bits)
    turns = Fraction(frequency) * INVERSE_TWO_PI * 2**phase_bits
    distance = abs((turns - step + 2 ** (phase_bits - 1)) % 2**phase_bits - 2 ** (phase_bits - 1))
    # The constant's own error, 1e-60, is all that may come on top.
    assert distance <= Fraction(1, 2) + Fraction(frequency) * 2**phase_bits / 10**59
    assert 0 <= step < 2**phase_bits


def test_wrap_and_rounding_to_a_whole_turn():
    # A little less than one turn per position rounds up to a whole turn, which is none.
    just_below = math.nextafter(2 * math.pi, 0)
    assert step_words([just_below], 16) == (0,)
    assert step_words([just_below], 48) == (0,)
    assert step_words([just_below], 96)[0] > 2**96 - 2**50
    # A double carries 53 bits: this one is more than a turn, by what a multiple-precision division says.
    with mpmath.workprec(300):
        expected = int(mpmath.floor(mpmath.mpf(1e6) / (2 * mpmath.pi) * 2**48 + 0.5)) % 2**48
    assert step_words([1e6], 48) == (expected,)


def test_zero_frequency_stands_still_and_words_are_plain_integers():
    words = step_words([0.0, 0.5], 48)
    assert words[0] == 0
    assert all(type(word) is int for word in words)
    assert type(amplitude_word(1.25)) is int


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_a_frequency_that_is_none_is_refused(bad):
    with pytest.raises(InputError, match="inverse frequency of pair 1 must be a finite number"):
        step_words([1.0, bad], 48)


@pytest.mark.parametrize(
    ("amplitude", "word"),
    [
        (1.0, 131072),
        (1.1386294361119891, 149242),  # YaRN, factor 4: 0.1 ln 4 + 1; 149242.44 in units of 2**-17
        (2 - 2**-17, 262143),
        (2**-17, 1),
        (2**-18, 1),  # a tie goes up
        (1 + 2**-18, 131073),
        (1 + 2**-19, 131072),
    ],
)
def test_amplitude_words(amplitude, word):
    assert amplitude_word(amplitude) == word


@pytest.mark.parametrize("bad", [0.0, -1.0, 2.0, 2 - 2**-18, 2**-19, math.nan, math.inf])
def test_amplitudes_that_do_not_fit_are_refused(bad):
    with pytest.raises(InputError, match=r"the amplitude must be above 0 .* and at most 1\.99999237060546"):
        amplitude_word(bad)
