"""What a host does at an engine's register port: single accesses, and the sequences that load slots and read state.

Every engine that has a register port carries out the same accesses (:class:`~ropewalk_sim.beats.Script`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ropewalk.design import Design
from ropewalk.gateware.register_map import ROTARY, register_map
from ropewalk.tables.slot_words import slot_load_words

BUSY, SCANNING = 2, 4
"""Bits of ``load_state``."""

SNAPSHOT = 2
"""The bit of ``control`` that copies the counters to where they can be read."""

COUNTERS = (
    "tokens", "beats", "input_stalls", "output_stalls", "saturations", "position_errors", "slot_errors",
    "framing_errors",
)  # fmt: skip
IDENTITY = ("identity", "version", "widths", "shape", "features")

MOST_POLLS = 20_000
"""A wait gives up, with an ``EngineError``, after so many reads."""

SILENCE_CLOCKS = 2_000
"""A register port that leaves an access without an answer for so many clocks is said not to answer."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """One thing that a host does: a write, a read, or a read that is repeated until it shows what is waited for.

    Parameters
    ----------
    address
        Any of 12 bits, a register's or none.
    write
        The 32-bit word to write; ``None`` reads.
    strobes
        Which bytes of it are written.
    mask, until
        Where ``mask`` is not 0, the read is repeated until ``value & mask == until`` or it is answered with an error.
    start
        While the engine streams: the clock before which the access does not begin.
    """

    address: int
    write: int | None = None
    strobes: int = 15
    mask: int = 0
    until: int = 0
    start: int = 0

    def __post_init__(self) -> None:
        for name, bits in (("address", 12), ("strobes", 4), ("mask", 32), ("until", 32), ("start", 62)):
            if not 0 <= getattr(self, name) < 1 << bits:
                raise ValueError(f"{name} must have at most {bits} bits, not {getattr(self, name)!r}")
        if self.write is not None and (self.mask or not 0 <= self.write < 1 << 32):
            raise ValueError(f"what is written must be a 32-bit word and is not waited for, not {self.write!r}")


class Answer(NamedTuple):
    """What the port answered: the word that was read (0 for a write), its response code, and when.

    ``clock`` is that of the streams, about which engines may differ by one; -1 before the streams begin.
    """

    value: int
    response: int
    clock: int

    @property
    def refused(self) -> bool:
        """Whether it was SLVERR."""
        return self.response != 0


def address_of(register: str, unit: str = ROTARY) -> int:
    """The address of a register of ``unit``, by its name in ``docs/registers.md`` or that unit's page."""
    return register_map(unit)[register].address


def write(register: str, value: int, *, strobes: int = 15, start: int = 0, unit: str = ROTARY) -> Access:
    """Write a word to a register of ``unit``."""
    return Access(address=address_of(register, unit), write=int(value) & 0xFFFFFFFF, strobes=strobes, start=start)


def read(register: str, *, start: int = 0, unit: str = ROTARY) -> Access:
    """Read a register of ``unit``."""
    return Access(address=address_of(register, unit), start=start)


def wait(register: str, mask: int, until: int, *, start: int = 0, unit: str = ROTARY) -> Access:
    """Read a register of ``unit`` again and again until the bits of ``mask`` are those of ``until``."""
    return Access(address=address_of(register, unit), mask=mask, until=until, start=start)


def load_words(begin: int, words: Iterable[int], *, start: int = 0, unit: str = ROTARY) -> tuple[Access, ...]:
    """Load ``words``, once the unit is ready for it; ``begin`` is the slot, or what else a load begins with.

    The last answer is that of the commit.
    """
    return (
        wait("load_state", BUSY, 0, start=start, unit=unit),
        write("load_begin", begin, unit=unit),
        *(write("load_data", word, unit=unit) for word in words),
        write("load_commit", 0, unit=unit),
    )


def load_slot(slot: int, design: Design, variant: int = 0, *, start: int = 0) -> tuple[Access, ...]:
    """Load into ``slot`` what the variant number ``variant`` of another design is made of."""
    return load_words(slot, slot_load_words(design, variant), start=start)


def read_crcs(slots: Iterable[int], *, start: int = 0) -> tuple[Access, ...]:
    """Wait until all CRCs are known, and read those of ``slots``: an answer each, behind the first."""
    return wait("load_state", SCANNING, 0, start=start), *(read(f"geometry_crc[{slot}]") for slot in slots)


def read_counters(*, start: int = 0, unit: str = ROTARY, names: Iterable[str] = COUNTERS) -> tuple[Access, ...]:
    """Take a snapshot and read the counters ``names``: an answer each, behind the first."""
    return write("control", SNAPSHOT, start=start, unit=unit), *(read(name, unit=unit) for name in names)


def fields(register: str, value: int) -> dict[str, int]:
    """The fields of a register's value, by name."""
    return {
        name: value >> field.low & (1 << field.width) - 1 for name, field in register_map()[register].fields.items()
    }
