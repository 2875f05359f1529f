"""The learned-table adder under the units' common interface. Its table is what the folder holds."""

from functools import cached_property
from pathlib import Path

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.emit.learned import read_table
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.row_unit import RowUnit
from ropewalk_sim.units.rows import RowInput, RowOutput, rows_of

from .engines import run_engine
from .memory import Memory
from .scenarios import random_stream

FAULTS = 0.3
"""Share of the packets of the corner cases that do not fit."""

MEMORY = Memory(latency=(1, 64))
"""How fast the table outside answers."""


class LearnedUnit(RowUnit[LearnedDesign]):
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`.

    ``memory`` is what a table outside lies in.
    """

    def __init__(self, design: LearnedDesign, folder: Path, memory: Memory = MEMORY) -> None:
        super().__init__(design, folder)
        self._memory = memory

    @cached_property
    def words(self) -> Words:
        """The table in the folder; raises ``InputError`` where it cannot be read."""
        return read_table(self.design, self._folder)

    def run(
        self, engine: str, stream: RowInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> RowOutput:
        """See the interface."""
        return run_engine(
            engine, self._folder, self.design, self.words, stream, stalls, memory=self._memory, progress=progress
        )

    def plain(self, beats: int, seed: int) -> RowInput:
        """See the interface."""
        return self._plain(beats, seed, max(1, self.design.geometry.max_position))

    def corners(self, beats: int, seed: int) -> RowInput:
        """See the interface. Only what cocotbext-axi's source can send."""
        return random_stream(self.design, max(8, beats // self.design.beats_per_token), seed, faults=FAULTS)

    def errors(self, stream: RowInput, output: RowOutput) -> tuple[int, ErrorStatistics]:
        """See the interface. The exact value is that of the table's words, whatever they were rounded from."""
        design = self.design
        before, after = rows_of(design, stream.data), rows_of(design, output.data)
        (sound,) = np.nonzero(~output.error.reshape(stream.tokens, -1).any(axis=1))
        rows = stream.descriptors[sound, 1].astype(np.int64) + design.geometry.row_offset
        added = np.ldexp(self.words[rows].astype(np.float64), -design.rounded_bits)
        return len(sound), error_statistics(after[sound], before[sound] + added, design.data)
