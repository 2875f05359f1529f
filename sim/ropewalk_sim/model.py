"""The fixed-point model: rows and rotations as whole numpy arrays, in every bit what the hardware gives.

Arithmetic: ``docs/number-contract.md``; a comment names the section that each step follows. Every width, rounding
and saturation comes from the :class:`~ropewalk.design.Design` and its formats.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ropewalk.design import AMPLITUDE, POSITION_BITS, Design
from ropewalk.formats import Format
from ropewalk.sine_format import SineFormat
from ropewalk.tables import amplitude_word, sine_words, step_words
from ropewalk.tables.limits import clip_entries
from ropewalk.tables.source import source_rows

Words = NDArray[np.int64]

CHUNK_PAIRS = 1 << 15
"""Pairs worked on at once: the intermediate arrays stay in a processor's cache, and memory bounded."""


def rows(design: Design, slot: int, positions: ArrayLike, *, unit_amplitude: bool = False) -> Words:
    """The rows that ``design`` makes, or holds in its table, for the variant in ``slot``.

    Parameters
    ----------
    positions
        Integers from 0 to 2**24 - 1: ``[n, axes]``, or ``[n]`` where they are the same on every axis. The slot's limit
        is not looked at: it is a matter of the stream.
    unit_amplitude
        Leave the variant's amplitude out, as the descriptor flag of that name does.

    Returns
    -------
    int64 ``[n, pairs, 3]``: quadrant, cos, sin of the pairs that the slot rotates. The magnitudes are words of
    ``design.coefficient``.

    Raises
    ------
    ValueError
        If a position is out of range, ``slot`` is empty, or a table has no rows of unit amplitude.
    """
    where = np.asarray(positions)
    if where.ndim == 1:
        where = where[:, None]
    elif where.ndim != 2 or where.shape[1] != design.axes:
        raise ValueError(f"positions must be [n] or [n, {design.axes}], not of shape {where.shape}")
    if where.size and where.dtype.kind not in "iu":
        raise ValueError(f"positions must be integers, not {where.dtype}")
    if where.size and (int(where.min()) < 0 or int(where.max()) >> POSITION_BITS):
        raise ValueError(f"positions must be from 0 to 2**{POSITION_BITS} - 1")
    if not 0 <= slot < len(design.variants):
        raise ValueError(f"slot {slot} is empty: the design has {len(design.variants)} variants")
    variant = design.variants[slot]
    # One column where one says all: equal rows are found faster.
    axis = None if where.shape[1] == 1 else variant.axis
    where = (where[:, 0] if axis is None else where).astype(np.int64)
    distinct, back = np.unique(where, return_inverse=True, axis=None if axis is None else 0)
    if design.source == "table":
        if unit_amplitude and amplitude_word(variant.amplitude) != AMPLITUDE.one:
            raise ValueError(f"the table of slot {slot} has no rows of unit amplitude")
        made = source_rows(design, slot, distinct)
    else:
        amplitude = AMPLITUDE.one if unit_amplitude else amplitude_word(variant.amplitude)
        steps = np.array(step_words(variant.inverse_frequency, design.phase_bits), np.uint64)
        made = np.empty((len(distinct), len(steps), 3), np.int64)
        for part in _blocks(len(distinct), len(steps)):
            of_pairs = distinct[part, None] if axis is None else distinct[part][:, list(axis)]
            made[part] = phase_entries(design, phases(design, steps, of_pairs), amplitude)
    return made if len(distinct) == len(where) and np.array_equal(distinct, where) else made[back.reshape(-1)]


def unit_row(design: Design, slot: int) -> Words:
    """The row that changes nothing, ``[pairs, 3]`` of the pairs of ``slot``: quadrant 0, cos exactly 1, sin 0."""
    return np.tile(np.array([0, design.coefficient.one, 0], np.int64), (design.shapes[slot].pairs, 1))


def phases(design: Design, steps: NDArray[np.uint64], positions: ArrayLike) -> NDArray[np.uint64]:
    """``position * step`` modulo one turn, ``[n, pairs]``, with P fraction bits ("Steps and phases").

    ``positions`` are those that the pairs follow, ``[n, pairs]``, or ``[n, 1]`` where that is one.
    """
    # uint64 wraps modulo 2**64, of which 2**P is a divisor: the mask leaves the exact remainder.
    product = np.asarray(positions, np.uint64) * steps
    return product & np.uint64((1 << design.phase_bits) - 1)


class _Rom(NamedTuple):
    """The sine ROM as arrays, ``[2**L]``. Sine and versine come with E fraction bits and the rounding word added."""

    sine: Words
    versine: Words
    sine_slope: Words
    cosine_slope: Words


def magnitude_format(fmt: SineFormat) -> Format:
    """Sine and cosine before the amplitude: M fraction bits, 0 to 2**M inclusive ("Ranges" has the proof)."""
    bits = fmt.magnitude_fraction_bits
    return Format(width=bits + 1, fraction_bits=bits, signed=False, overflow="never")


@lru_cache(maxsize=8)
def _rom(fmt: SineFormat) -> _Rom:
    words = np.array(sine_words(fmt), np.int64)
    align = fmt.correction_fraction_bits - fmt.rom_fraction_bits
    half = magnitude_format(fmt).rounding_word(fmt.correction_fraction_bits)
    return _Rom((words[:, 0] << align) + half, (words[:, 1] << align) + half, words[:, 2].copy(), words[:, 3].copy())


