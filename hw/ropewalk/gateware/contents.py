"""What the ROMs of an engine hold, by the name of their memory. The one source for gateware and emitted files."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..design import Design
from ..sine_format import SineFormat
from ..tables.rows import pack_entries
from ..tables.sine import pack, sine_words
from ..tables.slot_words import slot_entries
from ..tables.source import source_rows
from .slots import entry_bits, entry_count, pair_bits, physical_slots, slot_layout, slot_words

MemoryKind: TypeAlias = Literal["rom", "ram", "file"]


@dataclass(frozen=True)
class RomContents:
    """The words of a ROM, or those that a RAM begins with: ``words`` may be fewer than ``depth``; the rest is 0.

    ``kind`` says how they are held: by a block ROM or block RAM (:mod:`.primitives`), or by a memory whose words stand
    in a file of their own in every family.
    """

    width: int
    depth: int
    words: list[int]
    kind: MemoryKind = "rom"


def rom_contents(design: Design) -> dict[str, RomContents]:
    """Every ROM of the engine."""
    if design.source == "synth":
        source = {"steps": step_contents(design), "sine": sine_contents(design.sine)}
    else:
        source = {"rows": row_contents(design)}
    return {"slots": slot_contents(design), **source}


def slot_contents(design: Design) -> RomContents:
    """A header per place for a slot, at least two; those without a variant are 0."""
    depth = max(2, 1 << (physical_slots(design) - 1).bit_length())
    return RomContents(slot_layout(design).size, depth, slot_words(design), "file")


def step_contents(design: Design) -> RomContents:
    """Steps and axes of all places; the address is the pair, in as many bits as a head's pairs take, then the place."""
    stride = 1 << pair_bits(design)
    words = [0] * (stride * len(design.variants))
    for slot in range(len(design.variants)):
        for pair, entry in enumerate(slot_entries(design, slot)):
            words[slot * stride + pair] = entry & (1 << 48) - 1 | entry >> 62 << 48
    return RomContents(entry_bits(design), entry_count(design), words, "ram" if design.loadable else "rom")


def sine_contents(fmt: SineFormat) -> RomContents:
    """The octant of sines."""
    return RomContents(fmt.word_bits, 1 << fmt.index_bits, [pack(word, fmt) for word in sine_words(fmt)])


def row_contents(design: Design) -> RomContents:
    """The rows of all positions of all variants, one after the other."""
    entries: list[int] = []
    for slot, limit in enumerate(design.limits):
        entries += pack_entries(source_rows(design, slot, range(limit)), design.coefficient_width)
    return RomContents(design.row_entry_bits, len(entries), entries)
