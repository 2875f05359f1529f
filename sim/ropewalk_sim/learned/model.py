"""The fixed-point model of the learned-table adder: in every bit what the hardware gives (``docs/learned.md``)."""

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.gateware.units.layouts import MASKED, PASS
from ropewalk.tables.learned import Words
from ropewalk_sim.units.row_model import frame_rows, output_of, within_token
from ropewalk_sim.units.rows import RowInput, RowOutput

from .rows import token_rows


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
    stream: RowInput,
    *,
    offset: int | None = None,
    masked_row: int | None = None,
    unreadable: np.ndarray | None = None,
) -> RowOutput:
    """What the unit of ``design`` with the table ``words`` gives for ``stream``.

    ``offset`` and ``masked_row`` are the registers, by default as after reset; ``unreadable`` (``bool [rows, beats per
    token]``) says which beats of the table outside answer with an error. Raises ``EngineError`` if the stream goes on
    after its last token.
    """
    framed = frame_rows(design, stream)
    token, beat, elements, inside = framed.framing.token, framed.framing.beat, framed.elements, framed.inside
    flags = stream.descriptors[:, 0] >> 8 & 0xFF
    position = stream.descriptors[:, 1].astype(np.int64)
    row, missing = token_rows(design, position, flags & MASKED != 0, offset=offset, masked_row=masked_row)
    passed = flags & PASS != 0
    failed = missing & ~passed
    added = ~missing & ~passed
    row = np.where(added, row, 0)
    gap = design.beats_per_token * design.lanes - design.dimension
    padded = np.pad(words, ((0, 0), (0, gap))).reshape(-1, design.beats_per_token, design.lanes)

    error = failed[token]
    take = added[token]
    if unreadable is not None:
        lost = within_token(token, take & unreadable[row[token], beat])
        error = error | lost
        take &= ~lost
    data = elements.copy()
    some = np.flatnonzero(take)
    sums = add_words(design, elements[some], padded[row[token[some]], beat[some]])
    data[some] = np.where(inside[some], sums, elements[some])
    return output_of(stream, framed, data, error)
