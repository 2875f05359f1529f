"""Streams of a learned-table adder as words on its ports, and back."""

from typing import Any

import numpy as np
from ropewalk.designs.learned import LearnedDesign

from .stream import LearnedInput, LearnedOutput


def beat_octets(design: LearnedDesign, data: np.ndarray) -> np.ndarray:
    """``uint8 [beats, octets]`` from elements, each cut to its container."""
    return (
        np.ascontiguousarray(data)
        .astype(f"<u{design.container_bits // 8}")
        .view(np.uint8)
        .reshape(len(data), design.lanes * design.container_bits // 8)
    )


def beat_elements(design: LearnedDesign, octets: np.ndarray) -> np.ndarray:
    """Elements ``int64 [beats, lanes]``, the containers read as signed."""
    signed = np.ascontiguousarray(octets).view(f"<i{design.container_bits // 8}")
    return signed.astype(np.int64).reshape(len(octets), design.lanes)


def keep_octets(design: LearnedDesign, keep: np.ndarray) -> np.ndarray:
    """TKEEP of each beat, a bit per octet, as ``uint8 [beats, octets]``."""
    return np.packbits(np.repeat(keep, design.container_bits // 8, axis=1), axis=1, bitorder="little")


def keep_elements(design: LearnedDesign, octets: np.ndarray) -> np.ndarray:
    """TKEEP by element, ``bool [beats, lanes]``: all true where there is none. An element is whole or not kept."""
    if not design.has_keep:
        return np.ones((len(octets), design.lanes), bool)
    size = design.container_bits // 8
    bits = np.unpackbits(octets, axis=1, bitorder="little")[:, : design.lanes * size].astype(bool)
    return np.asarray(bits.reshape(len(octets), design.lanes, size).all(axis=2))


def input_words(design: LearnedDesign, stream: LearnedInput) -> list[int]:
    """Each beat as one integer: data, TKEEP where the design has it, TID, TLAST."""
    width = design.lanes * design.container_bits
    words = [int.from_bytes(row.tobytes(), "little") for row in beat_octets(design, stream.data)]
    if design.has_keep:
        keeps = [int.from_bytes(row.tobytes(), "little") for row in keep_octets(design, stream.keep)]
        words = [word | keep << width for word, keep in zip(words, keeps, strict=True)]
        width += width // 8
    sides = zip(words, stream.tid.tolist(), stream.last.tolist(), strict=True)
    return [word | tid << width | last << width + 8 for word, tid, last in sides]


def output_of(design: LearnedDesign, seen: list[tuple[int, int, int, int, int]], **figures: Any) -> LearnedOutput:
    """The output beats ``(data, keep, tid, error, last)`` as arrays."""
    size = design.lanes * design.container_bits // 8
    octets = np.frombuffer(b"".join(beat[0].to_bytes(size, "little") for beat in seen), np.uint8).reshape(-1, size)
    keeps = b"".join(beat[1].to_bytes(-(-size // 8), "little") for beat in seen)
    keep = keep_elements(design, np.frombuffer(keeps, np.uint8).reshape(len(seen), -(-size // 8)))
    side = np.array([beat[2:] for beat in seen], np.uint8).reshape(-1, 3)
    return LearnedOutput(
        data=beat_elements(design, octets),
        tid=side[:, 0].copy(),
        error=side[:, 1].astype(bool),
        last=side[:, 2].astype(bool),
        keep=keep,
        **figures,
    )
