"""Arrays that a person hands over, checked, and turned into raw words and back.

``scale`` is the value of one LSB. A float becomes the nearest multiple of it, halves upwards, and saturates at the
ends of the word. Everything that cannot be used is an :class:`~ropewalk.errors.InputError` that names the array.
"""

import math
import sys
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from ropewalk.errors import InputError
from ropewalk.formats import Format

SMALLEST_SCALE = sys.float_info.min
"""The smallest normal double, 2**-1022: below it a division loses digits, or overflows."""


def check_array(arrays: Mapping[str, np.ndarray], name: str, shape: tuple[int | None, ...], axes: str) -> np.ndarray:
    """``arrays[name]``, which must have ``shape`` (``None``: any length); ``axes`` names the axes for the message."""
    if name not in arrays:
        raise InputError(f"the array {name} {axes} is missing")
    array = arrays[name]
    if not isinstance(array, np.ndarray):
        raise InputError(f"{name} must be a numpy array, not {type(array).__name__}")
    fits = array.ndim == len(shape) and all(
        want in (None, found) for want, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"{name} has the shape {list(array.shape)}, and {axes} wants [{wanted}]")
    return array


def is_float(name: str, array: np.ndarray) -> bool:
    """Whether ``array`` is of floats (else of integers); other types are refused."""
    if array.dtype.kind == "f":
        return True
    if array.dtype.kind in "iu":
        return False
    raise InputError(f"{name} must hold integers or floats, not {array.dtype}")


def check_range(name: str, array: np.ndarray, low: int, high: int, what: str) -> np.ndarray:
    """The integers of ``array`` as ``int64``; one outside ``low .. high`` is refused as not being ``what``."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold integers, not {array.dtype}")
    # Compared in the array's own type first: a large uint64 would come out negative in int64.
    outside = array > high if array.dtype.kind == "u" else (array < low) | (array > high)
    if outside.any():
        place = np.unravel_index(int(np.argmax(outside)), array.shape)
        raise InputError(f"{name}{indices(place)} is {array[place]}, and {what} lies in {low} .. {high}")
    return array.astype(np.int64)


def check_finite(name: str, array: np.ndarray) -> np.ndarray:
    """The floats of ``array`` as doubles; NaN and infinity are refused."""
    wrong = ~np.isfinite(array)
    if wrong.any():
        place = np.unravel_index(int(np.argmax(wrong)), array.shape)
        raise InputError(f"{name}{indices(place)} is {array[place]}, and every element must be a finite number")
    # A long double may be finite and too large for a double.
    with np.errstate(over="ignore"):
        double = array.astype(np.float64)
    largest = float(np.abs(double).max(initial=0.0))
    if largest > 2.0**1000:
        raise InputError(f"{name} holds the magnitude {largest:g}, and elements must stay below 2**1000")
    return double


def check_scale(scale: float, data: Format) -> float:
    """``scale``, which must be a finite number above 0, neither too small to divide by nor too large for its words."""
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not math.isfinite(scale) or scale <= 0:
        raise InputError(f"scale must be a finite number above 0, not {scale!r}")
    scale = float(scale)
    if scale < SMALLEST_SCALE or not math.isfinite(scale * data.minimum):
        largest = sys.float_info.max / -data.minimum
        raise InputError(f"scale must lie in {SMALLEST_SCALE:.3g} .. {largest:.3g}, not {scale!r}: words are doubles")
    return scale


def default_scale(largest: float, amplitude: float, data: Format, coefficient: Format) -> float:
    """The smallest power of two at which rotating elements of magnitude up to ``largest`` cannot saturate.

    A rotated element is at most ``sqrt(2) * amplitude`` times the largest input (TRUTH.md, section 4), an element
    that passes at most 1 times. Room is kept for the rounding of the coefficients (within one LSB, and the
    amplitude's own), for that of the input, magnified, and for that of the result. All zeros take the scale of a
    largest element of 1. Never below :data:`SMALLEST_SCALE`, at which elements below half of it become 0.
    """
    return float(pair_scales(math.sqrt(2.0), np.array(largest), amplitude, data, coefficient))


def pair_scales(
    growth: float | NDArray[np.float64],
    largest: NDArray[np.float64],
    amplitude: float,
    data: Format,
    coefficient: Format,
) -> NDArray[np.float64]:
    """As :func:`default_scale` for each of ``largest``, where pairs are known to be ``growth`` times as long, at most.

    A rotated element is at most ``amplitude`` times as large as its pair is long, ``sqrt(x^2 + y^2)``, whatever the
    angle. Of pairs whose elements differ in size the longest is hardly longer than the largest element, and the scale
    can be half of what the largest element alone allows.
    """
    gain = amplitude + 2.0 / coefficient.one
    # The rounding of the input may make a pair half an LSB longer in each element.
    room = data.maximum - max(1.0, math.sqrt(2.0) * gain) / 2 - 0.5
    # frexp: bound = fraction * 2**exponent, fraction in 0.5 .. 1; an exact power of two needs one less.
    # The exponent of the largest element is taken out first: its product with gain / room might underflow.
    mantissa, size = np.frexp(np.where(largest == 0.0, 1.0, largest))
    fraction, exponent = np.frexp(mantissa * (np.maximum(1.0, growth * gain) / room))
    return np.maximum(np.ldexp(1.0, np.maximum(size + exponent - (fraction == 0.5), -1022)), SMALLEST_SCALE)


def quantise(values: np.ndarray, scale: float | NDArray[np.float64], data: Format) -> tuple[NDArray[np.int64], int]:
    """Words ``int64`` of the doubles ``values``, and how many of them saturated.

    ``scale`` is the value of one LSB, or an array of them that broadcasts to ``values``.

    The quotient is rounded to the nearest integer, halves upwards. It is floored first and compared, because adding
    a half before flooring is wrong for the double below a half.
    """
    with np.errstate(over="ignore"):
        # What saturates by far needs no exact value; infinity minus infinity would be none at all.
        quotient = np.clip(values / scale, 2.0 * data.minimum, 2.0 * data.maximum)
    below = np.floor(quotient)
    words = below + (quotient - below >= 0.5)
    clipped = np.clip(words, data.minimum, data.maximum)
    return clipped.astype(np.int64), int(np.count_nonzero(clipped != words))


def indices(place: tuple) -> str:
    """``[1, 2]`` for the place of an element, for messages."""
    return f"[{', '.join(str(int(index)) for index in place)}]"
