"""The ALiBi unit under the units' common interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.streams import UnitInput, UnitOutput, from_octets

from .engines import open_alibi_engine
from .faulty_rows import faulty_rows
from .random_rows import random_rows
from .run import PackedAlibi, pack_run, unpack_run
from .streams import Rows

BEATS_OF_A_ROW = 3
"""What a random row has at least, on average, in units of a beat of 4 lanes."""


class AlibiUnit:
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`."""

    def __init__(self, design: AlibiDesign, folder: Path) -> None:
        self.design, self._folder = design, folder

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedAlibi:
        """See the interface."""
        return pack_run(self.design, arrays, scale)

    def unpack(self, packed: Any, output: UnitOutput) -> dict[str, np.ndarray]:
        """See the interface."""
        return unpack_run(self.design, packed, output)

    def run(
        self, engine: str, stream: UnitInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> UnitOutput:
        """See the interface."""
        return open_alibi_engine(engine, self.design, self._folder)(stream, stalls=stalls, progress=progress)

    def octets(self, output: UnitOutput) -> UnitOutput:
        """See the interface."""
        return output

    def plain(self, beats: int, seed: int) -> UnitInput:
        """See the interface."""
        return random_rows(self.design, max(1, beats // BEATS_OF_A_ROW), seed=seed, errors=False)

    def corners(self, beats: int, seed: int) -> UnitInput:
        """See the interface. Heads without slopes and positions from 2^24 on are among them."""
        return faulty_rows(self.design, max(1, beats // BEATS_OF_A_ROW), seed=seed)

    def errors(self, stream: UnitInput, output: UnitOutput) -> tuple[int, ErrorStatistics]:
        """See the interface. Scores that the causal flag replaces do not count."""
        design, rows = self.design, Rows.of(stream.descriptors)
        beats = -(-rows.count // design.lanes)
        row = np.repeat(np.arange(len(beats)), beats)
        key = (np.arange(len(row)) - np.repeat(np.cumsum(beats) - beats, beats))[:, None] * design.lanes
        key = key + np.arange(design.lanes)
        inside = key < rows.count[row, None]
        key = key + rows.first[row, None]
        wrong = np.zeros(len(beats), bool)
        wrong[row[output.user.astype(bool)]] = True
        chosen = inside & ~wrong[row, None] & ~(rows.causal[row, None] & (key > rows.query[row, None]))
        bias = exact_biases(design, rows.head[row, None], rows.query[row, None], key, rows.length[row, None])
        before, after = (from_octets(data, design.container_bits) for data in (stream.data, output.data))
        exact = np.clip(before + bias, design.data.minimum, design.data.maximum)
        return int((~wrong).sum()), error_statistics(after[chosen], exact[chosen])


def exact_biases(
    design: AlibiDesign, head: np.ndarray, query: np.ndarray, key: np.ndarray, length: np.ndarray
) -> np.ndarray:
    """The bias from the geometry's slopes in doubles, in LSB: off by at most 2^-20 of one up to 8 fraction bits.

    ``docs/alibi.md``, "Bias"; not from the unit's words.
    """
    slopes = np.array(design.geometry.slopes)
    match design.geometry.mode:
        case "relative":
            distance = key - query
        case "absolute":
            distance = key
        case "mpt":
            distance = key - (length - 1)
        case "symmetric":
            distance = -np.abs(key - query)
    bias = np.ldexp(slopes[np.minimum(head, len(slopes) - 1)] * distance, design.fraction_bits)
    return np.where(key < 0, 0.0, bias)
