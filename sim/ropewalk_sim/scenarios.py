"""Streams that reach the rules of PORTS.md: every slot, flag and edge of a position, and packets of every fault.

For checking engines against each other. The same design and seed give the same stream on every machine.
"""

import numpy as np
from ropewalk.design import POSITION_BITS, Design

from .beats import StreamInput, descriptor_words, whole_tokens

STRANGE_TAG = 255
"""The TID of beats that belong to no token of :func:`broken_packets`."""


def random_words(design: Design, rng: np.random.Generator, tokens: int) -> np.ndarray:
    """Elements ``int64 [tokens, heads, head_dim]``, a third of them at the ends of the word.

    Where the container is wider than the word, what lies above it is noise, which an engine must ignore.
    """
    shape = (tokens, sum(design.heads), design.geometry.head_dim)
    low, high = design.data.minimum, design.data.maximum
    words = rng.integers(low, high + 1, shape)
    words = np.where(rng.random(shape) < 0.3, rng.choice([low, low + 1, high, 0, -1], shape), words)
    above = 1 << (design.container_bits - design.data_width)
    return words + (rng.integers(0, above, shape) << design.data_width)


def plain(design: Design, *, seed: int, tokens: int) -> StreamInput:
    """Sound tokens, each at another position than the one before, that go round the design's variants."""
    rng = np.random.default_rng(seed)
    number = np.arange(tokens)
    slot = number % len(design.variants)
    axis = np.arange(design.axes)
    position = (number[:, None] + 5 * axis) * 12_345_677 % np.array(design.limits)[slot, None]
    descriptors = descriptor_words(slot, position, tag=number & 0xFF, axes=design.axes)
    return whole_tokens(design, descriptors, random_words(design, rng, tokens))


def everything(design: Design, *, seed: int, tokens: int) -> StreamInput:
    """Whole packets whose tokens have every kind of descriptor, in random order.

    Slots that hold something and others; all bits of the flags; positions inside, at the last one, at the limit and
    past it, up to 2**32 - 1, on every axis by itself and on all of them; tokens like the one before, which reuse its
    row, and ones that are unlike it on one axis only.
    """
    rng = np.random.default_rng(seed)
    variants = len(design.variants)
    slot = rng.choice([*list(range(variants)) * 3, variants, design.slots - 1, design.slots, 255], tokens)
    limit = np.array([*design.limits, *[1 << POSITION_BITS] * (256 - variants)])[slot]
    axes = design.axes
    edges = np.stack(
        [0 * limit, 0 * limit + 1, limit - 1, limit, limit + 1, 0 * limit + 2**24, 0 * limit + 2**31 + 1, 0 * limit - 1]
    ) & (2**32 - 1)
    inside = rng.random(tokens) < 0.5
    position = rng.integers(0, limit[:, None], (tokens, axes))
    edge = edges[rng.integers(0, len(edges), tokens), np.arange(tokens)]
    # Where there are several axes the edge is one axis's in most tokens, so that no other axis can hide it.
    which = rng.integers(0, axes + 1, tokens) if axes > 1 else np.zeros(tokens, int)
    here = (which[:, None] == np.arange(axes)) | (which[:, None] == axes)
    position = np.where(~inside[:, None] & here, edge[:, None], position)
    flags = np.where(rng.random(tokens) < 0.5, 0, rng.integers(0, 256, tokens))
    # A run of like tokens takes all that makes a row from its first one.
    first = np.maximum.accumulate(np.where(rng.random(tokens) < 0.2, 0, np.arange(tokens)))
    position = position[first]
    if axes > 1:
        moved = (rng.random(tokens) < 0.1)[:, None] & (rng.integers(0, axes, tokens)[:, None] == np.arange(axes))
        position = np.where(moved, position ^ 1, position)
    tag = rng.integers(0, 256, tokens)
    descriptors = descriptor_words(slot[first], position, flags=flags[first], tag=tag, axes=axes)
    return whole_tokens(design, descriptors, random_words(design, rng, tokens))


def broken_packets(design: Design, *, seed: int, tokens: int) -> StreamInput:
    """Short and long packets, and beats of another tag among them; some tokens are in error themselves.

    A long packet's excess beats carry any tag. The stream ends with TLAST.
    """
    rng = np.random.default_rng(seed)
    per_token = design.beats_per_token
    tag = np.arange(tokens) * 7 % 251
    slot = rng.integers(0, len(design.variants) + 1, tokens)
    position = rng.integers(0, min(design.limits) + 2, (tokens, design.axes))
    descriptors = descriptor_words(slot, position, tag=tag, axes=design.axes)
    tid: list[int] = []
    last: list[bool] = []
    for one in tag.tolist():
        length = int(rng.choice([per_token, 1, max(1, per_token - 1), per_token + 1, 2 * per_token + 1]))
        excess = range(per_token, length)
        beats = [
            (int(rng.integers(0, 256)) if place in excess else one, place == length - 1) for place in range(length)
        ]
        for _ in range(int(rng.choice([0, 0, 1, 5]))):
            beats.insert(int(rng.integers(0, min(length, per_token))), (STRANGE_TAG, bool(rng.integers(0, 2))))
        tid += [beat[0] for beat in beats]
        last += [beat[1] for beat in beats]
    words = random_words(design, rng, len(tid) // per_token + 1).reshape(-1, design.elements)
    return StreamInput(
        descriptors=descriptors,
        data=np.ascontiguousarray(words[: len(tid)]),
        tid=np.array(tid, np.uint8),
        last=np.array(last, bool),
    )
