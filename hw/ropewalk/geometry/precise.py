"""Multiple precision that rounds once: what every frequency and amplitude is evaluated with.

Everything is evaluated with :data:`PRECISION` bits by mpmath and rounded to nearest, ties to even, at the very end. No
result depends on a platform's libm, so a geometry is the same doubles, and every table made from it the same integers,
on any machine.
"""

from collections.abc import Sequence
from typing import Any

from mpmath import mp as _global_context
from mpmath import mpf

PRECISION = 200
"""Bits of every intermediate result."""

# A context of our own: the precision of the caller's mpmath is neither used nor touched. (Any: it has no types.)
precise: Any = _global_context.clone()
precise.prec = PRECISION


def powers(logarithm: mpf, width: int) -> list[mpf]:
    """``b ** (-2 i / d)`` of each pair, from ``ln b`` and d; an odd d has one pair more than d / 2."""
    return [precise.exp(-logarithm * 2 * pair / width) for pair in range((width + 1) // 2)]


def log(value: float) -> mpf:
    """The natural logarithm of a double, not rounded."""
    return precise.log(precise.mpf(value))


def round_all(values: Sequence[mpf]) -> tuple[float, ...]:
    """The nearest double of each value."""
    return tuple(nearest(value) for value in values)


def nearest(value: mpf) -> float:
    """The nearest double, ties to even: what Python's division of integers gives, on every platform."""
    mantissa, exponent = value.man_exp
    mantissa, exponent = int(mantissa) if value >= 0 else -int(mantissa), int(exponent)  # mpmath's has no sign
    if exponent >= 0:
        return float(mantissa << exponent)
    return mantissa / (1 << -exponent)
