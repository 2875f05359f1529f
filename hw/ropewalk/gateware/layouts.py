"""What flows between the components of the rotary engine, as named payload layouts."""

from amaranth.hdl import signed
from amaranth.lib import data

from ..design import AMPLITUDE, POSITION_BITS, Design
from .chunks import order_layout
from .slots import pair_bits, physical_slots


def descriptor_layout(axes: int) -> data.StructLayout:
    """A token descriptor as it stands on the port (PORTS.md): words of 32 bits, word 0 lowest."""
    return data.StructLayout(
        {
            "slot": 8,
            "flags": data.StructLayout({"inverse": 1, "pass_": 1, "unit_amplitude": 1, "reserved": 5}),
            "tag": 8,
            "reserved": 8,
            "position": data.ArrayLayout(32, axes),
        }
    )


def pairs_shape(design: Design) -> range:
    """Pairs of a slice: as many as a head has at most."""
    return range(design.geometry.head_dim // 2 + 1)


def request_layout(design: Design) -> data.StructLayout:
    """How many pairs a row has, and whether that is one."""
    return data.StructLayout({"pairs": pairs_shape(design), "single": 1})


def row_layout(design: Design) -> data.StructLayout:
    """A row to be made: the slot's place in memory, where its slice starts, amplitude, and the position on each axis.

    ``start`` is the place of the first pair among a head's as the engine works on them.
    """
    return data.StructLayout(
        {
            "place": range(max(2, physical_slots(design))),
            "start": pair_bits(design),
            "amplitude": AMPLITUDE.shape,
            "position": data.ArrayLayout(POSITION_BITS, design.axes),
        }
    )


def heads_layout() -> data.StructLayout:
    """The heads of a token, without the kinds that it has none of.

    ``kinds`` in their order, QUERY where there are fewer; of each, how many heads follow its first one, less one: a
    head is the last of its kind where that is negative.
    """
    return data.StructLayout({"kinds": data.ArrayLayout(2, 3), "following": data.ArrayLayout(signed(9), 3)})


def context_layout(design: Design) -> data.StructLayout:
    """What the framer needs of a token besides its tag and heads.

    The bank of its row, and the places of the first pair of its slice and of the first one behind it. Where elements
    are moved there is the order of its heads too.
    """
    moved = {} if not design.moves else {"pairs": pairs_shape(design), "layout": 2, "odd": 1}
    return data.StructLayout(
        {
            "bank": bank_bits(design),
            "unit": 1,
            "inverse": 1,
            "error": 1,
            "start": pair_bits(design),
            "end": pairs_shape(design),
            **moved,
        }
    )


def token_layout(design: Design) -> data.StructLayout:
    """A token that has been checked: the row that it takes, if a new one, and what becomes of its data."""
    return data.StructLayout(
        {
            "new_row": 1,
            "pairs": pairs_shape(design),
            "row": row_layout(design),
            "tag": 8,
            "heads": heads_layout(),
            "context": context_layout(design),
        }
    )


def side_layout() -> data.StructLayout:
    """What accompanies a beat through the engine to the output."""
    return data.StructLayout({"error": 1, "kind": 2, "last": 1, "tag": 8})


def bank_bits(design: Design) -> int:
    """Bits of a row's number: that of its bank."""
    return (design.row_banks - 1).bit_length()


def ask_layout(design: Design) -> data.StructLayout:
    """What a beat needs of the row memory: which word of which row, and whether any of its entries."""
    return data.StructLayout({"word": range(max(2, design.beats_per_head)), "bank": bank_bits(design), "needed": 1})


def beat_layout(design: Design) -> data.StructLayout:
    """A beat on its way to the rotator: which row entries it needs.

    Where elements are moved there is more: the order of the head, whether it is rotated and whether by the negated
    angle, whether the beat's chunks lie crossed in the banks of the input, whether its token ends with it within a
    head, and whether it never came, and stands in for the rest of that head.
    """
    flags = ("turned", "inverse", "crossed", "cut", "absent")
    moved = {"order": order_layout(design), **dict.fromkeys(flags, 1)} if design.moves else {}
    return data.StructLayout({"ask": ask_layout(design), **moved})


def lagging_layout(design: Design) -> data.StructLayout:
    """What follows a beat, with its elements, when it goes on.

    ``rotated`` has one bit per lane: whether that pair lies in the rotary slice of a head that is rotated. Where
    elements are moved, ``inside`` says whether the beat is one of pairs.
    """
    moved = {"inside": 1} if design.moves else {}
    return data.StructLayout({"rotated": design.lanes, "inverse": 1, "side": side_layout(), **moved})


def elements_layout(design: Design) -> data.ArrayLayout:
    """The elements of a beat."""
    return data.ArrayLayout(design.data.shape, design.elements)


def result_layout(design: Design) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout({"elements": elements_layout(design), "side": side_layout()})


def entry_layout(design: Design) -> data.StructLayout:
    """One entry of a row: the quadrant and the magnitudes in the first quadrant."""
    return data.StructLayout({"quadrant": 2, "cosine": design.coefficient.shape, "sine": design.coefficient.shape})
