"""What registers and slots held in each clock of a soak, worked out from the writes that were seen.

Written from ``docs/ports.md``, "AXI4-Lite" and the sections below it; the words of a slot are looked up, not read.
"""

import zlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from ropewalk_sim.registers import address_of

from .layouts import RESET_HEADS, SLOTS, Content, Layout, load_words
from .notes import UNANSWERED

OKAY, SLVERR = 0, 2
SOFT_RESET, FLUSH = 1, 8


class Settings(NamedTuple):
    """What a descriptor samples: the content of each slot, head counts, and the offset on each axis."""

    slots: tuple[Content | None, ...]
    heads: tuple[int, int, int]
    offsets: tuple[int, ...]


@dataclass
class History:
    """Registers and slots of an engine of ``layout``.

    ``commits`` counts slot loads that took effect. :meth:`write` and :meth:`reset` go from one moment to the next;
    what they find wrong is in ``fault``.
    """

    layout: Layout

    def __post_init__(self) -> None:
        self.axes = self.layout.design.axes
        self.known = {load_words(self.layout, content): content for content in self.layout.contents}
        first = self.layout.contents[:2]
        self.settings = Settings((*first, *[None] * (SLOTS - len(first))), RESET_HEADS, (0,) * self.axes)
        self.loading: int | None = None
        self.words: list[int] = []
        self.commits = self.refused = 0
        names = ("query_heads", "key_heads", "value_heads", "load_begin", "load_data", "load_commit", "control")
        self.names = {address_of(name): name for name in names}
        self.offset = address_of("offset[0]")
        self.crc = address_of("geometry_crc[0]")
        self.fault = ""

    def reset(self) -> None:
        """``aresetn`` was low: what is loaded stays."""
        self.settings = Settings(self.settings.slots, RESET_HEADS, (0,) * self.axes)
        self.loading = None

    def write(self, address: int, word: int, answer: int) -> str:
        """A write was taken. What it ends: ``"soft reset"``, ``"flush"`` or nothing."""
        name = self.names.get(address, "offset")
        expected: tuple[int, ...] = (OKAY,)
        ends = ""
        slots, heads, offsets = self.settings
        if name in ("query_heads", "key_heads", "value_heads"):
            kind = ("query_heads", "key_heads", "value_heads").index(name)
            values = [word & 255 if kind == number else count for number, count in enumerate(heads)]
            changed = (values[0], values[1], values[2])
            if any(changed):
                self.settings = Settings(slots, changed, offsets)
            else:
                expected = (SLVERR,)
        elif name == "offset":
            axis = (address - self.offset) // 4
            signed = word - (word >> 31 << 32)
            self.settings = Settings(slots, heads, (*offsets[:axis], signed, *offsets[axis + 1 :]))
        elif name == "load_begin":
            # Whether the engine is busy is its own affair.
            expected = (OKAY, SLVERR) if word < SLOTS else (SLVERR,)
            self.loading = word if answer == OKAY else None
            self.words = []
        elif name == "load_data":
            expected = (OKAY,) if self.loading is not None else (SLVERR,)
            self.words.append(word)
        elif name == "load_commit":
            content = self.known.get(tuple(self.words))
            if self.loading is not None and content is not None:
                self.settings = Settings((*slots[: self.loading], content, *slots[self.loading + 1 :]), heads, offsets)
                self.commits += 1
            else:
                expected = (SLVERR,)
            self.loading = None
        else:
            ends = "soft reset" if word & SOFT_RESET else "flush" if word & FLUSH else ""
            self.loading = None if ends else self.loading
        if answer not in (*expected, UNANSWERED):
            self.fault = f"writing {word:#x} to {name} was answered with {answer}, and not with {expected[0]}"
        self.refused += answer == SLVERR
        return ends

    def read(self, address: int, value: int, answer: int) -> None:
        """A read was answered, after the writes so far."""
        expected = self.expected(address)
        if answer != OKAY or (expected is not None and value != expected):
            wanted = "" if expected is None else f", and not {expected:#x}"
            self.fault = f"reading {address:#x} gave {value:#x} with answer {answer}{wanted}"

    def expected(self, address: int) -> int | None:
        """What a register must show, where that follows from writes alone."""
        if address >= self.crc:
            content = self.settings.slots[(address - self.crc) // 4]
            if content is None:
                return 0
            return zlib.crc32(np.array(load_words(self.layout, content), "<u4").tobytes())
        if address == address_of("identity"):
            return int.from_bytes(b"ROPE", "little")
        if address == address_of("query_heads"):
            return self.settings.heads[0]
        return None
