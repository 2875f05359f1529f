"""Cosines and sines as a software stack computes them in single precision, and their row entries.

Arithmetic: ``docs/number-contract.md``, "Angle models". Only float32 products, quotients and sums (which IEEE 754
fixes) come from numpy; its double-precision cosine and sine decide nothing that multiple precision could overturn.
Powers of two come from ldexp, which is exact, and not from a power function, which a libm may get wrong.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..geometry.float32 import bits, f32, of_precise
from ..geometry.rotary import Variant
from ..geometry.software import RunningProduct, Software, hf_frequencies, llamacpp_parameters
from .rows import turns_of
from .steps import step_words

Singles = NDArray[np.float32]

_STEP_BITS = 96
_TURN = math.ldexp(1.0, -62)
"""The last of the fraction bits of a quarter turn."""
_SMALL = np.float32(0.785)
"""Angles below need no reduction (pi / 4 is a little more)."""

_RELATIVE, _ABSOLUTE = math.ldexp(1.0, -43), math.ldexp(1.0, -59)
"""How far a cosine or sine in double precision may be off: a library's sine (we grant it 1000 units), and the turns,
which are within 2 units of 2**-64, so within 2**-60 rad."""


def software_cos_sin(variant: Variant, model: Software, positions: ArrayLike) -> tuple[Singles, Singles]:
    """Cosine and sine of every pair, amplitude included, as the software holds them before its cast.

    Parameters
    ----------
    positions
        Integers ``[n]`` from 0 to 2**24 - 1: exact as float32.

    Returns
    -------
    Two float32 arrays ``[n, pairs]``. Each cosine and sine is the correctly rounded one of the software's own float32
    angle, times its amplitude in float32.
    """
    if variant.recipe is None:
        raise ValueError(f"the variant {variant.name!r} has no recipe")
    where = np.asarray(positions, np.int64).reshape(-1).astype(np.float32)
    if model == "hf_f32":
        inverse = np.array(hf_frequencies(variant.recipe), np.float32)
        angles, magnitude = where[:, None] * inverse, f32(variant.amplitude)
    else:
        parameters = llamacpp_parameters(variant.recipe, variant.amplitude)
        angles, magnitude = running_angles(parameters, where), parameters.magnitude
    cosine, sine = cos_sin(angles)
    return cosine * np.float32(magnitude), sine * np.float32(magnitude)


def running_angles(parameters: RunningProduct, positions: Singles) -> Singles:
    """llama.cpp's angles ``[n, pairs]``: theta starts at the position and is multiplied from pair to pair."""
    theta = positions.copy()
    scale = np.float32(parameters.frequency_scale)
    angles = np.empty((len(theta), len(parameters.divisors)), np.float32)
    for pair, divisor in enumerate(parameters.divisors):
        plain = theta / np.float32(divisor)
        slow = scale * plain
        if parameters.mix is None:
            angles[:, pair] = slow
        else:
            mix = np.float32(parameters.mix[pair])
            angles[:, pair] = fma(slow, np.float32(1) - mix, plain * mix)
        theta *= np.float32(parameters.theta_scale)
    return angles


def fma(a: Singles, b: np.float32, c: Singles) -> Singles:
    """``a * b + c`` rounded once, for finite float32."""
    product = a.astype(np.float64) * np.float64(b)  # exact: 48 bits
    addend = c.astype(np.float64)
    total = product + addend
    # What the sum lost, exactly (Knuth's two-sum). The sum is then cut instead of rounded and its last bit says that
    # there was more, which leaves the second rounding nothing to get wrong.
    back = total - product
    lost = (product - (total - back)) + (addend - back)
    words = total.view(np.int64)
    words -= ((lost != 0) & ((lost < 0) != (total < 0))).astype(np.int64)
    words |= (lost != 0).astype(np.int64)
    return total.astype(np.float32)


def cos_sin(angles: Singles) -> tuple[Singles, Singles]:
    """Correctly rounded float32 cosine and sine of float32 angles of any shape, 0 to 2**40 and not negative."""
    flat = np.ascontiguousarray(angles, np.float32).reshape(-1)
    cosine, sine = np.empty_like(flat), np.empty_like(flat)
    for start in range(0, flat.size, 1 << 18):
        part = slice(start, start + (1 << 18))
        cosine[part], sine[part] = _cos_sin(flat[part])
    return cosine.reshape(angles.shape), sine.reshape(angles.shape)


