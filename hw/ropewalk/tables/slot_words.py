"""The words of a slot, as they are loaded over the register port and as the hardware's CRC-32 covers them.

| word | bits |
|---|---|
| 0 | 15:0 first pair of the rotary slice in a head, 31:16 number of its pairs |
| 1 | 0: whether the elements of a pair come in different chunks (half, paired), 1: whether they go out so |
| 2 | 24:0 limit, exclusive |
| 3 | 17:0 amplitude word |
| 4 + 2i | 31:0 low bits of the step of pair i |
| 5 + 2i | 15:0 high bits of the step, 31:30 axis |

Bits that the table does not name are 0. A design with a table has its row entries, position by position, in place of
the steps: two words an entry, low bits first. Such slots cannot be loaded, but they have a CRC-32 too.
"""

import zlib
from collections.abc import Iterable

import numpy as np

from ..design import Design
from .rows import pack_entries
from .source import source_rows
from .steps import amplitude_word, step_words

HEADER_WORDS = 4


def slot_header(design: Design, slot: int) -> list[int]:
    """The first words of the variant in ``slot``."""
    shape = design.shapes[slot]
    return [
        shape.first_pair | shape.pairs << 16,
        layout_word(design, slot),
        design.limits[slot],
        amplitude_word(design.variants[slot].amplitude),
    ]


def layout_word(design: Design, slot: int) -> int:
    """The order of the elements of the variant in ``slot``: bit 0 for those that come, bit 1 for those that go."""
    order = design.orders[slot]
    return order.split_in | order.split_out << 1


def slot_entries(design: Design, slot: int) -> list[int]:
    """The memory words behind the header: steps with their axes, or row entries."""
    variant = design.variants[slot]
    if design.source == "table":
        return pack_entries(source_rows(design, slot, range(design.limits[slot])), design.coefficient_width)
    axes = variant.axis if variant.axis is not None else (0,) * len(variant.inverse_frequency)
    steps = step_words(variant.inverse_frequency, design.phase_bits)
    return [step | axis << 62 for step, axis in zip(steps, axes, strict=True)]


def slot_load_words(design: Design, slot: int) -> list[int]:
    """All words of the variant in ``slot``, in load order."""
    return [*slot_header(design, slot), *_halves(slot_entries(design, slot))]


def slot_crc(design: Design, slot: int) -> int:
    """CRC-32 (IEEE 802.3, as zlib has it) over the slot's words, each little-endian. 0 for an empty slot."""
    if slot >= len(design.variants):
        return 0
    return zlib.crc32(np.array(slot_load_words(design, slot), "<u4").tobytes())


def slot_crcs(design: Design) -> list[int]:
    """The CRC-32 of each variant, in slot order: what the registers of the engine must show."""
    return [slot_crc(design, slot) for slot in range(len(design.variants))]


def _halves(words: Iterable[int]) -> list[int]:
    return [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
