"""What a host does at the register port of an ALiBi unit."""

from collections.abc import Sequence

from ropewalk.gateware.alibi.registers import COUNTERS, UNIT
from ropewalk.tables.slopes import slope_load_words
from ropewalk_sim.registers import BUSY, SCANNING, SNAPSHOT, Access, address_of

SOFT_RESET, CLEAR_COUNTERS, FLUSH = 1, 4, 8
"""Bits of ``control``."""


def write(register: str, value: int, *, strobes: int = 15, start: int = 0) -> Access:
    """Write a word to a register."""
    return Access(address=address_of(register, UNIT), write=value & 0xFFFFFFFF, strobes=strobes, start=start)


def read(register: str, *, start: int = 0) -> Access:
    """Read a register."""
    return Access(address=address_of(register, UNIT), start=start)


def wait(register: str, mask: int, until: int, *, start: int = 0) -> Access:
    """Read a register again and again until the bits of ``mask`` are those of ``until``."""
    return Access(address=address_of(register, UNIT), mask=mask, until=until, start=start)


def load_slopes(words: Sequence[int], *, start: int = 0) -> tuple[Access, ...]:
    """Load the slope words of all heads, once the unit is ready for it. The last answer is that of the commit."""
    return (
        wait("load_state", BUSY, 0, start=start),
        write("load_begin", len(words)),
        *(write("load_data", word) for word in slope_load_words(words)),
        write("load_commit", 0),
    )


def read_crc(*, start: int = 0) -> tuple[Access, ...]:
    """Wait until the CRC is known, and read it: the last answer."""
    return wait("load_state", SCANNING, 0, start=start), read("slope_crc")


def read_counters(*, start: int = 0) -> tuple[Access, ...]:
    """Take a snapshot and read all counters, in the order of their names: an answer each, behind the first."""
    return write("control", SNAPSHOT, start=start), *(read(name) for name in COUNTERS)
