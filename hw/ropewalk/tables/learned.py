"""A learned position table as the integers in the hardware: scale, words, digest, memory words; and longer tables.

The words are signed, ``width`` bits, and stand for ``word * 2**-fraction_bits``. How they are rounded depends on the
LSB of the data, ``2**-data_fraction_bits``, so that a sum is rounded once: where the table is finer its words are
floors, and the adder rounds; elsewhere its words are rounded half up, and the adder is exact (``docs/learned.md``).
"""

import hashlib
import math
import struct
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..geometry.learned import MAX_DIMENSION, MAX_ROWS, LearnedGeometry
from ..models.weights import MAX_VALUES, Table

MAX_COARSER = 32
"""Bits by which a table's LSB may exceed that of the data: more would saturate every element that is not 0."""

Words = npt.NDArray[np.int16]


def table_fraction_bits(table: Table, width: int, data_fraction_bits: int) -> int:
    """The largest number of fraction bits at which the words of ``table`` fit ``width`` bits: its scale.

    At most ``data_fraction_bits + width``: finer words could not move a sum. May be negative.

    Raises
    ------
    InputError
        If the largest entry would need an LSB of more than ``2**32`` times that of the data.
    """
    low, high = float(table.min()), float(table.max())
    limit = 1 << (width - 1)
    for fraction_bits in range(data_fraction_bits + width, data_fraction_bits - MAX_COARSER - 1, -1):
        half = 0 if fraction_bits > data_fraction_bits else 0.5
        if _rounded(low, fraction_bits, half) >= -limit and _rounded(high, fraction_bits, half) < limit:
            return fraction_bits
    largest = max(abs(low), abs(high))
    raise InputError(
        f"the table's largest entry is {largest:.3g}, too large for words of {width} bits beside data with "
        f"{data_fraction_bits} fraction bits"
    )


def _rounded(value: float, fraction_bits: int, half: float) -> int | float:
    scaled = math.ldexp(value, fraction_bits) if abs(value) < 2.0**900 else math.copysign(math.inf, value)
    if not math.isfinite(scaled):
        return scaled
    below = math.floor(scaled)
    return below + (half > 0 and scaled - below >= half)


def quantise_table(table: Table, width: int, data_fraction_bits: int, fraction_bits: int) -> Words:
    """The words of ``table [rows, dimension]``, ``int16``; those that do not fit ``width`` bits saturate.

    Where ``fraction_bits`` is above ``data_fraction_bits`` a word is the floor of ``entry * 2**fraction_bits``, else
    that rounded half up.
    """
    limit = 1 << (width - 1)
    scaled = np.ldexp(table.astype(np.float64), fraction_bits)
    words = np.floor(scaled)
    if fraction_bits <= data_fraction_bits:
        # Compared, not added: adding a half is wrong for the double below a half.
        words += scaled - words >= 0.5
    return np.clip(words, -limit, limit - 1).astype(np.int16)


def table_digest(words: Words, width: int, fraction_bits: int) -> str:
    """SHA-256 over what defines the table's contents, in hexadecimal.

    The bytes: ``ropewalk/learned-table/1`` and a line feed; rows, dimension, width (unsigned) and fraction bits
    (signed), 32 bits each; then all words, row by row, 16 bits each. All little-endian.
    """
    rows, dimension = words.shape
    head = b"ropewalk/learned-table/1\n" + struct.pack("<3Ii", rows, dimension, width, fraction_bits)
    return hashlib.sha256(head + np.ascontiguousarray(words, "<i2").tobytes()).hexdigest()


def pack_beats(words: Words, lanes: int, bits: int) -> list[int]:
    """The table as memory words, ``beats per row`` for each row: ``lanes`` elements of ``bits`` bits, the first lowest.

    The last word of a row is filled up with zeros.
    """
    rows, dimension = words.shape
    padded = np.pad(words, ((0, 0), (0, -dimension % lanes))).reshape(-1, lanes).astype(np.int64) & ((1 << bits) - 1)
    packed = np.zeros(len(padded), object)
    for lane in range(lanes):
        packed |= padded[:, lane].astype(object) << (lane * bits)
    return [int(word) for word in packed]


