"""What flows between the components of the sinusoidal adder, as named payload layouts."""

from amaranth.hdl import Cat, Value, ValueLike
from amaranth.lib import data

from ...design import AMPLITUDE, POSITION_BITS
from ...designs.sinusoidal import ROW_BITS, SinusoidalDesign
from ...geometry.sinusoidal import MAX_ROW_OFFSET

MASKED, PASS = 1, 2
"""Flags of a token descriptor: the token is masked, or passes. Nothing is added to either, wherever it stands."""

OFFSET_BITS = MAX_ROW_OFFSET.bit_length()
"""Bits of a row offset and of the number of the row of zeros."""


def descriptor_layout() -> data.StructLayout:
    """A token descriptor as it stands on the port (PORTS.md)."""
    return data.StructLayout(
        {
            "slot": 8,
            "flags": data.StructLayout({"masked": 1, "pass_": 1, "reserved": 6}),
            "tag": 8,
            "reserved": 8,
            "position": 32,
        }
    )


def header_layout() -> data.StructLayout:
    """What a slot holds beside its steps and its shape. ``limit`` is exclusive; ``zeros``: there is a row of zeros."""
    return data.StructLayout(
        {
            "limit": POSITION_BITS + 1,
            "row_offset": OFFSET_BITS,
            "zero_row": OFFSET_BITS,
            "zeros": 1,
            "amplitude": AMPLITUDE.shape,
        }
    )


def request_layout() -> data.StructLayout:
    """A row to be made, from the steps in that place."""
    return data.StructLayout({"row": ROW_BITS, "place": 1})


def context_layout() -> data.StructLayout:
    """What becomes of a token's data: whether a row is added to them, and the error bit."""
    return data.StructLayout({"encoded": 1, "error": 1, "tag": 8})


def token_layout() -> data.StructLayout:
    """A token that has been checked."""
    return data.StructLayout({"request": request_layout(), "context": context_layout()})


def packet_layout(design: SinusoidalDesign) -> data.StructLayout:
    """A beat as it comes: ``keep`` has a bit per byte, and no bit where the streams have no TKEEP."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.elements),
            "keep": keep_bits(design),
            "tag": 8,
            "last": 1,
        }
    )


def keep_bits(design: SinusoidalDesign) -> int:
    """Bits of TKEEP: 0 where there is none."""
    return design.elements * design.container_bits // 8 if design.has_keep else 0


def side_layout(design: SinusoidalDesign) -> data.StructLayout:
    """What accompanies a beat to the output."""
    return data.StructLayout({"error": 1, "last": 1, "tag": 8, "keep": keep_bits(design)})


def part_layout() -> data.StructLayout:
    """Which part of a row a beat is: only sines; the one in which (or with which) cosines begin; the row's end."""
    return data.StructLayout({"sines": 1, "border": 1, "tail": 1})


def part_of(design: SinusoidalDesign, word: ValueLike) -> Value:
    """The part that the beat ``word`` of a row is, as bits of :func:`part_layout`."""
    border = design.pairs // design.elements
    word = Value.cast(word)
    return Cat(word < border, word == border, word == design.beats_per_token - 1)


def beat_layout(design: SinusoidalDesign) -> data.StructLayout:
    """A beat on its way to the adder, with its place in the row."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.elements),
            "encoded": 1,
            "word": range(max(2, design.beats_per_token)),
            "part": part_layout(),
            "side": side_layout(design),
        }
    )


def result_layout(design: SinusoidalDesign) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout(
        {"elements": data.ArrayLayout(design.data.shape, design.elements), "side": side_layout(design)}
    )


def event_layout(design: SinusoidalDesign) -> data.StructLayout:
    """What can happen in a clock and is counted."""
    return data.StructLayout(
        {
            "token": 1,
            "beat": 1,
            "input_stall": 1,
            "output_stall": 1,
            "saturated": design.elements,
            "position_error": 1,
            "slot_error": 1,
            "framing_error": 1,
        }
    )
