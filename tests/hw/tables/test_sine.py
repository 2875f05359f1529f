"""The sine ROM's words against multiple precision and against the widths that the contract promises."""

import hashlib

import mpmath
import pytest
from ropewalk.sine_format import SineFormat
from ropewalk.tables import pack, sine_words

WIDTHS = range(8, 25)


def words_of(width, phase_bits=48):
    return sine_words(SineFormat(coefficient_width=width, phase_bits=phase_bits))


@pytest.mark.parametrize("width", [8, 17, 18])
def test_words_follow_the_contract(width):
    index_bits = -(-width // 2)
    with mpmath.workdps(60):
        rho = 1 - (mpmath.pi / (8 * 2**index_bits)) ** 2 / 4
        for k, word in enumerate(words_of(width)):
            theta = mpmath.pi / 4 * (k + mpmath.mpf(1) / 2) / 2**index_bits
            exact = (
                rho * mpmath.sin(theta) * 2 ** (width + 4),
                (1 - rho * mpmath.cos(theta)) * 2 ** (width + 4),
                mpmath.pi / 4 * mpmath.cos(theta) * 2 ** (index_bits + 5),
                mpmath.pi / 4 * mpmath.sin(theta) * 2 ** (index_bits + 5),
            )
            assert all(
                -0.5 <= value - real < 0.5 or value - real == 0.5 for value, real in zip(word, exact, strict=True)
            )


@pytest.mark.parametrize("width", WIDTHS)
def test_fields_fit_and_rise_and_fall_as_a_sine_does(width):
    words = words_of(width)
    index_bits = -(-width // 2)
    assert len(words) == 2**index_bits
    columns = list(zip(*words, strict=True))
    for values, bits in zip(columns, (width + 4, width + 3, index_bits + 5, index_bits + 5), strict=True):
        assert min(values) >= 0
        assert max(values) < 2**bits
    sine, versine, sine_slope, cosine_slope = columns
    assert all(a < b for a, b in zip(sine, sine[1:], strict=False))
    assert all(a <= b for a, b in zip(versine, versine[1:], strict=False))
    assert all(a >= b for a, b in zip(sine_slope, sine_slope[1:], strict=False))
    assert all(a <= b for a, b in zip(cosine_slope, cosine_slope[1:], strict=False))


def test_packing_puts_the_sine_lowest():
    fmt = SineFormat(coefficient_width=18, phase_bits=48)
    word = sine_words(fmt)[300]
    packed = pack(word, fmt)
    assert type(packed) is int
    assert packed & (1 << 22) - 1 == word.sine
    assert packed >> 22 & (1 << 21) - 1 == word.versine
    assert packed >> 43 & (1 << 14) - 1 == word.sine_slope
    assert packed >> 57 == word.cosine_slope
    assert packed < 1 << fmt.word_bits == 1 << 71


def test_phase_bits_do_not_change_the_words():
    assert words_of(12, 16) == words_of(12, 48)


def test_words_are_the_same_everywhere():
    # Recomputed when this test was written, with 60 digits, by the loop of the first test for C = 18.
    fmt = SineFormat(coefficient_width=18, phase_bits=48)
    text = "\n".join(f"{pack(word, fmt):018x}" for word in sine_words(fmt))
    with mpmath.workdps(60):
        lines = []
        rho = 1 - (mpmath.pi / 4096) ** 2 / 4
        for k in range(512):
            theta = mpmath.pi * (2 * k + 1) / 4096
            s, c = mpmath.sin(theta), mpmath.cos(theta)
            scaled = (rho * s * 2**22, (1 - rho * c) * 2**22, mpmath.pi / 4 * c * 2**14, mpmath.pi / 4 * s * 2**14)
            a, b, g, h = (int(mpmath.floor(value + mpmath.mpf(1) / 2)) for value in scaled)
            lines.append(f"{a | b << 22 | g << 43 | h << 57:018x}")
    assert hashlib.sha256(text.encode()).hexdigest() == hashlib.sha256("\n".join(lines).encode()).hexdigest()
