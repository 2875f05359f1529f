"""What flows into, through and out of every unit whose token is one row, as named payload layouts."""

from amaranth.lib import data

from ...designs.row_design import RowDesign

MASKED, PASS = 1, 2
"""Flags of a token descriptor: the token is masked, or passes. Nothing is added to one that passes."""


def descriptor_layout() -> data.StructLayout:
    """A token descriptor as it stands on the port (PORTS.md): two words of 32 bits, word 0 lowest."""
    return data.StructLayout(
        {
            "slot": 8,
            "flags": data.StructLayout({"masked": 1, "pass_": 1, "reserved": 6}),
            "tag": 8,
            "reserved": 8,
            "position": 32,
        }
    )


def keep_bits(design: RowDesign) -> int:
    """Bits of TKEEP, one per octet of a beat: 0 where there is none."""
    return design.lanes * design.container_bits // 8 if design.has_keep else 0


def packet_layout(design: RowDesign) -> data.StructLayout:
    """A beat as it comes: the elements, TKEEP, TID and TLAST."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.lanes),
            "keep": keep_bits(design),
            "tag": 8,
            "last": 1,
        }
    )


def side_layout(design: RowDesign) -> data.StructLayout:
    """What accompanies a beat to the output."""
    return data.StructLayout({"error": 1, "last": 1, "tag": 8, "keep": keep_bits(design)})


def result_layout(design: RowDesign) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout(
        {"elements": data.ArrayLayout(design.data.shape, design.lanes), "side": side_layout(design)}
    )


def event_layout(design: RowDesign, *errors: str) -> data.StructLayout:
    """What can happen in a clock and is counted; ``errors`` are those of the unit."""
    return data.StructLayout(
        {
            "token": 1,
            "beat": 1,
            "input_stall": 1,
            "output_stall": 1,
            "saturated": design.lanes,
            **dict.fromkeys(errors, 1),
        }
    )
