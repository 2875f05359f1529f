"""The input that `verify` and the demo make themselves: random words at random positions, and every corner case."""

import numpy as np
from ropewalk.design import Design
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE, StreamInput, descriptor_words, whole_tokens

FULL_SCALE = 0.7
"""Random words reach this share of the largest word, so that no rotation at amplitude 1 saturates."""


def corner_tokens(design: Design) -> list[tuple[int, int, int]]:
    """Slot, flags and position of the tokens that every comparison should hold: ends of the range, errors, flags."""
    corners = []
    for slot, limit in enumerate(design.limits):
        corners += [(slot, 0, 0), (slot, 0, limit - 1), (slot, 0, limit)]
        corners += [(slot, INVERSE, limit - 1), (slot, PASS, limit // 2), (slot, UNIT_AMPLITUDE, limit // 3)]
    empty = len(design.variants)
    return [*corners, (empty, 0, 0), (0, 0, 0xFFFF_FFFF)]


def random_stream(design: Design, tokens: int, seed: int, *, corners: bool = True) -> StreamInput:
    """``tokens`` random tokens, the variant changing on every one, after the corner cases where those are wanted.

    The corner cases carry words of the whole range, its ends included; the others reach :data:`FULL_SCALE` of it.
    """
    random = np.random.default_rng(seed)
    slot = np.arange(tokens) % len(design.variants)
    position = random.integers(0, np.array(design.limits)[slot])
    return stream_of(design, slot, position, random, corner_tokens(design) if corners else [])


def stream_of(
    design: Design,
    slot: np.ndarray,
    position: np.ndarray,
    random: np.random.Generator,
    corners: list[tuple[int, int, int]],
) -> StreamInput:
    """Random words for ``corners`` and then for tokens of the given slots and positions."""
    low, high = design.data.minimum, design.data.maximum
    shape = (sum(design.heads), design.geometry.head_dim)
    edge = random.integers(low, high, (len(corners), *shape), endpoint=True)
    # Every third word of a corner case is an end of the range: the largest negative word among them.
    edge = np.where(random.integers(0, 3, edge.shape) == 0, random.choice([low, high], edge.shape), edge)
    most = int(FULL_SCALE * high)
    words = random.integers(-most, most, (len(slot), *shape), endpoint=True)
    ends = np.array(corners, np.int64).reshape(-1, 3)
    return whole_tokens(
        design,
        descriptor_words(
            np.concatenate([ends[:, 0], slot]),
            np.concatenate([ends[:, 2], position]),
            flags=np.concatenate([ends[:, 1], np.zeros(len(slot), np.int64)]),
            tag=np.arange(len(ends) + len(slot)) & 0xFF,
        ),
        np.concatenate([edge, words]),
    )