def magnitudes(fmt: SineFormat, phase: NDArray[np.uint64]) -> tuple[Words, Words, Words]:
    """Quadrant, and cosine and sine in the first quadrant with M fraction bits, of P-bit phases of any shape."""
    # "Phase to octant"
    turn = (phase >> np.uint64(fmt.phase_bits - fmt.reduced_phase_bits)).astype(np.int64)
    quadrant = turn >> (fmt.octant_bits + 1)
    odd = (turn >> fmt.octant_bits & 1).astype(bool)
    place = turn & ((1 << fmt.octant_bits) - 1)
    np.subtract(1 << fmt.octant_bits, place, out=place, where=odd)
    cell = np.minimum(place >> fmt.cell_bits, (1 << fmt.index_bits) - 1)
    delta = place - (cell << fmt.cell_bits) - (1 << fmt.cell_bits >> 1)
    # "Correction"
    rom = _rom(fmt)
    magnitude = magnitude_format(fmt)
    drop = fmt.correction_fraction_bits - magnitude.fraction_bits
    sine = (rom.sine[cell] + rom.sine_slope[cell] * delta) >> drop
    cosine = magnitude.one - ((rom.versine[cell] + rom.cosine_slope[cell] * delta) >> drop)
    return quadrant, np.where(odd, sine, cosine), np.where(odd, cosine, sine)


def phase_entries(design: Design, phase: NDArray[np.uint64], amplitude: int) -> Words:
    """Row entries ``[..., 3]`` of P-bit phases ``[...]`` with an amplitude word ("Amplitude")."""
    fmt = design.sine
    quadrant, *both = magnitudes(fmt, phase)
    entries = np.empty((*phase.shape, 3), np.int64)
    entries[..., 0] = quadrant
    fraction_bits = magnitude_format(fmt).fraction_bits + AMPLITUDE.fraction_bits
    for field, word in enumerate(both, start=1):
        entries[..., field] = convert(word * amplitude, fraction_bits, design.coefficient)
    return clip_entries(design, entries)


def convert(values: Words, fraction_bits: int, to: Format) -> Words:
    """``values`` with ``fraction_bits`` fraction bits as words of ``to``. Works in place: ``values`` are lost."""
    values += to.rounding_word(fraction_bits)
    values >>= fraction_bits - to.fraction_bits
    if to.overflow == "saturate":
        np.clip(values, to.minimum, to.maximum, out=values)
    return values


def signed_cos_sin(row: Words, design: Design) -> tuple[Words, Words]:
    """Cosine and sine of the whole circle, each ``[...]``, of row entries ``[..., 3]`` ("Row entries").

    They have the fraction bits of ``design.coefficient``, and a sign on top of its width.

    Raises
    ------
    ValueError
        If an entry is none of ``design``: a magnitude or a quadrant out of range.
    """
    if row.size and (row.min() < 0 or row.max() > design.coefficient.maximum or row[..., 0].max() > 3):
        raise ValueError(f"a row entry is a quadrant and two words of {design.coefficient}")
    quadrant, cosine, sine = row[..., 0], row[..., 1], row[..., 2]
    swap = (quadrant & 1).astype(bool)
    first = np.where(swap, sine, cosine)
    second = np.where(swap, cosine, sine)
    # cos is negative in quadrants 1 and 2, sin in 2 and 3
    np.negative(first, out=first, where=(quadrant + 1 & 2).astype(bool))
    np.negative(second, out=second, where=(quadrant & 2).astype(bool))
    return first, second


def rotate(design: Design, x: ArrayLike, row: ArrayLike, inverse: bool = False) -> Words:
    """Every pair turned by its row entry: one rounding, then saturation ("Rotation").

    Parameters
    ----------
    x
        Integers ``[..., pairs, 2]``, words of ``design.data``.
    row
        int64 ``[..., pairs, 3]`` as :func:`rows` gives them. Broadcasts against ``x`` in the leading axes.
    inverse
        Turn the other way.

    Returns
    -------
    int64 ``[..., pairs, 2]``.
    """
    pairs = np.asarray(x)
    cosine, sine = signed_cos_sin(np.asarray(row, np.int64), design)
    if inverse:
        sine = -sine
    shape = np.broadcast_shapes(pairs.shape[:-1], cosine.shape)
    pairs = np.broadcast_to(pairs, (*shape, 2))
    cosine, sine = np.broadcast_to(cosine, shape), np.broadcast_to(sine, shape)
    out = np.empty((*shape, 2), np.int64)
    for part in _blocks(shape[0], int(np.prod(shape[1:]))) if shape else [...]:
        _rotate(design, pairs[part], cosine[part], sine[part], out[part])
    return out


def _rotate(design: Design, x: NDArray[np.integer], cosine: Words, sine: Words, out: Words) -> None:
    """``x cos - y sin`` and ``x sin + y cos``. A sum stays below ``2**(W + C)``, at most 2**56: exact in int64."""
    first, second = x[..., 0].astype(np.int64), x[..., 1].astype(np.int64)
    fraction_bits = design.data.fraction_bits + design.coefficient.fraction_bits
    total = first * cosine
    total -= second * sine
    out[..., 0] = convert(total, fraction_bits, design.data)
    first *= sine
    second *= cosine
    first += second
    out[..., 1] = convert(first, fraction_bits, design.data)


def _blocks(length: int, pairs_each: int) -> list[slice]:
    """``length`` items of ``pairs_each`` pairs in stretches of about :data:`CHUNK_PAIRS`."""
    size = max(1, CHUNK_PAIRS // max(1, pairs_each))
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]
