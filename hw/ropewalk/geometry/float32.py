"""Single-precision arithmetic, value by value, the same on every platform.

A float32 is held as the Python float of the same value. Sums, products and quotients of two are correctly rounded
because a double has more than twice their bits and two to spare, so that rounding twice is rounding once (Figueroa,
"When is double rounding innocuous?", 1995). Everything else goes through exact rationals or multiple precision.
"""

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .precise import precise

_SPARE = 60
"""Bits of a quotient that is about to be rounded: more than a float32 has, and no more than are quick."""


def f32(value: float) -> float:
    """``value`` rounded to the nearest float32, ties to even; infinite beyond the largest."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bits(value: float) -> int:
    """The 32 bits of a float32."""
    return int.from_bytes(struct.pack("<f", value), "little")


def add(a: float, b: float) -> float:
    """``a + b``."""
    return f32(a + b)


def sub(a: float, b: float) -> float:
    """``a - b``."""
    return f32(a - b)


def mul(a: float, b: float) -> float:
    """``a * b``."""
    return f32(a * b)


def div(a: float, b: float) -> float:
    """``a / b``; a division by zero is infinite, as in IEEE 754 (0 / 0 is not met here)."""
    return f32(a / b) if b else math.copysign(math.inf, a) * math.copysign(1.0, b)


def fma(a: float, b: float, c: float) -> float:
    """``a * b + c``, rounded once."""
    return round_exact(Fraction(a) * Fraction(b) + Fraction(c))


def round_exact(value: Fraction) -> float:
    """The rational ``value`` rounded to the nearest float32, ties to even."""
    if not value:
        return 0.0
    numerator, denominator = abs(value.numerator), value.denominator
    shift = _SPARE - numerator.bit_length() + denominator.bit_length()
    scaled = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
    # A last bit that says "there is more" decides every tie; the double that follows holds 53 bits, so cut to fewer.
    quotient, sticky = scaled[0] >> 10, bool(scaled[0] & 1023 or scaled[1])
    return f32(math.copysign(math.ldexp(quotient | sticky, 10 - shift), value.numerator))


def of_precise(evaluate: Callable[[Any], Any]) -> float:
    """The float32 nearest to the real number that ``evaluate`` computes in the context it is given.

    200 bits decide: the values met here are no ties, and none is within 2**-150 of one.
    """
    value = evaluate(precise)
    mantissa, exponent = value.man_exp  # without the sign
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return round_exact(-exact if value < 0 else exact)
