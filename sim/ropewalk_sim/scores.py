"""How far an attention score may be off: ``docs/number-contract.md``, "Scores".

A score here is the integer ``q . k`` of two rotated vectors, in units of LSB squared.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ropewalk.design import AMPLITUDE, Design
from ropewalk.tables import amplitude_word

CORRECTION = 0.072
"""What sine and cosine may be off before the amplitude, in LSBs of a coefficient ("Error budget")."""


def stored_amplitude(design: Design, slot: int) -> float:
    """The amplitude that the slot's word stands for."""
    return amplitude_word(design.variants[slot].amplitude) / AMPLITUDE.one


def coefficient_error(design: Design, slot: int) -> float:
    """Eta: how far (cos, sin) of a row entry may be from the stored amplitude at the stored phase, as a vector.

    Raises
    ------
    ValueError
        If the design reads its rows from a table, does not round half up, or clips coefficients.
    """
    if design.source != "synth" or design.rounding != "half-up" or design.coefficients != "exact":
        raise ValueError("the bound is that of the synth source, half-up rounding and exact coefficients")
    amplitude = stored_amplitude(design, slot)
    truncation = 2 * math.pi * amplitude * 2.0**-design.sine.reduced_phase_bits
    return math.sqrt(2) * (0.5 + CORRECTION * amplitude) / design.coefficient.one + truncation


def score_bound(design: Design, slot: int, q: ArrayLike, k: ArrayLike) -> NDArray[np.float64]:
    """How far a score may be from ``amplitude**2 * (q . R k)``, R the turn of the stored steps by the offset.

    So two scores of one offset differ by at most twice that, wherever the offset lies.

    Parameters
    ----------
    q, k
        Words before the rotation, ``[..., pairs, 2]``; they broadcast. No rotated element may saturate.

    Returns
    -------
    float64 ``[...]``, in LSB squared.
    """
    amplitude, eta = stored_amplitude(design, slot), coefficient_error(design, slot)
    first, second = _lengths(q), _lengths(k)
    grown = ((amplitude + eta) * first + math.sqrt(0.5)) * ((amplitude + eta) * second + math.sqrt(0.5))
    return (grown - amplitude**2 * first * second).sum(axis=-1)


def score_rms(design: Design, slot: int, q: ArrayLike, k: ArrayLike) -> NDArray[np.float64]:
    """The root mean square of what :func:`score_bound` bounds, if all roundings are independent and evenly spread.

    Arguments and result are those of :func:`score_bound`.
    """
    amplitude, unit = stored_amplitude(design, slot), 1 / design.coefficient.one
    first, second = _lengths(q) ** 2, _lengths(k) ** 2
    data = amplitude**2 * (first + second) / 12 + 2 / 144
    coefficients = amplitude**2 * first * second * unit**2 / 6
    return np.sqrt((data + coefficients).sum(axis=-1))


def _lengths(pairs: ArrayLike) -> NDArray[np.float64]:
    words = np.asarray(pairs, np.float64)
    return np.hypot(words[..., 0], words[..., 1])
