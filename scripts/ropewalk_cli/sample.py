"""The input that `verify` and the demo make themselves: random words at random positions, and every corner case."""

import numpy as np
from ropewalk.design import Design
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE, StreamInput, descriptor_words, whole_tokens

FULL_SCALE = 0.7
"""Random words reach this share of the largest word, so that no rotation at amplitude 1 saturates."""


def corner_tokens(design: Design) -> list[tuple[int, int, int]]:
    """Slot, flags and position of the tokens that every comparison should hold: ends of the range, errors, flags.

    The position is that on every axis.
    """
    corners = []
    for slot, limit in enumerate(design.limits):
        corners += [(slot, 0, 0), (slot, 0, limit - 1), (slot, 0, limit)]
        corners += [(slot, INVERSE, limit - 1), (slot, PASS, limit // 2), (slot, UNIT_AMPLITUDE, limit // 3)]
    empty = len(design.variants)
    return [*corners, (empty, 0, 0), (0, 0, 0xFFFF_FFFF)]


def random_stream(design: Design, tokens: int, seed: int) -> StreamInput:
    """``tokens`` random tokens of words up to :data:`FULL_SCALE`, the variant changing on every one.

    Their positions are random on each axis.
    """
    random = np.random.default_rng(seed)
    slot = np.arange(tokens) % len(design.variants)
    position = random.integers(0, np.array(design.limits)[slot, None], (tokens, design.axes))
    return stream_of(design, slot, position, random)


def stream_of(design: Design, slot: np.ndarray, position: np.ndarray, random: np.random.Generator) -> StreamInput:
    """Random words for tokens of the given slots and positions, ``[tokens, axes]`` or ``[tokens]``."""
    most = int(FULL_SCALE * design.data.maximum)
    words = random.integers(-most, most, (len(slot), sum(design.heads), design.geometry.head_dim), endpoint=True)
    tag = np.arange(len(slot)) & 0xFF
    return whole_tokens(design, descriptor_words(slot, position, tag=tag, axes=design.axes), words)
