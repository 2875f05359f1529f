"""What the engine knows of each slot besides its steps, and where the parts of a slot stand in memory."""

from itertools import accumulate

from amaranth.hdl import Const, Value
from amaranth.lib import data

from ..design import AMPLITUDE, POSITION_BITS, Design
from ..tables.slot_words import layout_word
from ..tables.steps import amplitude_word

STEP_ENTRY_BITS = 50
"""A step in 48 bits, and its axis in 2."""


def slot_layout(design: Design) -> data.StructLayout:
    """A slot besides its steps: the header of a load, in order.

    ``start`` and ``pairs`` are in pairs of a head. ``limit`` is exclusive, so it takes one bit more than a position.
    """
    return data.StructLayout(
        {
            "start": pair_bits(design),
            "pairs": (design.geometry.head_dim // 2).bit_length(),
            "layout": 2,
            "limit": POSITION_BITS + 1,
            "amplitude": AMPLITUDE.shape,
        }
    )


def slot_words(design: Design) -> list[int]:
    """One header per loaded slot, in slot order."""
    return [
        slot_layout(design)
        .const(
            {
                "start": shape.first_pair,
                "pairs": shape.pairs,
                "layout": layout_word(design, slot),
                "limit": limit,
                "amplitude": amplitude_word(variant.amplitude),
            }
        )
        .as_value()
        .value
        for slot, (variant, shape, limit) in enumerate(zip(design.variants, design.shapes, design.limits, strict=True))
    ]


def layout_fits(design: Design, layout: Value, start: Value, pairs: Value) -> Value:
    """Whether a slot may have the bits ``layout``: whether the engine has what moves the elements of its slice.

    Chunks are moved as a whole, and a slice that begins in mid-beat takes a buffer on either side, unless that side is
    always in paired order.
    """
    fits: Value = Const(1)
    odd_possible = True
    for bit, (pairing, buffer) in enumerate(
        zip(design.stream_pairings, (design.input_buffer, design.output_buffer), strict=True)
    ):
        if pairing != "both":
            fits &= layout[bit] == int(pairing != "interleaved")
        if pairing == "interleaved":
            odd_possible &= buffer
    if design.moves and design.lanes > 1:
        low = design.lanes // 2 - 1 if odd_possible else design.lanes - 1
        whole = (start & low == 0) & (pairs & (design.lanes - 1) == 0)
        fits &= ~layout.any() | whole
    return fits


def physical_slots(design: Design) -> int:
    """Places for slots: one more than slots where they can be loaded, only the filled ones where nothing changes."""
    if not design.registers:
        return len(design.variants)
    return design.slots + design.loadable


def slot_bits(design: Design) -> int:
    """Bits of a slot's number."""
    return max(1, (design.slots - 1).bit_length())


def place_bits(design: Design) -> int:
    """Bits of the number of a place for a slot."""
    return max(1, (physical_slots(design) - 1).bit_length())


def pair_bits(design: Design) -> int:
    """Bits of a pair's number within a head."""
    return max(1, (design.geometry.head_dim // 2 - 1).bit_length())


def table_lengths(design: Design) -> list[int]:
    """How many entries each variant has in the table: its positions times its pairs."""
    return [limit * shape.pairs for limit, shape in zip(design.limits, design.shapes, strict=True)]


def table_bases(design: Design) -> list[int]:
    """Where each variant's rows begin in the table."""
    return list(accumulate(table_lengths(design), initial=0))[:-1]


def entry_bits(design: Design) -> int:
    """Bits of a word of the row source's memory: a step and its axis, or a row entry."""
    return STEP_ENTRY_BITS if design.source == "synth" else design.row_entry_bits


def entry_count(design: Design) -> int:
    """Words of the row source's memory."""
    if design.source == "synth":
        return physical_slots(design) << pair_bits(design)
    return sum(table_lengths(design))


def entry_address_bits(design: Design) -> int:
    """Bits of an address of the row source's memory."""
    return max(1, (entry_count(design) - 1).bit_length())
