"""What flows between the components of the sinusoidal adder, as named payload layouts."""

from amaranth.hdl import Cat, Value, ValueLike
from amaranth.lib import data

from ...design import AMPLITUDE, POSITION_BITS
from ...designs.sinusoidal import ROW_BITS, SinusoidalDesign
from ...geometry.sinusoidal import MAX_ROW_OFFSET
from ..units.layouts import side_layout

ERRORS = ("position_error", "slot_error", "framing_error")
"""Errors that are counted."""


OFFSET_BITS = MAX_ROW_OFFSET.bit_length()
"""Bits of a row offset and of the number of the row of zeros."""


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


def part_layout() -> data.StructLayout:
    """Which part of a row a beat is: only sines; the one in which (or with which) cosines begin; the row's end."""
    return data.StructLayout({"sines": 1, "border": 1, "tail": 1})


def part_of(design: SinusoidalDesign, word: ValueLike) -> Value:
    """The part that the beat ``word`` of a row is, as bits of :func:`part_layout`."""
    border = design.pairs // design.lanes
    word = Value.cast(word)
    return Cat(word < border, word == border, word == design.beats_per_token - 1)


def beat_layout(design: SinusoidalDesign) -> data.StructLayout:
    """A beat on its way to the adder, with its place in the row."""
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.lanes),
            "encoded": 1,
            "word": range(max(2, design.beats_per_token)),
            "part": part_layout(),
            "side": side_layout(design),
        }
    )
