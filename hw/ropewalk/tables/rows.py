"""Rows of the full table: the correctly rounded cosine and sine of every pair at given positions.

Arithmetic: ``docs/number-contract.md``, "Table source". The angle is exact: the double inverse frequency times
the position, reduced modulo one turn with 96 fraction bits in integers. Doubles then do the bulk, and multiple
precision decides each entry that they cannot.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..design import POSITION_BITS
from .rounding import context_of, round_half_up
from .steps import amplitude_word, check_frequency, step_words

_STEP_BITS = 96

# How near to a rounding boundary, in coefficient LSBs, a double is not trusted. A double's value carries: the turns'
# rounding to 53 bits (2**-53 of a quarter turn, so 2**-53 of 1.0 times pi/2), the product with pi/2 (2**-53 times
# pi/2), the library's sine or cosine (a few 2**-53; we grant it 1000), two products (2 x 2**-53). Together below
# 1010 * 2**-53 of 1.0, hence below 2**-43 * 2 * 2**23 = 2**-19 LSB for the widest coefficient (C = 24, amplitude 2).
_MARGIN = math.ldexp(1.0, -18)

_CHUNK = 1 << 18


def table_rows(
    inverse_frequency: Sequence[float], amplitude: float, positions: int, coefficient_width: int
) -> NDArray[np.int64]:
    """Rows of positions 0 to ``positions - 1``; see :func:`rows_at`.

    Returns
    -------
    int64 ``[positions, pairs, 3]``: quadrant, cos, sin.
    """
    return rows_at(inverse_frequency, amplitude, np.arange(positions, dtype=np.int64), coefficient_width)


def rows_at(
    inverse_frequency: Sequence[float], amplitude: float, positions: ArrayLike, coefficient_width: int
) -> NDArray[np.int64]:
    """Correctly rounded rows at ``positions``.

    Parameters
    ----------
    inverse_frequency
        Radians per position, one per pair, as the exact values of the doubles.
    amplitude
        On cosine and sine alike, as the exact value of the double (not its 18-bit word).
    positions
        Integers ``[n]`` from 0 to 2**24 - 1.
    coefficient_width
        C: words have C - 1 fraction bits and saturate at 2**C - 1.

    Returns
    -------
    int64 ``[n, pairs, 3]``: quadrant of the exact angle, and the first-quadrant magnitudes cos and sin.

    Raises
    ------
    InputError
        If a frequency or the amplitude cannot be had in hardware.
    """
    amplitude_word(amplitude)
    for pair, frequency in enumerate(inverse_frequency):
        check_frequency(frequency, pair)
    where = np.asarray(positions, dtype=np.int64).reshape(-1)
    if where.size and (int(where.min()) < 0 or int(where.max()) >> POSITION_BITS):
        raise ValueError(f"positions must be from 0 to 2**{POSITION_BITS} - 1")
    frequencies = tuple(float(frequency) for frequency in inverse_frequency)
    rows = np.empty((where.size, len(frequencies), 3), dtype=np.int64)
    for start in range(0, where.size, _CHUNK):
        part = where[start : start + _CHUNK]
        for pair, step in enumerate(step_words(frequencies, _STEP_BITS)):
            turns = turns_of(step, part)
            rows[start : start + _CHUNK, pair] = _entries(turns, part, frequencies[pair], amplitude, coefficient_width)
    return rows


def turns_of(step: int, positions: NDArray[np.int64]) -> NDArray[np.uint64]:
    """``position * step`` modulo one turn, the top 64 of its 96 bits.

    ``step`` is rounded to 2**-97 turns, so the product is within 2**-73 turns of the truth; with the bits cut off
    below 2**-64 the result lies less than 2 units of 2**-64 from it.
    """
    place = positions.astype(np.uint64)
    low, middle, high = (np.uint64(step >> shift & 0xFFFFFFFF) for shift in (0, 32, 64))
    word, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    # 24 x 32-bit products and a carry stay below 2**57.
    carried = place * middle + (place * low >> half)
    return ((place * high + (carried >> half)) << half) | (carried & word)


def _entries(
    turns: NDArray[np.uint64], positions: NDArray[np.int64], frequency: float, amplitude: float, width: int
) -> NDArray[np.int64]:
    """Entries ``[n, 3]`` of one pair."""
    quadrant = (turns >> np.uint64(62)).astype(np.int64)
    place = turns & np.uint64((1 << 62) - 1)
    angle = place.astype(np.float64) * math.ldexp(1.0, -62) * (np.pi / 2)
    scale = math.ldexp(amplitude, width - 1)
    shifted = np.stack((np.cos(angle), np.sin(angle)), axis=-1) * scale + 0.5
    words = np.floor(shifted)
    near = np.any(np.abs(shifted - np.rint(shifted)) < _MARGIN, axis=-1)
    # The quadrant itself is in doubt where the truth may lie across its edge.
    near |= (place < 4) | (place >= (1 << 62) - 4)
    maximum = (1 << width) - 1
    entries = np.concatenate((quadrant[:, None], np.minimum(words.astype(np.int64), maximum)), axis=-1)
    for index in np.flatnonzero(near):
        entries[index] = _exact_entry(frequency, int(positions[index]), amplitude, width)
    return entries


def _exact_entry(frequency: float, position: int, amplitude: float, width: int) -> tuple[int, int, int]:
    """One entry by multiple precision."""
    maximum = (1 << width) - 1
    if frequency == 0 or position == 0:
        numerator, denominator = amplitude.as_integer_ratio()
        cosine = (2 * (numerator << (width - 1)) + denominator) // (2 * denominator)
        return 0, min(cosine, maximum), 0

    # Else the angle is rational and not 0, its sine and cosine are transcendental: no tie, and no edge, is met.
    def scaled(ctx: Any, function: str) -> Any:
        value = getattr(ctx, function)(ctx.mpf(frequency) * position)
        return ctx.ldexp(ctx.mpf(amplitude) * value, width - 1)

    # A cosine or sine of a double times 24 bits is never within 2**-600 of zero without being it, so its sign is
    # certain in any context whose precision is relative to the result, as mpmath's is.
    context = context_of(200)
    cosine_sign = scaled(context, "cos") < 0
    sine_sign = scaled(context, "sin") < 0
    quadrant = {(False, False): 0, (True, False): 1, (True, True): 2, (False, True): 3}[cosine_sign, sine_sign]
    cosine = round_half_up(lambda ctx: abs(scaled(ctx, "cos")))
    sine = round_half_up(lambda ctx: abs(scaled(ctx, "sin")))
    if quadrant % 2:
        cosine, sine = sine, cosine
    return quadrant, min(cosine, maximum), min(sine, maximum)


def pack_entries(rows: NDArray[np.int64], coefficient_width: int) -> list[int]:
    """Rows ``[..., 3]`` as memory words, flattened in order (position by position, pair by pair).

    A word is ``quadrant | cos << 2 | sin << (2 + C)``: plain integers, as memories take them.
    """
    words = np.asarray(rows).astype(np.uint64).reshape(-1, 3)
    packed = words[:, 0] | words[:, 1] << np.uint64(2) | words[:, 2] << np.uint64(2 + coefficient_width)
    return packed.tolist()
