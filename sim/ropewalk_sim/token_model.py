"""The fixed-point model of whole tokens: what an engine makes of well-framed streams, without streams.

In every bit :func:`ropewalk_sim.stream_model.run_model` of the same tokens (a test compares them), in a tenth of its
time: heads stay in the model's own element order, so that a pair's elements are slices, and no framing is looked at.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary

from .beats import INVERSE
from .engines import Progress
from .model import Words, convert, rows, signed_cos_sin
from .stream_model import token_errors
from .token_engine import TokenEngine
from .token_words import TokenWords

BLOCK_PAIRS = 1 << 15
"""Pairs worked on at once: a handful of arrays of 256 kB, which stay in a core's cache."""


class Model(TokenEngine):
    """The fixed-point model of a rotary engine, called as :class:`~ropewalk_sim.Simulator` is; its clocks are 0.

    Parameters
    ----------
    design
        A folder that ``ropewalk generate`` wrote, or a design.
    """

    def __init__(self, design: str | Path | Design) -> None:
        super().__init__(design if isinstance(design, Design) else load_rotary(Path(design)))

    def _turn(self, job: TokenWords, tokens: slice, into: Mapping[str, NDArray[Any]], progress: Progress | None) -> int:
        failed = token_errors(self._design, job.descriptors[tokens])
        into["error"][tokens] = failed
        slots = job.slots[tokens]
        for slot in np.unique(slots).tolist():
            mine = slots == slot
            # A slice where it can be one: it is not copied.
            chosen = tokens if mine.all() else np.flatnonzero(mine) + tokens.start
            self._turn_slot(job, slot, chosen, failed[mine], into)
        if "v" in job.elements:
            into["v"][tokens] = job.elements["v"][tokens]
        if progress is not None:
            beats = (tokens.stop - tokens.start) * job.beats_per_token
            progress(beats, beats)
        return 0

    def _turn_slot(
        self,
        job: TokenWords,
        slot: int,
        chosen: slice | NDArray[np.int64],
        failed: NDArray[np.bool_],
        into: Mapping[str, NDArray[Any]],
    ) -> None:
        """Turn the tokens ``chosen``, all of one slot; those that ``failed`` pass."""
        design, shape = self._design, self._design.geometry.of(slot)
        words = job.descriptors[chosen]
        positions = np.where(failed[:, None], 0, words[:, 1:].astype(np.int64))
        backwards = (words[:, 0] >> 8 & INVERSE).astype(bool)
        given = {name: job.elements[name] for name in ("q", "k") if name in job.elements}
        pairs = sum(array.shape[1] for array in given.values()) * (shape.rotary_dim // 2)
        for part in _stretches(len(words), pairs):
            cosine, sine = signed_cos_sin(rows(design, slot, positions[part]), design)
            np.negative(sine, out=sine, where=backwards[part, None])
            cosine[failed[part]], sine[failed[part]] = design.coefficient.one, 0
            some = chosen[part] if isinstance(chosen, np.ndarray) else shifted(part, chosen.start)
            for name, array in given.items():
                out = np.empty((part.stop - part.start, *array.shape[1:]), np.int32)
                _rotate_heads(design, slot, array[some], cosine[:, None], sine[:, None], out)
                into[name][some] = out


def _rotate_heads(
    design: Design, slot: int, heads: NDArray[np.integer], cosine: Words, sine: Words, out: NDArray[np.int32]
) -> None:
    """Turn ``heads [tokens, heads, head_dim]``, in the model's own order; ``cosine`` and ``sine`` broadcast to pairs.

    A sum stays below ``2**(W + C)``, at most 2**56: exact in int64 ("Rotation").
    """
    shape = design.geometry.of(slot)
    outside = slice(0, shape.rotary_start), slice(shape.rotary_start + shape.rotary_dim, None)
    for part in outside:
        out[..., part] = heads[..., part]
    x, y = (heads[..., part].astype(np.int64) for part in _halves(slot, design, shape.pairing))
    first, second = _halves(slot, design, shape.output_pairing)
    fraction_bits = design.data.fraction_bits + design.coefficient.fraction_bits
    total = x * cosine
    other = y * sine
    total -= other
    out[..., first] = convert(total, fraction_bits, design.data)
    x *= sine
    y *= cosine
    x += y
    out[..., second] = convert(x, fraction_bits, design.data)


def _halves(slot: int, design: Design, pairing: str) -> tuple[slice, slice]:
    """Where the first and the second elements of all pairs stand in a head of the model."""
    shape = design.geometry.of(slot)
    start, end = shape.rotary_start, shape.rotary_start + shape.rotary_dim
    if pairing == "interleaved":
        return slice(start, end, 2), slice(start + 1, end, 2)
    middle = start + shape.rotary_dim // 2
    return slice(start, middle), slice(middle, end)


def _stretches(tokens: int, pairs_each: int) -> Iterator[slice]:
    size = max(1, BLOCK_PAIRS // max(1, pairs_each))
    return (slice(first, min(first + size, tokens)) for first in range(0, tokens, size))


def shifted(part: slice, by: int) -> slice:
    """``part``, ``by`` later."""
    return slice(part.start + by, part.stop + by)
