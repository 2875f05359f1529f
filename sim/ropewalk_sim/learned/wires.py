"""Streams of a learned-table adder as words on its ports, and back."""

from typing import Any

import numpy as np
from ropewalk.designs.learned import LearnedDesign

from .stream import LearnedInput, LearnedOutput


def beat_octets(design: LearnedDesign, data: np.ndarray) -> np.ndarray:
    """``uint8 [beats, octets]`` from elements, each cut to its container."""
    return np.ascontiguousarray(data).astype(f"<u{design.container_bits // 8}").view(np.uint8).reshape(len(data), -1)


def beat_elements(design: LearnedDesign, octets: np.ndarray) -> np.ndarray:
    """Elements ``int64 [beats, lanes]``, the containers read as signed."""
    signed = np.ascontiguousarray(octets).view(f"<i{design.container_bits // 8}")
    return signed.astype(np.int64).reshape(len(octets), design.lanes)


def keep_words(design: LearnedDesign, keep: np.ndarray) -> list[int]:
    """TKEEP of each beat: a bit per octet."""
    octets = np.repeat(keep, design.container_bits // 8, axis=1)
    return [int(sum(1 << place for place in np.flatnonzero(row))) for row in octets] if design.has_keep else []


def input_words(design: LearnedDesign, stream: LearnedInput) -> list[int]:
    """Each beat as one integer: data, TKEEP where the design has it, TID, TLAST."""
    width = design.lanes * design.container_bits
    words = [int.from_bytes(row.tobytes(), "little") for row in beat_octets(design, stream.data)]
    if design.has_keep:
        words = [word | keep << width for word, keep in zip(words, keep_words(design, stream.keep), strict=True)]
        width += width // 8
    sides = zip(words, stream.tid.tolist(), stream.last.tolist(), strict=True)
    return [word | tid << width | last << width + 8 for word, tid, last in sides]


def output_of(design: LearnedDesign, seen: list[tuple[int, int, int, int, int]], **figures: Any) -> LearnedOutput:
    """The output beats ``(data, keep, tid, error, last)`` as arrays."""
    size, step = design.lanes * design.container_bits // 8, design.container_bits // 8
    octets = np.frombuffer(b"".join(beat[0].to_bytes(size, "little") for beat in seen), np.uint8).reshape(-1, size)
    keep = np.ones((len(seen), design.lanes), bool)
    if design.has_keep:
        keep = np.array([[beat[1] >> lane * step & 1 for lane in range(design.lanes)] for beat in seen], bool)
    side = np.array([beat[2:] for beat in seen], np.uint8).reshape(-1, 3)
    return LearnedOutput(
        data=beat_elements(design, octets),
        tid=side[:, 0].copy(),
        error=side[:, 1].astype(bool),
        last=side[:, 2].astype(bool),
        keep=keep.reshape(-1, design.lanes),
        **figures,
    )
