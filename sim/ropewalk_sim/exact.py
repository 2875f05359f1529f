"""The exact angle: an independent witness of every rotation, written from the papers.

It shares no code with the generator of tables or the fixed-point model (it imports nothing of ``ropewalk``), so that an
error in one of them cannot hide in both. Frequencies are multiple-precision numbers, phases are integers of 96 bits,
and only the last step is a double.

Sources: Su et al., "RoFormer" (arXiv 2104.09864); Peng et al., "YaRN" (arXiv 2309.00071) and its published code;
Wang et al., "Qwen2-VL" (arXiv 2409.12191), and the published code of Qwen3-VL, for positions of several axes.
"""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

_context: Any = mpmath.mp.clone()  # mpmath has no types to speak of
_context.prec = 256

PHASE_BITS = 96
"""Fraction bits of a step and of a phase, in turns. At position 2**32 the step's own rounding is 2**-65 turns."""


def exact_inverse_frequency(
    base: float,
    dim: int,
    *,
    factor: float | None = None,
    original: float | None = None,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> list[mpmath.mpf]:
    """Inverse frequencies in radians per position, one per pair, with 256 bits.

    Without ``factor`` plain RoPE: theta_i = base ** (-2 i / dim). With ``factor`` (and ``original``, the context length
    that the model was trained at) YaRN: pair i turns ``original * theta_i / (2 pi)`` times over that context; it keeps
    its frequency where that is ``beta_fast`` turns or more, is slowed down by ``factor`` where it is ``beta_slow`` or
    less, and in between is mixed linearly in i. ``truncate`` widens the stretch between to whole pairs.
    """
    theta = [_context.mpf(base) ** (_context.mpf(-2 * i) / dim) for i in range(dim // 2)]
    if factor is None:
        return theta
    if original is None:
        raise ValueError("YaRN needs the original context length")

    def pair_that_turns(times: float) -> mpmath.mpf:
        # original * base ** (-2 i / dim) == 2 pi times, solved for i
        return _context.log(2 * _context.pi * times / _context.mpf(original), base) * dim / -2

    kept = pair_that_turns(beta_fast)
    slowed = pair_that_turns(beta_slow)
    if truncate:
        kept, slowed = _context.floor(kept), _context.ceil(slowed)
    if kept < 0:
        kept = _context.mpf(0)
    if slowed > dim - 1:
        slowed = _context.mpf(dim - 1)
    if kept == slowed:
        slowed += _context.mpf("0.001")
    result = []
    for i, frequency in enumerate(theta):
        share = (slowed - i) / (slowed - kept)  # of the unchanged frequency
        share = 0 if share < 0 else 1 if share > 1 else share
        result.append(frequency * (share + (1 - share) / _context.mpf(factor)))
    return result


def exact_axes(sections: Sequence[int], *, interleaved: bool = False) -> list[int]:
    """The axis of the position (0 time, 1 height, 2 width) that each pair follows, of ``sum(sections)`` pairs.

    Qwen2-VL (mrope): the sections stand one after the other. Qwen3-VL (``interleaved``): pair i follows height where
    i mod 3 is 1 and i < 3 x the second section, width where i mod 3 is 2 and i < 3 x the third, and time elsewhere.
    """
    followed = []
    for pair in range(sum(sections)):
        if interleaved:
            axis = pair % 3
            followed.append(axis if axis and pair < 3 * sections[axis] else 0)
        else:
            followed.append(0 if pair < sections[0] else 1 if pair < sections[0] + sections[1] else 2)
    return followed


def exact_turns(
    inverse_frequency: Sequence[mpmath.mpf | float], positions: ArrayLike, axis: Sequence[int] | None = None
) -> NDArray[np.float64]:
    """The angle of every pair at every position, in turns modulo 1: float64 ``[..., pairs]``, good to 2**-53 turns.

    Parameters
    ----------
    inverse_frequency
        Radians per position, one per pair, each taken exactly (a double is the value that it holds).
    positions
        Integers from 0 to 2**32 - 1, of any shape ``[...]``; with ``axis`` ``[..., axes]``.
    axis
        The axis that each pair follows, where positions have several.
    """
    given = np.asarray(positions)
    if given.dtype.kind not in "iu" or (given.size and (given.min() < 0 or given.max() >= 1 << 32)):
        raise ValueError("positions must be integers from 0 to 2**32 - 1")
    position = given.astype(np.uint64)
    position = position[..., None] if axis is None else position[..., list(axis)]
    limbs = np.zeros((3, len(inverse_frequency)), np.uint64)
    for pair, frequency in enumerate(inverse_frequency):
        turns = _context.mpf(frequency) / (2 * _context.pi)
        step = int(_context.floor(_context.ldexp(turns, PHASE_BITS) + _context.mpf(0.5))) % (1 << PHASE_BITS)
        for limb in range(3):
            limbs[limb, pair] = (step >> (32 * limb)) & 0xFFFFFFFF
    # position times step modulo 2**96, by limbs of 32 bits: no partial sum leaves 64 bits but the last, whose
    # overflow is whole turns
    low = position * limbs[0]
    middle = position * limbs[1] + (low >> np.uint64(32))
    high = position * limbs[2] + (middle >> np.uint64(32))
    word = (high << np.uint64(32)) | (middle & np.uint64(0xFFFFFFFF))
    result = np.ldexp(word.astype(np.float64), -64)
    return np.where(result == 1.0, 0.0, result)  # a phase just under one turn rounds to it


def exact_cosine_sine(turns: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of ``turns``, to an ulp or so: reduced exactly to an eighth of a turn first."""
    value = np.asarray(turns, np.float64)
    quarter = np.rint(4.0 * value)
    rest = 2.0 * np.pi * (value - quarter / 4.0)
    cosine, sine = np.cos(rest), np.sin(rest)
    which = quarter.astype(np.int64) & 3
    return (
        np.choose(which, [cosine, -sine, -cosine, sine]),
        np.choose(which, [sine, cosine, -sine, -cosine]),
    )


def exact_rotation(x: ArrayLike, turns: ArrayLike, amplitude: ArrayLike = 1.0) -> NDArray[np.float64]:
    """``x`` rotated by ``turns`` and scaled by ``amplitude``, in float64, not rounded to any format.

    ``x`` is ``[..., pairs, 2]``, ``turns`` broadcasts to ``[..., pairs]``; the result is as ``x``. Pair (x, y) becomes
    ``(x cos - y sin, x sin + y cos) * amplitude`` (RoFormer, equation 34).
    """
    pairs = np.asarray(x, np.float64)
    cosine, sine = exact_cosine_sine(turns)
    first, second = pairs[..., 0], pairs[..., 1]
    rotated = np.stack([first * cosine - second * sine, first * sine + second * cosine], axis=-1)
    return rotated * np.asarray(amplitude, np.float64)
