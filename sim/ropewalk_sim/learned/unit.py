"""The learned-table adder under the units' common interface. Its table is what the folder holds."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.emit.learned import read_table
from ropewalk.errors import InputError
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.streams import UnitOutput, to_octets

from .model import run_model
from .scenarios import random_stream
from .stream import (
    LearnedInput,
    LearnedOutput,
    Memory,
    PackedLearned,
    Session,
    descriptors_of,
    pack_learned,
    unpack_learned,
    whole_tokens,
)

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

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedLearned:
        """See the interface."""
        return pack_learned(self.design, arrays, scale=scale)

    def unpack(self, packed: Any, output: LearnedOutput) -> dict[str, np.ndarray]:
        """See the interface."""
        return unpack_learned(self.design, packed, output)

    def run(
        self, engine: str, stream: LearnedInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> LearnedOutput:
        """See the interface."""
        session = Session(memory=self._memory)
        # Imported when asked for: cocotb and Amaranth's simulator take long to import.
        match engine:
            case "model":
                outside = self.design.storage == "external"
                unreadable = self._memory.errors(self.design) if outside else None
                return run_model(self.design, self.words, stream, unreadable=unreadable)
            case "amaranth":
                from .amaranth import simulate

                return simulate(self.design, self.words, stream, stalls, session, progress=progress)
            case "verilator":
                from .verilator import run_verilator

                return run_verilator(self._folder, stream, stalls, session, progress)
            case "icarus" | "cocotb-verilator":
                from .cosim import run_cocotb

                return run_cocotb(engine, self._folder, stream, stalls, session, progress)
        raise InputError(f"there is no engine {engine!r}")

    def octets(self, output: LearnedOutput) -> UnitOutput:
        """See the interface."""
        bits = self.design.container_bits
        return UnitOutput(
            data=to_octets(output.data, bits),
            keep=np.repeat(output.keep, bits // 8, axis=1),
            tid=output.tid,
            user=output.error.astype(np.uint8),
            last=output.last,
            first_output_clock=output.first_output_clock,
            last_output_clock=output.last_output_clock,
        )

    def plain(self, beats: int, seed: int) -> LearnedInput:
        """See the interface. Words to 70 % of full scale."""
        design, random = self.design, np.random.default_rng(seed)
        tokens = max(1, beats // design.beats_per_token)
        top = int(0.7 * design.data.maximum)
        position = random.integers(0, max(1, design.geometry.max_position), tokens)
        x = random.integers(-top, top, (tokens, design.geometry.dimension), endpoint=True)
        return whole_tokens(design, descriptors_of(position, tag=np.arange(tokens) & 0xFF), x)

    def corners(self, beats: int, seed: int) -> LearnedInput:
        """See the interface. Only what cocotbext-axi's source can send."""
        return random_stream(self.design, max(8, beats // self.design.beats_per_token), seed, faults=FAULTS)

    def errors(self, stream: LearnedInput, output: LearnedOutput) -> tuple[int, ErrorStatistics]:
        """See the interface. The exact value is that of the table's words, whatever they were rounded from."""
        design = self.design
        dimension, shape = design.geometry.dimension, (stream.tokens, design.beats_per_token * design.lanes)
        before, after = (data.reshape(shape)[:, :dimension] for data in (stream.data, output.data))
        (sound,) = np.nonzero(~output.error.reshape(stream.tokens, -1).any(axis=1))
        rows = stream.descriptors[sound, 1].astype(np.int64) + design.geometry.row_offset
        added = np.ldexp(self.words[rows].astype(np.float64), -design.rounded_bits)
        return len(sound), error_statistics(after[sound], before[sound] + added, design.data)
