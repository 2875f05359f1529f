"""The fixed-point model of the learned-table adder: in every bit what the hardware gives (``docs/learned.md``)."""

from typing import Any, cast

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.tables.learned import Words
from ropewalk_sim.framing import frame

from .rows import token_rows
from .stream import MASKED, PASS, LearnedInput, LearnedOutput


def add_words(design: LearnedDesign, elements: np.ndarray, words: np.ndarray) -> np.ndarray:
    """``saturate(x + round(t))`` of elements and table words, ``int64``.

    ``round(t)`` is ``floor((t + 2**(s-1)) / 2**s)`` where the table is s = G - F > 0 bits finer, else ``t * 2**-s``.
    """
    dropped = design.rounded_bits
    words = words.astype(np.int64)
    addend = (words + (1 << (dropped - 1))) >> dropped if dropped > 0 else words << -dropped
    return np.clip(elements + addend, design.data.minimum, design.data.maximum)


def run_model(
    design: LearnedDesign,
    words: Words,
    stream: LearnedInput,
    *,
    offset: int | None = None,
    masked_row: int | None = None,
    unreadable: np.ndarray | None = None,
) -> LearnedOutput:
    """What the unit of ``design`` with the table ``words`` gives for ``stream``.

    ``offset`` and ``masked_row`` are the registers, by default as after reset; ``unreadable`` (``bool [rows, beats per
    token]``) says which beats of the table outside answer with an error. Raises ``EngineError`` if the stream goes on
    after its last token.
    """
    stream.check(design)
    framing = frame(cast(Any, design), cast(Any, stream))
    flags = stream.descriptors[:, 0] >> 8 & 0xFF
    position = stream.descriptors[:, 1].astype(np.int64)
    row, missing = token_rows(design, position, flags & MASKED != 0, offset=offset, masked_row=masked_row)
    passed = flags & PASS != 0
    failed = missing & ~passed
    added = ~missing & ~passed
    row = np.where(added, row, 0)
    lanes, beats, token = design.lanes, design.beats_per_token, framing.token

    whole = design.data_width
    elements = stream.data[framing.source]
    elements = ((elements & ((1 << whole) - 1)) ^ (1 << (whole - 1))) - (1 << (whole - 1))
    padded = np.pad(words, ((0, 0), (0, beats * lanes - design.geometry.dimension))).reshape(-1, beats, lanes)
    inside = np.arange(lanes) < np.where(framing.beat == beats - 1, design.last_lanes, lanes)[:, None]
    keep = stream.keep[framing.source]

    error = framing.error | failed[token] | within_token(token, (keep != inside).any(axis=1))
    take = added[token]
    if unreadable is not None:
        lost = within_token(token, take & unreadable[row[token], framing.beat])
        error |= lost
        take &= ~lost
    data = elements.copy()
    some = np.flatnonzero(take)
    sums = add_words(design, elements[some], padded[row[token[some]], framing.beat[some]])
    data[some] = np.where(inside[some], sums, elements[some])
    tags = (stream.descriptors[:, 0] >> 16).astype(np.uint8)
    return LearnedOutput(data=data, tid=tags[token], last=framing.last, error=error, keep=keep & inside)


def within_token(token: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """For every beat whether ``seen`` held at it or at an earlier beat of its token."""
    total = np.cumsum(seen)
    first = np.flatnonzero(np.diff(token, prepend=-1))
    before = np.zeros(len(token), np.int64)
    if len(token):
        counts = np.diff(np.append(first, len(token)))
        before = np.repeat(total[first] - seen[first], counts)
    return total > before
