"""What a host does at the register port of an ALiBi unit."""

from collections.abc import Sequence
from functools import partial

from ropewalk.gateware.alibi.registers import COUNTERS, UNIT
from ropewalk.tables.slopes import slope_load_words
from ropewalk_sim import registers
from ropewalk_sim.registers import SCANNING, Access

SOFT_RESET, CLEAR_COUNTERS, FLUSH = 1, 4, 8
"""Bits of ``control``."""

write = partial(registers.write, unit=UNIT)
read = partial(registers.read, unit=UNIT)
wait = partial(registers.wait, unit=UNIT)
read_counters = partial(registers.read_counters, unit=UNIT, names=tuple(COUNTERS))


def load_slopes(words: Sequence[int], *, start: int = 0) -> tuple[Access, ...]:
    """Load the slope words of all heads, once the unit is ready for it. The last answer is that of the commit."""
    return registers.load_words(len(words), slope_load_words(words), start=start, unit=UNIT)


def read_crc(*, start: int = 0) -> tuple[Access, ...]:
    """Wait until the CRC is known, and read it: the last answer."""
    return wait("load_state", SCANNING, 0, start=start), read("slope_crc")
