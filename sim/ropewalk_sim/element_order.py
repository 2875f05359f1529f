"""The order of a head's elements in the layouts of the streams, as index arrays, and what a short head lets out.

The common tongue is *pair order*: elements ``rotary_start + 2i`` and ``+ 2i + 1`` are pair i, those outside the slice
in their own places. ``docs/ports.md``, "Element order", describes the layouts.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from ropewalk.design import Design

Index = NDArray[np.int64]
Layouts = Callable[[int], str]


def layout_order(layout: str, *, head_dim: int, rotary_start: int, rotary_dim: int, lanes: int = 1) -> Index:
    """For each place of a head in ``layout``, which element of pair order stands there: ``int64 [head_dim]``.

    ``layout`` is ``interleaved``, ``half`` or ``paired``; only the last depends on ``lanes``.
    """
    order = np.arange(head_dim)
    if layout == "interleaved":
        return order
    half = rotary_dim // 2
    pair = np.arange(half)
    inside = order[rotary_start : rotary_start + rotary_dim]
    inside[:half] = rotary_start + 2 * pair
    inside[half:] = rotary_start + 2 * pair + 1
    if layout == "half":
        return order
    chunks = order.reshape(-1, lanes)
    start, count = rotary_start // lanes, half // lanes
    beats = np.arange(len(chunks)).reshape(-1, 2)
    first = start // 2
    for number in range(count):
        beats[first + number] = start + number, start + count + number
    if start % 2:
        beats[first + count] = start - 1, start + 2 * count
    return chunks[beats.reshape(-1)].reshape(-1)


def inverse_order(order: Index) -> Index:
    """The permutation that undoes ``order``."""
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return back


@lru_cache(maxsize=64)
def _orders(
    layout: str, head_dim: int, rotary_start: int, rotary_dim: int, lanes: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    order = layout_order(layout, head_dim=head_dim, rotary_start=rotary_start, rotary_dim=rotary_dim, lanes=lanes)
    return tuple(order.tolist()), tuple(inverse_order(order).tolist())


def order_in(design: Design, slot: int, layout: str) -> tuple[Index, Index]:
    """``to`` and ``back`` of heads of ``slot``: ``in_layout = in_pair_order[to]``, ``in_pair_order = in_layout[back]``.

    An empty slot has the shape of slot 0.
    """
    shape = design.geometry.of(slot if slot < len(design.variants) else 0)
    to, back = _orders(layout, shape.head_dim, shape.rotary_start, shape.rotary_dim, design.lanes)
    return np.array(to, np.int64), np.array(back, np.int64)


def moved(heads: np.ndarray, design: Design, slot: int, source: str, target: str) -> np.ndarray:
    """Heads ``[..., head_dim]`` of ``slot`` in the layout ``source``, brought into the layout ``target``."""
    if source == target:
        return heads
    back, to = order_in(design, slot, source)[1], order_in(design, slot, target)[0]
    return heads[..., back[to]]


def moved_tokens(heads: np.ndarray, design: Design, slots: np.ndarray, source: Layouts, target: Layouts) -> np.ndarray:
    """Heads ``[tokens, heads, head_dim]`` of tokens whose slots are ``[tokens]``, from one layout into another.

    ``source`` and ``target`` say which layout the heads of a slot have.
    """
    out = heads
    for slot in np.unique(slots).tolist():
        if source(slot) != target(slot):
            chosen = slots == slot
            out = out.copy() if out is heads else out
            out[chosen] = moved(heads[chosen], design, slot, source(slot), target(slot))
    return out


def beats_let_out(design: Design, slot: int, came: int) -> int:
    """How many beats of a rotated head can go out when its first ``came`` beats have come, and more are awaited.

    The engine waits for partners before it works on a pair, and for both of its elements before it gives a beat out.
    """
    beats = design.beats_per_head
    order = design.order(slot)
    if order.natural or not design.buffered or came == beats:
        return came
    # One number per element: the beat that it is in on the way in, through, and out.
    places = np.arange(beats * design.elements) // design.elements
    arrives = places[order_in(design, slot, order.input_pairing)[1]]
    works = places[order_in(design, slot, "paired")[1]]
    leaves = places[order_in(design, slot, order.output_pairing)[1]]
    # A beat is worked on when all of its elements have come, in turn.
    ready = np.zeros(beats, np.int64)
    np.maximum.at(ready, works, arrives)
    worked = int(np.argmax([*(np.maximum.accumulate(ready) >= came), True]))
    done = np.zeros(beats, np.int64)
    np.maximum.at(done, leaves, works)
    return min(came, int(np.argmax([*(np.maximum.accumulate(done) >= worked), True])))
