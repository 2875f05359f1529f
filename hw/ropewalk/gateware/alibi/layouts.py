"""What passes between the parts of the ALiBi unit."""

from amaranth.hdl import signed
from amaranth.lib import data

from ...designs.alibi import DISTANCE_BITS, AlibiDesign

RELATIVE, ABSOLUTE, MPT, SYMMETRIC = range(4)
"""Modes, as the register and :data:`~ropewalk.geometry.alibi.MODES` number them."""


def descriptor_layout() -> data.StructLayout:
    """A row descriptor as it is on the port: five words of 32 bits."""
    return data.StructLayout(
        {
            "head": 8,
            "causal": 1,
            "reserved": 7,
            "tag": 8,
            "unused": 8,
            "query": 32,
            "first": signed(32),
            "count": 32,
            "length": 32,
        }
    )


def index_bits(design: AlibiDesign) -> int:
    """Bits of the number of a beat in its row."""
    return DISTANCE_BITS - design.lane_bits


def frame_layout(design: AlibiDesign) -> data.StructLayout:
    """What the framer knows of a row.

    ``tail`` is the number of the last lane in use in the last beat, ``third`` that of the last beat but two; ``single``
    and ``double`` say that the row has one or two beats, and so no such beat.
    """
    return data.StructLayout(
        {"tail": design.lane_bits, "third": index_bits(design), "single": 1, "double": 1, "tag": 8}
    )


def row_layout(design: AlibiDesign) -> data.StructLayout:
    """What the bias is made from: the slope's address, the query, the first key, and what keys are measured from; and
    what else stands on every beat."""
    return data.StructLayout(
        {
            "address": slope_address_bits(design),
            "query": DISTANCE_BITS,
            "first": signed(DISTANCE_BITS + 1),
            "origin": DISTANCE_BITS,
            "causal": 1,
            "symmetric": 1,
            "error": 1,
            "tag": 8,
        }
    )


def slope_address_bits(design: AlibiDesign) -> int:
    """Bits of an address in the slope table: the head, and the bank above it."""
    return (design.capacity - 1).bit_length() + 1


def packet_layout(design: AlibiDesign) -> data.StructLayout:
    """A beat as it comes: scores, TKEEP, TID and TLAST."""
    return data.StructLayout(
        {
            "scores": data.ArrayLayout(design.data.shape, design.lanes),
            "keep": design.beat_bytes,
            "tag": 8,
            "last": 1,
        }
    )


def arrival_layout(design: AlibiDesign) -> data.StructLayout:
    """A beat that waits: ``keep`` has a bit per score, ``uneven`` says that TKEEP has a score in part."""
    return data.StructLayout(
        {
            "scores": data.ArrayLayout(design.data.shape, design.lanes),
            "keep": design.lanes,
            "uneven": 1,
            "last": 1,
        }
    )


def beat_layout(design: AlibiDesign) -> data.StructLayout:
    """A beat that belongs to a row: its scores, its number in it, and whether it ends it."""
    return data.StructLayout(
        {"scores": data.ArrayLayout(design.data.shape, design.lanes), "index": index_bits(design), "last": 1}
    )


def side_layout(design: AlibiDesign) -> data.StructLayout:
    """What accompanies the scores of a beat on the way out."""
    return data.StructLayout({"keep": design.lanes, "tag": 8, "last": 1, "error": 1})


def result_layout(design: AlibiDesign) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout({"scores": data.ArrayLayout(design.data.shape, design.lanes), "side": side_layout(design)})


def event_layout(design: AlibiDesign) -> data.StructLayout:
    """What can happen in a clock and is counted."""
    return data.StructLayout(
        {
            "row": 1,
            "beat": 1,
            "input_stall": 1,
            "output_stall": 1,
            "saturated": design.lanes,
            "position_error": 1,
            "head_error": 1,
            "count_error": 1,
            "framing_error": 1,
        }
    )
