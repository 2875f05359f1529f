"""The part of `verify`'s own input that random tokens never reach: every slot, flag and edge of a position, and faults.

A slow simulator gets most tokens as packets that end after :data:`SHORT` beats, which is a framing fault of its own
and shows the rest all the same: errors of a descriptor stand on the first beat too, and a wrong row turns it wrongly.
"""

from collections.abc import Iterable

import numpy as np
from ropewalk.design import POSITION_BITS, Design
from ropewalk_sim.scenarios import broken_packets, everything, plain, random_words
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE, Script, Stalls, StreamInput, descriptor_words

from .sample import corner_tokens

SHORT = 2
FLAGS = range((INVERSE | PASS | UNIT_AMPLITUDE) + 1)
STALLS = Stalls(seed=3, data=0.15, token=0.15, output=0.15)

Descriptor = tuple[int, int, tuple[int, ...]]
"""Slot, flags and the position on each axis."""


def corner_stream(design: Design, seed: int, *, slow: bool) -> StreamInput:
    """The corner cases for a slow simulator (some thousand beats), or for an engine that takes a hundred times that.

    The first tokens are whole, as many as the engine has time for. Broken packets come last.
    """
    rng = np.random.default_rng(seed)
    per_token = design.beats_per_token
    tokens = [
        *((slot, flags, (position,) * design.axes) for slot, flags, position in corner_tokens(design)),
        *repeated(design, rng),
        *edges(design, rng, slow=slow),
        *every_slot(design, rng),
    ]
    whole = (1_600 if slow else 200_000) // per_token
    parts = [packets(design, tokens, rng, whole)]
    if not slow:
        parts.append(everything(design, seed=seed, tokens=min(300, 16 + 100_000 // per_token)))
    broken = min(24, 4 + 100 // per_token) if slow else min(150, 24 + 40_000 // per_token)
    parts.append(broken_packets(design, seed=seed, tokens=broken))
    return joined(parts)


def interruption(design: Design, seed: int) -> Script:
    """A reset while tokens are being taken, a row is made and beats come out."""
    longest = max(shape.pairs for shape in design.shapes)
    clocks = longest * design.clocks_per_pair + design.beats_per_token + 11
    return Script(interrupted=plain(design, seed=seed, tokens=4), interrupted_clocks=clocks, reset_clocks=1)


def repeated(design: Design, rng: np.random.Generator) -> list[Descriptor]:
    """Tokens like the one before, which reuse its row, and tokens that are unlike it in one thing only."""
    limit, axes = design.limits[0], design.axes
    position = (int(rng.integers(limit // 2, limit)),) * axes
    other = 1 if len(design.variants) > 1 else 255
    like = (0, 0, position)
    unlike: list[Descriptor] = [(other, 0, position), (0, INVERSE, position), (0, UNIT_AMPLITUDE, position)]
    unlike += [(0, PASS, position), (0, 0, (limit,) * axes), (0, 0, (int(rng.integers(0, limit)),) * axes)]
    unlike.append((255, 0, position))
    if axes > 1:
        for axis in range(axes):
            unlike += [(0, 0, moved(position, axis, to)) for to in (int(rng.integers(0, limit)), limit)]
    return [like, like, *(token for one in unlike for token in (one, one, like))]


def moved(position: tuple[int, ...], axis: int, to: int) -> tuple[int, ...]:
    """``position``, on one axis at another place."""
    return (*position[:axis], to, *position[axis + 1 :])


def edges(design: Design, rng: np.random.Generator, *, slow: bool) -> Iterable[Descriptor]:
    """Positions at every edge, each single high bit among them, and at random, with all flags.

    A slow simulator gets all flags in slot 0 only, and few of them where a new row would be made. Where positions have
    several axes, the edge stands on one of them, in turn, and the others are inside.
    """
    for slot, limit in enumerate(design.limits):
        positions = [limit - 1, limit, limit + 1, 0, int(rng.integers(0, limit)), (1 << POSITION_BITS) - 1]
        positions += [1 << bit for bit in range(POSITION_BITS, 32)]
        positions += [(1 << 32) - 1, *rng.integers(0, 1 << 32, 4).tolist()]
        for number, position in enumerate(dict.fromkeys(positions)):
            place = (position,)
            if design.axes > 1:
                inside = tuple(rng.integers(0, limit, design.axes).tolist())
                place = moved(inside, number % design.axes, position)
            flags = FLAGS
            if slow and slot > 0:
                flags = (number * 3 % len(FLAGS),)
            elif slow and position < limit - 1:
                flags = (0, INVERSE | UNIT_AMPLITUDE, PASS)
            yield from ((slot, one, place) for one in flags)


def every_slot(design: Design, rng: np.random.Generator) -> Iterable[Descriptor]:
    """Every number of a slot once, at a position that most variants have, and some empty ones to pass."""
    positions = rng.integers(0, min(design.limits), (256, design.axes)).tolist()
    yield from ((slot, 0, tuple(position)) for slot, position in enumerate(positions))
    yield from ((slot, PASS, (0,) * design.axes) for slot in (len(design.variants), 8, 16, 128, 255))


def packets(design: Design, tokens: list[Descriptor], rng: np.random.Generator, whole: int) -> StreamInput:
    """The packets of ``tokens``: the first ``whole`` ones whole, the others of :data:`SHORT` beats at most."""
    per_token = design.beats_per_token
    lengths = np.full(len(tokens), min(SHORT, per_token))
    lengths[:whole] = per_token
    slot, flags = np.array([token[:2] for token in tokens], np.int64).T
    position = np.array([token[2] for token in tokens], np.int64)
    tag = np.arange(len(tokens)) & 0xFF
    beats = int(lengths.sum())
    last = np.zeros(beats, bool)
    last[np.cumsum(lengths) - 1] = True
    words = random_words(design, rng, beats // per_token + 1).reshape(-1, design.elements)
    return StreamInput(
        descriptors=descriptor_words(slot, position, flags=flags, tag=tag, axes=design.axes),
        data=np.ascontiguousarray(words[:beats]),
        tid=np.repeat(tag, lengths).astype(np.uint8),
        last=last,
    )


def joined(parts: list[StreamInput]) -> StreamInput:
    """One stream after the other; each must end with TLAST."""
    return StreamInput(
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in ("descriptors", "data", "tid", "last")
        }
    )
