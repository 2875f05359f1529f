"""Steps (turns per position) and the amplitude word of a variant.

Arithmetic: ``docs/number-contract.md``, "Steps and phases" and "Amplitude".
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from ..design import AMPLITUDE
from ..errors import InputError
from .rounding import round_half_up


def step_words(inverse_frequency: Sequence[float], phase_bits: int) -> tuple[int, ...]:
    """One step per pair: ``inverse_frequency / (2 pi)`` turns, rounded half up to ``phase_bits`` fraction bits, mod 1.

    Parameters
    ----------
    inverse_frequency
        Radians per position, taken as the exact values of the doubles.
    phase_bits
        P, fraction bits of a turn.

    Returns
    -------
    Plain integers from 0 to 2**P - 1, correctly rounded on every platform.

    Raises
    ------
    InputError
        If a frequency is negative or not finite.
    """
    for pair, frequency in enumerate(inverse_frequency):
        check_frequency(frequency, pair)
    return _step_words(tuple(float(frequency) for frequency in inverse_frequency), phase_bits)


@lru_cache(maxsize=64)
def _step_words(inverse_frequency: tuple[float, ...], phase_bits: int) -> tuple[int, ...]:
    return tuple(_step_word(frequency, phase_bits) for frequency in inverse_frequency)


def _step_word(frequency: float, phase_bits: int) -> int:
    if frequency == 0:
        return 0
    # No tie is possible: a double over 2 pi is irrational.
    step = round_half_up(lambda ctx: ctx.ldexp(ctx.mpf(frequency) / (2 * ctx.pi), phase_bits))
    return step % (1 << phase_bits)


def check_frequency(frequency: float, pair: int) -> None:
    """Refuse a ``frequency`` of ``pair`` that is no angle per position."""
    if not math.isfinite(frequency) or frequency < 0:
        raise InputError(
            f"the inverse frequency of pair {pair} must be a finite number that is not negative, not {frequency!r}"
        )


def amplitude_word(amplitude: float) -> int:
    """The amplitude, rounded half up to the 17 fraction bits of :data:`ropewalk.design.AMPLITUDE`.

    Raises
    ------
    InputError
        If the amplitude is not above 0, rounds to 0, or is larger than ``2 - 2**-17``.
    """
    if math.isfinite(amplitude) and amplitude > 0:
        exact = Fraction(amplitude) * AMPLITUDE.one
        word = math.floor(exact + Fraction(1, 2))
        if word >= 1 and exact <= AMPLITUDE.maximum:
            return word
    raise InputError(
        f"the amplitude must be above 0 (at least {0.5 / AMPLITUDE.one}) and at most "
        f"{AMPLITUDE.maximum / AMPLITUDE.one}, not {amplitude!r}"
    )
