"""What flows between the components of the learned-table adder, as named payload layouts."""

from amaranth.hdl import signed
from amaranth.lib import data

from ...designs.learned import LearnedDesign
from ..units.layouts import side_layout

ERRORS = ("position_error", "read_error", "framing_error")
"""Errors that are counted."""


def place_bits(design: LearnedDesign) -> int:
    """Bits of a row's place: the address of its first memory word, or its address outside in beats of the bus."""
    if design.storage == "block-ram":
        return max(1, (design.memory_words - 1).bit_length())
    return design.address_width - (design.bus_bytes.bit_length() - 1)


def token_layout(design: LearnedDesign) -> data.StructLayout:
    """A token that has been checked: whether a row is added, and where that row is."""
    return data.StructLayout({"add": 1, "error": 1, "tag": 8, "place": place_bits(design)})


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
