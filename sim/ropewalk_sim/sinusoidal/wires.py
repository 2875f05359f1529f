"""Streams of a sinusoidal adder as octets on its ports, and back."""

from typing import Any

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign

from .stream import SinusoidalInput, SinusoidalOutput


def beat_octets(design: SinusoidalDesign, data: np.ndarray) -> np.ndarray:
    """``uint8 [beats, octets]`` from elements, each cut to its container."""
    return np.ascontiguousarray(data).astype(f"<u{design.container_bits // 8}").view(np.uint8).reshape(len(data), -1)


def keep_octets(design: SinusoidalDesign, keep: np.ndarray) -> np.ndarray:
    """TKEEP, a bit per octet of the beat, as octets: ``uint8 [beats, octets]``; none where the design has no TKEEP."""
    if not design.has_keep:
        return np.zeros((len(keep), 0), np.uint8)
    return np.packbits(np.repeat(keep, design.container_bits // 8, axis=1), axis=1, bitorder="little")


def input_words(design: SinusoidalDesign, stream: SinusoidalInput) -> list[int]:
    """Each beat as one integer: data, TKEEP where the design has it, TID, TLAST."""
    width = design.elements * design.container_bits
    keep_bits = width // 8 if design.has_keep else 0
    rows = zip(
        (int.from_bytes(row.tobytes(), "little") for row in beat_octets(design, stream.data)),
        (int.from_bytes(row.tobytes(), "little") for row in keep_octets(design, stream.keep)),
        stream.tid.tolist(),
        stream.last.tolist(),
        strict=True,
    )
    return [
        word | keep << width | tid << width + keep_bits | last << width + keep_bits + 8
        for word, keep, tid, last in rows
    ]


def output_arrays(
    design: SinusoidalDesign,
    octets: np.ndarray,
    keep: np.ndarray,
    tid: np.ndarray,
    error: np.ndarray,
    last: np.ndarray,
    **figures: Any,
) -> SinusoidalOutput:
    """The output from its octets: ``uint8 [beats, ...]`` of data and TKEEP, and ``[beats]`` of TID, TUSER, TLAST."""
    step = design.container_bits // 8
    kept = np.ones((len(tid), design.elements), bool)
    if design.has_keep:
        kept = np.unpackbits(keep, axis=1, bitorder="little")[:, : design.elements * step : step].astype(bool)
    return SinusoidalOutput(
        data=np.ascontiguousarray(octets).view(f"<i{step}").astype(np.int64).reshape(-1, design.elements),
        tid=np.ascontiguousarray(tid, np.uint8).copy(),
        error=np.asarray(error).astype(bool),
        last=np.asarray(last).astype(bool),
        keep=kept,
        **figures,
    )


def output_of(
    design: SinusoidalDesign, seen: list[tuple[int, int, int, int, int]], **figures: Any
) -> SinusoidalOutput:
    """The output beats ``(data, keep, tid, error, last)``, each an integer."""
    size = design.elements * design.container_bits // 8
    data, keep = (
        np.frombuffer(b"".join(beat[field].to_bytes(length, "little") for beat in seen), np.uint8).reshape(-1, length)
        for field, length in ((0, size), (1, -(-size // 8)))
    )
    side = np.array([beat[2:] for beat in seen], np.int64).reshape(-1, 3)
    return output_arrays(design, data, keep, side[:, 0], side[:, 1], side[:, 2], **figures)