def unpack_beats(memory: list[int], rows: int, dimension: int, lanes: int, bits: int) -> Words:
    """The words that :func:`pack_beats` packed, from ``rows * beats per row`` memory words."""
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)
    packed = np.array(memory, object)
    columns = [(((packed >> (lane * bits)) & mask) ^ sign) - sign for lane in range(lanes)]
    return np.stack(columns, 1).astype(np.int16).reshape(rows, -1)[:, :dimension]


def bank_beats(beats: list[int], bank_words: int, bits: int) -> list[int]:
    """Memory words of ``bits`` bits in banks of ``bank_words``, side by side: bank 0, which has the first, lowest."""
    banked = beats[:bank_words]
    for number, first in enumerate(range(bank_words, len(beats), bank_words), 1):
        for place, word in enumerate(beats[first : first + bank_words]):
            banked[place] |= word << number * bits
    return banked


def unbank_beats(banked: list[int], count: int, bits: int) -> list[int]:
    """The ``count`` memory words that :func:`bank_beats` laid side by side."""
    mask, words = (1 << bits) - 1, len(banked)
    return [banked[place % words] >> place // words * bits & mask for place in range(count)]


def resize_rows(geometry: LearnedGeometry, table: Table, rows: int) -> tuple[LearnedGeometry, Table, str]:
    """``table`` stretched or shrunk to ``rows`` rows by linear interpolation, for another context length.

    The rows below ``row_offset`` belong to no position and stay as they are. With P positions before and Q after, new
    position q (0 .. Q - 1) is ``((Q - 1 - r) * old[i] + r * old[i + 1]) / (Q - 1)``, where i and r are quotient and
    remainder of ``q * (P - 1)`` by ``Q - 1``: first and last position keep their vectors. Computed in doubles in that
    order; a row that is hit (r = 0) is copied.

    Returns
    -------
    tuple
        The geometry with ``rows`` rows, the new table (float64), and the warning that its user must see.

    Raises
    ------
    InputError
        If ``rows`` leaves fewer than 2 positions, or is beyond what is read of a file.
    """
    offset = geometry.row_offset
    if table.shape != (geometry.rows, geometry.dimension):
        raise ValueError(f"the table has the shape {table.shape}, and the geometry {geometry.rows} rows")
    low, high = offset + 2, min(MAX_ROWS, MAX_VALUES // geometry.dimension)
    if isinstance(rows, bool) or not isinstance(rows, int) or not low <= rows <= high:
        raise InputError(f"resize rows must be an integer from {low} to {high}, not {rows!r}")
    if geometry.rows - offset < 2:
        raise InputError(f"a table of {geometry.rows} rows has no two positions to interpolate between")
    old = table[offset:].astype(np.float64)
    last = rows - offset - 1
    place, rest = np.divmod(np.arange(last + 1, dtype=np.int64) * (len(old) - 1), last)
    following = np.minimum(place + 1, len(old) - 1)
    weight = rest.astype(np.float64)[:, None]
    mixed = ((last - weight) * old[place] + weight * old[following]) / last
    new = np.concatenate([table[:offset].astype(np.float64), np.where(rest[:, None] == 0, old[place], mixed)])
    warning = (
        f"the position table was interpolated from {geometry.rows} to {rows} rows: a model that was not trained or "
        f"tuned with such a table gives worse results, at every length"
    )
    return replace(geometry, rows=rows), new, warning


def check_shape(rows: int, dimension: int) -> None:
    """Refuse a table that is larger than any that is read."""
    if not 1 <= rows <= MAX_ROWS or not 1 <= dimension <= MAX_DIMENSION or rows * dimension > MAX_VALUES:
        raise InputError(f"a table of {rows} x {dimension} elements is more than the {MAX_VALUES} of the largest read")
