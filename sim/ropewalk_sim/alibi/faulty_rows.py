"""Streams whose packets do not fit their rows, in every way that docs/alibi.md, "Framing", speaks of."""

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk_sim.units.streams import UnitInput

from .random_rows import random_rows

FOREIGN = 255
"""A tag that no row has."""


def faulty_rows(design: AlibiDesign, rows: int, *, seed: int) -> UnitInput:
    """Rows with the tags 0 .. 249 in turn; half of them begin late, end early or late, or have a TKEEP with holes."""
    random = np.random.default_rng(seed)
    clean = random_rows(design, rows, seed=seed, most=24)
    descriptors = clean.descriptors.copy()
    tags = np.arange(rows) % 250
    descriptors[:, 0] = descriptors[:, 0] & 0xFF00FFFF | (tags << 16).astype(np.uint32)
    ends = np.flatnonzero(clean.last) + 1
    beats: list[tuple[np.ndarray, np.ndarray, int, bool]] = []
    for row, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        packet = [(clean.data[i], clean.keep[i].copy(), int(tags[row]), bool(clean.last[i])) for i in range(start, end)]
        fault = random.integers(0, 8)
        place = int(random.integers(0, len(packet)))
        if fault == 0:  # beats of no row, before it or inside
            foreign = (clean.data[start] ^ 85, clean.keep[start], FOREIGN, bool(random.integers(0, 2)))
            packet[place:place] = [foreign] * int(random.integers(1, 4))
        elif fault == 1:  # ends early
            packet = packet[: place + 1]
            packet[-1] = (*packet[-1][:3], True)
        elif fault == 2:  # goes on
            packet[-1] = (*packet[-1][:3], False)
            extra = int(random.integers(1, 4))
            packet += [(clean.data[start], clean.keep[start], int(tags[row]), i == extra - 1) for i in range(extra)]
        elif fault == 3:  # a score is missing, or all are
            packet[place][1][:] = random.integers(0, 2, len(packet[place][1])) if random.integers(0, 2) else 0
        beats += packet
    data, keep, tid, last = zip(*beats, strict=True)
    return UnitInput(
        descriptors=descriptors,
        data=np.array(data, np.uint8),
        keep=np.array(keep, bool),
        tid=np.array(tid, np.uint8),
        last=np.array(last, bool),
    )
