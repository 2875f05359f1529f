"""The learned-table adder under the units' common interface. Its table is what the folder holds."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.emit.learned import read_table
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.row_arrays import PackedRows, pack_rows, unpack_rows
from ropewalk_sim.units.rows import RowInput, RowOutput, descriptors_of, octets_of, rows_of, whole_tokens
from ropewalk_sim.units.streams import UnitOutput

from .engines import run_engine
from .memory import Memory
from .scenarios import random_stream

FAULTS = 0.3
"""Share of the packets of the corner cases that do not fit."""

MEMORY = Memory(latency=(1, 64))
"""How fast the table outside answers."""


class LearnedUnit:
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`.

    ``memory`` is what a table outside lies in.
    """

    def __init__(self, design: LearnedDesign, folder: Path, memory: Memory = MEMORY) -> None:
        self.design, self._folder, self._memory = design, folder, memory

    @cached_property
    def words(self) -> Words:
        """The table in the folder; raises ``InputError`` where it cannot be read."""
        return read_table(self.design, self._folder)

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
        return run_engine(
            engine, self._folder, self.design, self.words, stream, stalls, memory=self._memory, progress=progress
        )

    def octets(self, output: RowOutput) -> UnitOutput:
        """See the interface."""
        return octets_of(self.design, output)

    def plain(self, beats: int, seed: int) -> RowInput:
        """See the interface. Words to 70 % of full scale."""
        design, random = self.design, np.random.default_rng(seed)
        tokens = max(1, beats // design.beats_per_token)
        top = int(0.7 * design.data.maximum)
        position = random.integers(0, max(1, design.geometry.max_position), tokens)
        x = random.integers(-top, top, (tokens, design.geometry.dimension), endpoint=True)
        return whole_tokens(design, descriptors_of(position, tag=np.arange(tokens) & 0xFF), x)

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
