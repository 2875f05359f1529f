"""Rows of scores as the streams of an ALiBi unit, and the whole unit as a model: streams in, streams out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ropewalk.designs.alibi import DISTANCE_BITS, AlibiDesign
from ropewalk_sim.errors import EngineError
from ropewalk_sim.units.streams import UnitInput, UnitOutput, from_octets, to_octets

from .model import MPT, add_bias

CAUSAL = 1
"""The flag of a descriptor: bit 8 of word 0."""

MOST_KEYS = 1 << DISTANCE_BITS


def row_descriptors(
    *,
    head: NDArray | int,
    query: NDArray,
    first: NDArray | int,
    count: NDArray | int,
    length: NDArray | int = 1,
    causal: NDArray | int = 0,
    tag: NDArray | int = 0,
) -> NDArray[np.uint32]:
    """Row descriptors ``uint32 [rows, 5]``; ``first`` is signed. Everything that has 32 bits is taken modulo 2^32."""
    query = np.asarray(query, np.int64)
    words = np.zeros((len(query), 5), np.int64)
    words[:, 0] = np.asarray(head) | np.asarray(causal, np.int64) << 8 | np.asarray(tag, np.int64) << 16
    for column, values in enumerate((query, first, count, length), 1):
        words[:, column] = np.asarray(values) & 0xFFFFFFFF
    return words.astype(np.uint32)


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Descriptors taken apart: each ``int64 [rows]``, ``causal`` as a flag; ``dropped`` rows take no data."""

    head: NDArray[np.int64]
    causal: NDArray[np.bool_]
    tag: NDArray[np.int64]
    query: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    length: NDArray[np.int64]

    @classmethod
    def of(cls, descriptors: NDArray[np.uint32]) -> "Rows":
        """The rows of ``descriptors``."""
        words = descriptors.astype(np.int64)
        flags = words[:, 0]
        return cls(
            head=flags & 0xFF,
            causal=(flags >> 8 & CAUSAL).astype(bool),
            tag=flags >> 16 & 0xFF,
            query=words[:, 1],
            first=(words[:, 2] ^ 1 << 31) - (1 << 31),
            count=words[:, 3],
            length=words[:, 4],
        )

    @property
    def dropped(self) -> NDArray[np.bool_]:
        """Rows without keys, or with more than there are positions."""
        return (self.count == 0) | (self.count > MOST_KEYS)

    def position_error(self, mode: int) -> NDArray[np.bool_]:
        """A query at 2^24 or above, a first key outside -2^24 .. 2^24 - 1, for MPT a length of 0 or above 2^24."""
        wrong = (self.query >= MOST_KEYS) | (self.first < -MOST_KEYS) | (self.first >= MOST_KEYS)
        return wrong | ((self.length == 0) | (self.length > MOST_KEYS)) if mode == MPT else wrong


