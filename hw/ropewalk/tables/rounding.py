"""Correct rounding of a real number, by raising the precision until the answer is beyond doubt (Ziv's method)."""

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath

_FIRST_PRECISION = 160
_LAST_PRECISION = 1 << 15

# Bits by which an evaluation may be worse than its working precision. A dozen correctly rounded operations lose
# fewer than 5; the rest is margin.
_LOST_BITS = 16

# Absolute errors are judged as if every value reached this magnitude, so that a difference of larger terms
# (1 - rho cos theta) needs no error analysis of its own. All our scaled terms stay below 2**64.
_SMALLEST_MAGNITUDE = 64


@cache
def context_of(precision: int) -> Any:
    """An mpmath context of ``precision`` bits, our own: the global one is left alone."""
    context: Any = mpmath.mp.clone()
    context.prec = precision
    return context


def round_half_up(evaluate: Callable[[Any], Any]) -> int:
    """The integer ``floor(x + 1/2)`` for the real number x that ``evaluate`` computes.

    Parameters
    ----------
    evaluate
        Takes an mpmath context (``ctx.pi``, ``ctx.cos``, ``ctx.mpf`` ...) and returns x to its precision.
        Terms that cancel must stay below 2**64.

    Raises
    ------
    ArithmeticError
        If x is a tie, or nearer to one than 2**-32000: ties are for the caller to treat exactly.
    """
    precision = _FIRST_PRECISION
    while precision <= _LAST_PRECISION:
        context = context_of(precision)
        value = evaluate(context)
        magnitude = max(int(context.mag(value)) if value else 0, _SMALLEST_MAGNITUDE)
        error = context.ldexp(1, magnitude + _LOST_BITS - precision)
        low = int(context.floor(value - error + 0.5))
        high = int(context.floor(value + error + 0.5))
        if low == high:
            return low
        precision *= 2
    raise ArithmeticError("a value to be rounded is a tie, or nearer to one than multiple precision was asked to tell")
