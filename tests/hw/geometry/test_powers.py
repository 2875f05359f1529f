"""Single-precision powers against the libraries that they follow, and the arithmetic under them against rationals."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ropewalk.geometry.float32 import add, bits, div, f32, fma, mul, of_precise, round_exact, sub
from ropewalk.geometry.powers import libm_pow, sleef_pow
from ropewalk.geometry.software import VECTOR

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def measured():
    with np.load(DATA / "software_powers.npz") as arrays:
        return dict(arrays)


def test_powers_of_torch_bit_for_bit(measured):
    # Whole vectors by SLEEF, the rest of each tensor by the libm.
    start = vectors = 0
    for base, width in zip(measured["base"].tolist(), measured["width"].tolist(), strict=True):
        count = (width + 1) // 2
        whole = count - count % VECTOR
        vectors += whole
        for pair in range(count):
            power = sleef_pow if pair < whole else libm_pow
            assert power(f32(base), div(2.0 * pair, float(width))) == measured["power"][start + pair]
        start += count
    assert start == len(measured["power"])
    assert vectors > 1000


def test_powers_of_glibc_bit_for_bit(measured):
    found = [
        libm_pow(base, exponent)
        for base, exponent in zip(measured["libm_base"].tolist(), measured["libm_exponent"].tolist(), strict=True)
    ]
    assert np.array_equal(np.array(found, np.float32), measured["libm_power"])


def test_the_libraries_differ_and_neither_is_correctly_rounded(measured):
    # Why a correctly rounded power would not do.
    arguments = list(zip(measured["libm_base"].tolist(), np.abs(measured["libm_exponent"]).tolist(), strict=True))
    wrong = {sleef_pow: 0, libm_pow: 0}
    for base, exponent in arguments:
        exact = of_precise(lambda ctx, base=base, exponent=exponent: ctx.mpf(base) ** ctx.mpf(exponent))
        for power in wrong:
            found = power(base, exponent)
            assert abs(bits(found) - bits(exact)) <= 1
            wrong[power] += found != exact
    assert 0 < wrong[sleef_pow] < len(arguments) / 20
    assert 0 < wrong[libm_pow] < len(arguments) / 20


SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**60), max_value=2.0**60)


@given(SINGLES, SINGLES, SINGLES)
@example(1.0, 1.0, 2.0**-24)  # a tie
@example(1.0 + 2.0**-23, 1.0 + 2.0**-23, -1.0)
@example(3.0, 2.0**-149, 2.0**-126)
def test_a_fused_multiply_add_is_the_nearest_float32(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    found = fma(a, b, c)
    assert f32(found) == found
    for neighbour in (np.nextafter(np.float32(found), np.float32(side)) for side in (-np.inf, np.inf)):
        mine, other = abs(Fraction(found) - exact), abs(Fraction(float(neighbour)) - exact)
        assert mine < other or (mine == other and bits(found) % 2 == 0)


@given(SINGLES, SINGLES)
def test_operations_are_those_of_numpys_float32(a, b):
    x, y = np.float32(a), np.float32(b)
    with np.errstate(all="ignore"):
        pairs = [(add, x + y), (sub, x - y), (mul, x * y)] + ([(div, x / y)] if b else [])
    for operation, expected in pairs:
        assert operation(a, b) == expected


def test_ends_of_the_range():
    assert f32(1e39) == math.inf
    assert f32(-1e39) == -math.inf
    assert div(1.0, 0.0) == math.inf
    assert div(-1.0, 0.0) == -math.inf
    assert round_exact(Fraction(0)) == 0.0
    assert round_exact(Fraction(1, 3 * 2**140)) == f32(2.0**-140 / 3)  # subnormal
