"""The sinusoidal adder under the units' common interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.row_arrays import PackedRows, pack_rows, unpack_rows
from ropewalk_sim.units.rows import RowInput, RowOutput, descriptors_of, octets_of, rows_of, whole_tokens
from ropewalk_sim.units.streams import UnitOutput

from .engines import run_engine
from .exact import exact_elements
from .scenarios import faulty, mixed_tokens

CHUNK_TOKENS = 256
"""Tokens whose exact rows are made at once, which bounds the memory."""


class SinusoidalUnit:
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`."""

    def __init__(self, design: SinusoidalDesign, folder: Path) -> None:
        self.design, self._folder = design, folder

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedRows:
        """See the interface."""
        return pack_rows(self.design, arrays, scale=scale)

    def unpack(self, packed: Any, output: RowOutput) -> dict[str, np.ndarray]:
        """See the interface."""
        return unpack_rows(self.design, packed, output)

    def run(
        self, engine: str, stream: RowInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> RowOutput:
        """See the interface."""
        return run_engine(engine, self._folder, self.design, stream, stalls, progress=progress)

    def octets(self, output: RowOutput) -> UnitOutput:
        """See the interface."""
        return octets_of(self.design, output)

    def plain(self, beats: int, seed: int) -> RowInput:
        """See the interface. Words to 70 % of full scale."""
        design, random = self.design, np.random.default_rng(seed)
        tokens = max(1, beats // design.beats_per_token)
        top = int(0.7 * design.data.maximum)
        position = random.integers(0, design.limit, tokens)
        x = random.integers(-top, top, (tokens, design.dimension), endpoint=True)
        return whole_tokens(design, descriptors_of(position, tag=np.arange(tokens) & 0xFF), x)

    def corners(self, beats: int, seed: int) -> RowInput:
        """See the interface. Only what cocotbext-axi's source can send."""
        tokens = max(1, beats // self.design.beats_per_token)
        return faulty(mixed_tokens(self.design, tokens, seed), self.design, seed + 1, sendable=True)

    def errors(self, stream: RowInput, output: RowOutput) -> tuple[int, ErrorStatistics]:
        """See the interface."""
        design, geometry = self.design, self.design.geometry
        frequencies = [mpmath.mpf(frequency) for frequency in geometry.inverse_frequency]
        before, after = rows_of(design, stream.data), rows_of(design, output.data)
        (sound,) = np.nonzero(~output.error.reshape(stream.tokens, -1).any(axis=1))
        rows = stream.descriptors[:, 1].astype(np.int64) + geometry.row_offset
        total = ErrorStatistics()
        for first in range(0, len(sound), CHUNK_TOKENS):
            chosen = sound[first : first + CHUNK_TOKENS]
            made = exact_elements(frequencies, design.dimension, half=design.half, rows=rows[chosen])
            made[rows[chosen] == (-1 if geometry.zero_row is None else geometry.zero_row)] = 0
            exact = before[chosen] + np.ldexp(design.amplitude * made, design.fraction_bits)
            total += error_statistics(after[chosen], exact, design.data)
        return len(sound), total