def whole_rows(design: AlibiDesign, descriptors: NDArray[np.uint32], scores: list[NDArray[np.int64]]) -> UnitInput:
    """The stream of one row of scores per descriptor, framed as the descriptors say."""
    lanes = design.lanes
    counts = np.array([len(row) for row in scores], np.int64)
    beats = -(-counts // lanes)
    words = np.zeros((int(beats.sum()), lanes), np.int64)
    keep = np.zeros(words.shape, bool)
    starts = np.cumsum(beats) - beats
    flat_words, flat_keep = words.reshape(-1), keep.reshape(-1)
    for start, row in zip(starts * lanes, scores, strict=True):
        flat_words[start : start + len(row)] = row
        flat_keep[start : start + len(row)] = True
    last = np.zeros(len(words), bool)
    last[starts + beats - 1] = True
    return UnitInput(
        descriptors=descriptors,
        data=to_octets(words, design.container_bits),
        keep=np.repeat(keep, design.container_bits // 8, axis=1),
        tid=np.repeat((descriptors[:, 0] >> 16 & 0xFF).astype(np.uint8), beats),
        last=last,
    )


def run_model(
    design: AlibiDesign, stream: UnitInput, *, mode: int | None = None, words: tuple[int, ...] | None = None
) -> UnitOutput:
    """What the unit gives for ``stream``; without clocks, as the model has no time.

    Parameters
    ----------
    mode, words
        What the mode register and the slope table hold; those of the design where absent.

    Raises
    ------
    EngineError
        If beats are left when every row has had its own: no unit would ever take them.
    """
    mode = design.mode if mode is None else mode
    table = np.array(design.slope_words if words is None else words, np.int64)
    rows = Rows.of(stream.descriptors)
    framing = _frame_regular(design, stream, rows) or _frame(design, stream, rows)
    failed = rows.position_error(mode) | (rows.head >= len(table))
    row, source = framing.row, framing.source
    scores = _wrapped(from_octets(stream.data[source], design.container_bits), design.data_width)
    key = rows.first[row, None] + framing.beat[:, None] * design.lanes + np.arange(design.lanes)
    slope = table[np.where(failed, 0, rows.head)][row, None]
    fine = ~failed[row, None]
    # Of a row in error nothing is looked at; its numbers might leave 64 bits.
    query, length = np.where(fine, rows.query[row, None], 0), np.where(fine, rows.length[row, None], 1)
    key = np.where(fine, key, 0)
    biased = add_bias(design, scores, slope, mode, query, key, length, rows.causal[row, None])
    error = framing.error | failed[row]
    return UnitOutput(
        data=to_octets(np.where(fine, biased, scores), design.container_bits),
        keep=framing.keep,
        tid=rows.tag[row].astype(np.uint8),
        user=error.astype(np.uint8),
        last=framing.last,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Framing:
    """One entry per output beat: its input beat, its row, its number there, TKEEP, TLAST and the framing error."""

    source: NDArray[np.int64]
    row: NDArray[np.int64]
    beat: NDArray[np.int64]
    keep: NDArray[np.bool_]
    last: NDArray[np.bool_]
    error: NDArray[np.bool_]


def _frame_regular(design: AlibiDesign, stream: UnitInput, rows: Rows) -> _Framing | None:
    """The framing of a stream without a fault, or ``None`` if it has one."""
    count = np.where(rows.dropped, 0, rows.count)
    beats = -(-count // design.lanes)
    if int(beats.sum()) != stream.beats:
        return None
    row = np.repeat(np.arange(len(count)), beats)
    beat = np.arange(stream.beats) - np.repeat(np.cumsum(beats) - beats, beats)
    last = beat == beats[row] - 1
    lane = np.repeat(np.arange(design.lanes), design.container_bits // 8)
    keep = beat[:, None] * design.lanes + lane < count[row, None]
    same = np.array_equal(stream.keep, keep) and np.array_equal(stream.last, last)
    if not (same and np.array_equal(stream.tid, rows.tag[row])):
        return None
    error = np.zeros(stream.beats, bool)
    return _Framing(source=np.arange(stream.beats), row=row, beat=beat, keep=keep, last=last, error=error)


def _frame(design: AlibiDesign, stream: UnitInput, rows: Rows) -> _Framing:
    """The rules of docs/alibi.md, "Framing", beat by beat."""
    octets = design.container_bits // 8
    last, tid, keep = stream.last.tolist(), stream.tid.tolist(), stream.keep
    full: list[bool] = np.asarray(keep.all(axis=1)).tolist()
    found: list[tuple[int, int, int, bool, bool]] = []
    keeps = []
    place = 0
    for row in np.flatnonzero(~rows.dropped).tolist():
        tag, count = int(rows.tag[row]), int(rows.count[row])
        beats = -(-count // design.lanes)
        tail = np.repeat(np.arange(design.lanes) <= (count - 1) % design.lanes, octets)
        beat, wrong, ended = 0, False, False
        while not ended and place < stream.beats:
            if tid[place] != tag:
                wrong = True
            else:
                final = beat == beats - 1
                ended = final or last[place]
                expected = tail if final else np.ones_like(tail)
                whole = full[place] if not final else np.array_equal(keep[place], expected)
                wrong = wrong or last[place] != final or not whole
                present = np.repeat(keep[place, ::octets], octets) & expected
                found.append((place, row, beat, ended, wrong))
                keeps.append(present)
                beat += 1
            place += 1
        if ended and not last[place - 1]:
            while place < stream.beats and not last[place]:
                place += 1
            place += 1
    if place < stream.beats:
        raise EngineError(f"{stream.beats - place} beats follow the last row: no descriptor is there for them")
    table = np.array(found, np.int64).reshape(-1, 5)
    return _Framing(
        source=table[:, 0],
        row=table[:, 1],
        beat=table[:, 2],
        keep=np.array(keeps, bool).reshape(-1, design.beat_bytes),
        last=table[:, 3].astype(bool),
        error=table[:, 4].astype(bool),
    )


def _wrapped(words: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The low ``width`` bits of ``words``, read as signed: what the unit makes of a container."""
    return (words << 64 - width) >> 64 - width
