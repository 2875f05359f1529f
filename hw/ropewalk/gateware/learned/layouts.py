"""What flows between the components of the learned-table adder, as named payload layouts."""

from amaranth.hdl import signed
from amaranth.lib import data

from ...designs.learned import LearnedDesign

MASKED, PASS = 1, 2
"""Flags of a token descriptor: the token reads the masked row; the token passes."""


def descriptor_layout() -> data.StructLayout:
    """A token descriptor as it stands on the port: two words of 32 bits, word 0 lowest."""
    return data.StructLayout(
        {
            "reserved_low": 8,
            "flags": data.StructLayout({"masked": 1, "pass_": 1, "reserved": 6}),
            "tag": 8,
            "reserved_high": 8,
            "position": 32,
        }
    )


def place_bits(design: LearnedDesign) -> int:
    """Bits of a row's place: the address of its first memory word, or its address outside in beats of the bus."""
    if design.storage == "block-ram":
        return max(1, (design.memory_words - 1).bit_length())
    return design.address_width - (design.bus_bytes.bit_length() - 1)


def token_layout(design: LearnedDesign) -> data.StructLayout:
    """A token that has been checked: whether a row is added, and where that row is."""
    return data.StructLayout({"add": 1, "error": 1, "tag": 8, "place": place_bits(design)})


def packet_layout(design: LearnedDesign) -> data.StructLayout:
    """A beat as it comes: the elements, their TKEEP bits by octet, TID and TLAST."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.lanes),
            "keep": design.lanes * design.container_bits // 8,
            "tag": 8,
            "last": 1,
        }
    )


def side_layout(design: LearnedDesign) -> data.StructLayout:
    """What accompanies a beat to the output; ``keep`` has a bit per octet."""
    return data.StructLayout(
        {"error": 1, "last": 1, "tag": 8, "keep": design.lanes * design.container_bits // 8 if design.has_keep else 0}
    )


def beat_layout(design: LearnedDesign) -> data.StructLayout:
    """A beat on its way to the adder; ``add`` has a bit per element: whether a table word is added to it."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.lanes),
            "add": design.lanes,
            "row": 1,
            "place": place_bits(design) if design.storage == "block-ram" else 0,
            "side": side_layout(design),
        }
    )


def words_layout(design: LearnedDesign) -> data.ArrayLayout:
    """The table words of a beat."""
    return data.ArrayLayout(signed(design.table_width), design.lanes)


def result_layout(design: LearnedDesign) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout(
        {"elements": data.ArrayLayout(design.data.shape, design.lanes), "side": side_layout(design)}
    )


def event_layout(design: LearnedDesign) -> data.StructLayout:
    """What can happen in a clock and is counted."""
    return data.StructLayout(
        {
            "token": 1,
            "beat": 1,
            "input_stall": 1,
            "output_stall": 1,
            "saturated": design.lanes,
            "position_error": 1,
            "read_error": 1,
            "framing_error": 1,
        }
    )
