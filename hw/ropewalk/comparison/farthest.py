"""How far two steps drift apart: the largest difference of their angles over a range of positions, exactly.

The difference of two steps is a step itself, D / M turns per position, and its phase at position p is p D mod M. The
first p at which that phase lies in an interval follows from a descent like Euclid's algorithm, in a time that grows
with the logarithm of M; the farthest is found by halving the interval around half a turn.
"""

from dataclasses import dataclass

from ..geometry.precise import nearest, precise


@dataclass(frozen=True)
class Farthest:
    """The largest difference of two angles, 0 to half a turn, and the first position that has it."""

    position: int
    difference: int
    modulus: int

    @property
    def radians(self) -> float:
        """The difference in radians."""
        return radians(self.difference, self.modulus)


def radians(difference: int, modulus: int) -> float:
    """``difference / modulus`` turns in radians, the nearest double."""
    return nearest(2 * precise.pi * difference / modulus)


def apart(difference: int, modulus: int, position: int) -> int:
    """How far apart two phases are at ``position``, 0 to modulus / 2, if their steps differ by ``difference``."""
    phase = position * difference % modulus
    return min(phase, modulus - phase)


def farthest(difference: int, modulus: int, positions: int) -> Farthest:
    """The largest difference at positions 0 to ``positions - 1`` of steps that differ by ``difference / modulus``.

    Parameters
    ----------
    difference, modulus
        Integers; ``modulus`` is above 0.
    positions
        At least 1.
    """
    low, high = 0, modulus // 2  # reached, and perhaps reached
    where = 0
    last = apart(difference, modulus, positions - 1)
    if last > low:
        low, where = last, positions - 1
    while low < high:
        middle = (low + high + 1) // 2
        position = reached(difference, modulus, positions, middle)
        if position is None:
            high = middle - 1
        else:
            low, where = apart(difference, modulus, position), position
    first = reached(difference, modulus, positions, low)
    return Farthest(where if first is None else first, low, modulus)


def reached(difference: int, modulus: int, positions: int, least: int) -> int | None:
    """The first of the positions 0 to ``positions - 1`` at which phases are ``least`` or more apart, or None."""
    if least > modulus - least:
        return None
    first = first_between(difference, modulus, least, modulus - least)
    return first if first is not None and first < positions else None


def first_between(step: int, modulus: int, low: int, high: int) -> int | None:
    """The first position p >= 0 with ``low <= p * step % modulus <= high``, or None; ``0 <= low <= high < modulus``.

    ``low`` may equal ``modulus - low``, as it does at half a turn.
    """
    if low <= 0:
        return 0
    step %= modulus
    if step == 0:
        return None
    if 2 * step > modulus:
        return first_between(modulus - step, modulus, modulus - high, modulus - low)
    multiple = -(-low // step)
    if multiple * step <= high:
        return multiple
    # No multiple in the first turn. In turn y one falls between iff -y modulus, modulo the step, does: a smaller
    # problem.
    turn = first_between(modulus % step, step, -high % step, -low % step)
    return None if turn is None else -(-(low + modulus * turn) // step)
