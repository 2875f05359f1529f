"""The sinusoidal adder under the units' common interface."""

import mpmath
import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.row_unit import RowUnit
from ropewalk_sim.units.rows import RowInput, RowOutput, rows_of

from .engines import run_engine
from .exact import exact_elements
from .scenarios import faulty, mixed_tokens

CHUNK_TOKENS = 256
"""Tokens whose exact rows are made at once, which bounds the memory."""


class SinusoidalUnit(RowUnit[SinusoidalDesign]):
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`."""

    def run(
        self, engine: str, stream: RowInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> RowOutput:
        """See the interface."""
        return run_engine(engine, self._folder, self.design, stream, stalls, progress=progress)

    def plain(self, beats: int, seed: int) -> RowInput:
        """See the interface."""
        return self._plain(beats, seed, self.design.limit)

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
