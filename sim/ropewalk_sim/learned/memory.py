"""The table outside: where it lies in a memory, and that memory. ``docs/learned.md``, "Table outside"."""

from dataclasses import dataclass

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.tables.learned import Words
from ropewalk_sim.units.read_memory import ReadMemory


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The memory outside, with the table in it from ``base`` on, ``stride`` bytes from row to row (None: no gap).

    A read is answered ``latency`` clocks (lowest, highest; drawn anew for each) after it was taken, in order; in the
    share ``stall`` of the clocks it takes no read, and begins no answer. ``unreadable`` beats, by row and beat, answer
    SLVERR.
    """

    base: int = 0
    stride: int | None = None
    latency: tuple[int, int] = (1, 1)
    stall: float = 0.0
    unreadable: tuple[tuple[int, int], ...] = ()

    def errors(self, design: LearnedDesign) -> np.ndarray:
        """``bool [rows, beats per token]`` for the model."""
        errors = np.zeros((design.geometry.rows, design.beats_per_token), bool)
        for place in self.unreadable:
            errors[place] = True
        return errors

    def with_table(self, design: LearnedDesign, words: Words) -> ReadMemory:
        """The memory with ``words`` in it.

        What lies between rows is filled with odd octets: nothing may depend on it. Raises ``ValueError`` where the
        stride does not hold a row.
        """
        stride = design.row_stride if self.stride is None else self.stride
        rows, dimension = words.shape
        if stride < design.row_stride or stride % design.bus_bytes:
            raise ValueError(f"a stride of {stride} bytes does not hold rows of {design.row_stride}")
        image = np.full((rows, stride), 0x5A, np.uint8)
        octets = words.astype(f"<i{design.table_container_bits // 8}")
        image[:, : dimension * octets.itemsize] = np.ascontiguousarray(octets).view(np.uint8)
        unreadable = np.zeros((rows, stride // design.bus_bytes), bool)
        unreadable[:, : design.beats_per_token] = self.errors(design)
        return ReadMemory(
            base=self.base,
            image=image.reshape(-1),
            unreadable=unreadable.reshape(-1),
            latency=self.latency,
            stall=self.stall,
        )
