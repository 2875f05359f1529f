"""What the ROMs of an engine hold, by the name of their memory. The one source for gateware and emitted files."""

from dataclasses import dataclass

from ..design import Design, SineFormat
from ..tables.rows import pack_entries
from ..tables.sine import pack, sine_words
from ..tables.source import source_rows
from ..tables.steps import step_words
from .slots import slot_layout, slot_words


@dataclass(frozen=True)
class RomContents:
    """The words of a ROM: ``words`` may be fewer than ``depth``; the rest is 0."""

    width: int
    depth: int
    words: list[int]


def rom_contents(design: Design) -> dict[str, RomContents]:
    """Every ROM of the engine."""
    if design.source == "synth":
        source = {"steps": step_contents(design), "sine": sine_contents(design.sine)}
    else:
        source = {"rows": row_contents(design)}
    return {"slots": slot_contents(design), **source}


def slot_contents(design: Design) -> RomContents:
    """A word per slot. Slots without a variant are 0: not loaded."""
    return RomContents(slot_layout(design).size, 1 << (design.slots - 1).bit_length(), slot_words(design))


def step_contents(design: Design) -> RomContents:
    """The steps of all slots; the address is the pair, in as many bits as all pairs take, then the slot."""
    stride = 1 << pair_bits(design)
    words = [0] * (stride * len(design.variants))
    for slot, variant in enumerate(design.variants):
        first = slot * stride
        words[first : first + design.pairs] = step_words(variant.inverse_frequency, design.phase_bits)
    return RomContents(design.phase_bits, stride << (design.slots - 1).bit_length(), words)


def sine_contents(fmt: SineFormat) -> RomContents:
    """The octant of sines."""
    return RomContents(fmt.word_bits, 1 << fmt.index_bits, [pack(word, fmt) for word in sine_words(fmt)])


def row_contents(design: Design) -> RomContents:
    """The rows of all positions of all variants, one after the other."""
    entries: list[int] = []
    for slot, limit in enumerate(design.limits):
        entries += pack_entries(source_rows(design, slot, range(limit)), design.coefficient_width)
    return RomContents(design.row_entry_bits, len(entries), entries)


def pair_bits(design: Design) -> int:
    """Bits of a pair's number within the rotary slice."""
    return (design.pairs - 1).bit_length()
