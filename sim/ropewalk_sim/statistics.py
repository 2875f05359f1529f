"""How far integer results lie from the exact rotation, in units of their LSB."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike
from ropewalk.formats import Format


@dataclass(frozen=True)
class ErrorStatistics:
    """Errors of ``count`` elements. Add two to have the errors of both; ``ErrorStatistics()`` has none.

    ``worst_lsb`` is the largest magnitude, ``total`` and ``total_squares`` are sums over all elements.
    """

    count: int = 0
    worst_lsb: float = 0.0
    total: float = 0.0
    total_squares: float = 0.0

    @property
    def bias_lsb(self) -> float:
        """The mean of result minus exact value; 0 where there is nothing."""
        return self.total / self.count if self.count else 0.0

    @property
    def rms_lsb(self) -> float:
        """The root of the mean square; 0 where there is nothing."""
        return sqrt(self.total_squares / self.count) if self.count else 0.0

    def __add__(self, other: "ErrorStatistics") -> "ErrorStatistics":
        return ErrorStatistics(
            self.count + other.count,
            max(self.worst_lsb, other.worst_lsb),
            self.total + other.total,
            self.total_squares + other.total_squares,
        )


def error_statistics(result: ArrayLike, exact: ArrayLike, data: Format | None = None) -> ErrorStatistics:
    """Compare integers with exact values in units of their LSB.

    Parameters
    ----------
    result
        Words, any shape.
    exact
        float64 of the same shape, not rounded. A double is good to 2**-21 LSB of a 32-bit word.
    data
        Where given, the exact values are first clipped to its range, so that saturation, which the contract
        demands, does not count as an error.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    words, truth = np.asarray(result, np.float64), np.asarray(exact, np.float64)
    if words.shape != truth.shape:
        raise ValueError(f"results and exact values must have one shape, not {words.shape} and {truth.shape}")
    if not words.size:
        return ErrorStatistics()
    if data is not None:
        truth = np.clip(truth, data.minimum, data.maximum)
    error = (words - truth).reshape(-1)
    return ErrorStatistics(error.size, float(np.abs(error).max()), float(error.sum()), float(np.square(error).sum()))