def _cos_sin(angles: Singles) -> tuple[Singles, Singles]:
    # The nearest quarter turn, and what is left: at most an eighth of a turn either way.
    turns = _turns(angles) + np.uint64(1 << 61)
    quarter = (turns >> np.uint64(62)).astype(np.int64)
    rest = ((turns & np.uint64((1 << 62) - 1)).astype(np.int64) - (1 << 61)) * _TURN * (np.pi / 2)
    small = angles < _SMALL
    quarter[small] = 0
    rest[small] = angles[small]
    near, far = np.cos(rest), np.sin(rest)
    swap = (quarter & 1).astype(bool)
    cosine = np.where(swap, far, near) * np.where((quarter + 1) & 2, -1.0, 1.0)
    sine = np.where(swap, near, far) * np.where(quarter & 2, -1.0, 1.0)
    return _decided(cosine, angles, "cos"), _decided(sine, angles, "sin")


def _turns(angles: Singles) -> NDArray[np.uint64]:
    """Turns modulo 1 with 64 fraction bits: a float32 is a 24-bit integer of a power of two radians."""
    mantissa, exponent = np.frexp(angles.astype(np.float64))
    integer = (mantissa * (1 << 24)).astype(np.int64)
    turns = np.zeros(angles.shape, np.uint64)
    for power in np.unique(exponent):
        which = exponent == power
        (step,) = step_words((math.ldexp(1.0, int(power) - 24),), _STEP_BITS)
        turns[which] = turns_of(step, integer[which])
    return turns


def _decided(values: NDArray[np.float64], angles: Singles, function: str) -> Singles:
    """``values`` rounded to float32; by multiple precision where their error could change the result."""
    margin = np.abs(values) * _RELATIVE + _ABSOLUTE
    rounded = values.astype(np.float32)
    doubtful = ((values - margin).astype(np.float32) != (values + margin).astype(np.float32)) & (angles != 0)
    for index in np.flatnonzero(doubtful):
        angle = float(angles[index])
        rounded[index] = of_precise(lambda ctx, angle=angle: getattr(ctx, function)(ctx.mpf(angle)))
    return rounded


def software_entries(variant: Variant, model: Software, positions: ArrayLike, width: int) -> NDArray[np.int64]:
    """Row entries ``[n, pairs, 3]`` (quadrant, cos, sin) of the software's cosines and sines.

    The quadrant follows from their signs; the magnitudes are rounded half up to ``width - 1`` fraction bits and
    saturate.
    """
    cosine, sine = software_cos_sin(variant, model, positions)
    down, under = cosine < 0, sine < 0
    entries = np.empty((*cosine.shape, 3), np.int64)
    entries[..., 0] = np.where(under, np.where(down, 2, 3), np.where(down, 1, 0))
    swap = down != under
    for field, value in enumerate((np.where(swap, sine, cosine), np.where(swap, cosine, sine)), start=1):
        # Exact: a float32 of at least 1/4 LSB has room for the half in a double, a smaller one rounds to 0 anyhow.
        scaled = np.ldexp(np.abs(value).astype(np.float64), width - 1)
        entries[..., field] = np.minimum(np.floor(scaled + 0.5), (1 << width) - 1)
    return entries


def software_words(variant: Variant, model: Software) -> list[int]:
    """The bits of the float32 values that define the software's angles: what the geometry digest takes in.

    ``hf_f32``: the amplitude, then each pair's inverse frequency. ``llamacpp_f32``: the amplitude, theta's factor from
    pair to pair, the frequency scale, then each pair's divisor, then each pair's part of the unscaled angle (1.0 where
    nothing is blended).
    """
    if variant.recipe is None:
        raise ValueError(f"the variant {variant.name!r} has no recipe")
    if model == "hf_f32":
        values = [f32(variant.amplitude), *hf_frequencies(variant.recipe)]
    else:
        given = llamacpp_parameters(variant.recipe, variant.amplitude)
        mix = given.mix if given.mix is not None else (1.0,) * len(given.divisors)
        values = [given.magnitude, given.theta_scale, given.frequency_scale, *given.divisors, *mix]
    return [bits(value) for value in values]
