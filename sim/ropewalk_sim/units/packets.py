"""Beats as integers, the form in which Python simulators take and give them."""

import numpy as np

from .streams import UnitInput


def packets(stream: UnitInput, has_keep: bool) -> list[int]:
    """Each beat as one integer: data, TKEEP where there is one, TID, TLAST."""
    width = 8 * stream.data.shape[1]
    words = integers(stream.data)
    if has_keep:
        keep = np.packbits(stream.keep, axis=1, bitorder="little")
        words = [word | bits << width for word, bits in zip(words, integers(keep), strict=True)]
        width += width // 8
    sides = zip(words, stream.tid.tolist(), stream.last.tolist(), strict=True)
    return [word | tid << width | last << width + 8 for word, tid, last in sides]


def integers(rows: np.ndarray) -> list[int]:
    """Each row of words as one integer, the first word lowest."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.ascontiguousarray(rows)]


def beat_arrays(beats: list[int], octets: int) -> dict[str, np.ndarray]:
    """Output beats taken apart: data in the low octets, then TKEEP (a bit per octet), TID, TLAST, TUSER."""
    raw = np.frombuffer(b"".join((beat & (1 << 8 * octets) - 1).to_bytes(octets, "little") for beat in beats), np.uint8)
    side = [beat >> 8 * octets for beat in beats]
    keep = np.array([[one >> place & 1 for place in range(octets)] for one in side], bool)
    rest = np.array([one >> octets for one in side], np.int64)
    return {
        "data": raw.reshape(-1, octets),
        "keep": keep.reshape(-1, octets),
        "tid": (rest & 0xFF).astype(np.uint8),
        "last": (rest >> 8 & 1).astype(bool),
        "user": (rest >> 9).astype(np.uint8),
    }
