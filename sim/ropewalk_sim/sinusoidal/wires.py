"""Streams of a sinusoidal adder as words on its ports, and back."""

from typing import Any

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign

from .stream import SinusoidalInput, SinusoidalOutput


def beat_octets(design: SinusoidalDesign, data: np.ndarray) -> np.ndarray:
    """``uint8 [beats, octets]`` from elements, each cut to its container."""
    return np.ascontiguousarray(data).astype(f"<u{design.container_bits // 8}").view(np.uint8).reshape(len(data), -1)


def keep_words(design: SinusoidalDesign, keep: np.ndarray) -> list[int]:
    """TKEEP of each beat: a bit per octet; all 0 where the design has none."""
    if not design.has_keep:
        return [0] * len(keep)
    octets = np.packbits(np.repeat(keep, design.container_bits // 8, axis=1), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in octets]


def input_words(design: SinusoidalDesign, stream: SinusoidalInput) -> list[int]:
    """Each beat as one integer: data, TKEEP where the design has it, TID, TLAST."""
    width = design.elements * design.container_bits
    keep_bits = width // 8 if design.has_keep else 0
    rows = zip(
        (int.from_bytes(row.tobytes(), "little") for row in beat_octets(design, stream.data)),
        keep_words(design, stream.keep),
        stream.tid.tolist(),
        stream.last.tolist(),
        strict=True,
    )
    return [
        word | keep << width | tid << width + keep_bits | last << width + keep_bits + 8
        for word, keep, tid, last in rows
    ]


def output_of(
    design: SinusoidalDesign, seen: list[tuple[int, int, int, int, int]], **figures: Any
) -> SinusoidalOutput:
    """The output beats ``(data, keep, tid, error, last)`` as arrays."""
    size, step = design.elements * design.container_bits // 8, design.container_bits // 8
    octets = np.frombuffer(b"".join(beat[0].to_bytes(size, "little") for beat in seen), np.uint8)
    keep = np.ones((len(seen), design.elements), bool)
    if design.has_keep:
        keep = np.array([[beat[1] >> place * step & 1 for place in range(design.elements)] for beat in seen], bool)
    side = np.array([beat[2:] for beat in seen], np.uint8).reshape(-1, 3)
    return SinusoidalOutput(
        data=octets.view(f"<i{step}").astype(np.int64).reshape(-1, design.elements),
        tid=side[:, 0].copy(),
        error=side[:, 1].astype(bool),
        last=side[:, 2].astype(bool),
        keep=keep.reshape(-1, design.elements),
        **figures,
    )
