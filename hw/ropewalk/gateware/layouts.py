"""What flows between the components of the rotary engine, as named payload layouts."""

from amaranth.lib import data

from ..design import AMPLITUDE, POSITION_BITS, Design
from .chunks import order_layout
from .slots import physical_slots


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


def request_layout(design: Design) -> data.StructLayout:
    """A row to be made: the slot's place in memory, its slice and amplitude, and the position on each axis.

    ``start`` is the place of the first pair among a head's as the engine works on them.
    """
    return data.StructLayout(
        {
            "place": range(max(2, physical_slots(design))),
            "start": 16,
            "pairs": 16,
            "amplitude": AMPLITUDE.shape,
            "position": data.ArrayLayout(POSITION_BITS, design.axes),
        }
    )


def token_layout(design: Design) -> data.StructLayout:
    """A token that has been checked: its row request, and what becomes of its data."""
    return data.StructLayout(
        {
            "request": request_layout(design),
            "new_row": 1,
            "unit": 1,
            "inverse": 1,
            "error": 1,
            "tag": 8,
            "heads": data.ArrayLayout(8, 3),
            "layout": 2,
            "odd": 1,
        }
    )


def context_layout() -> data.StructLayout:
    """What the framer needs of a token: the first pair behind its slice too, and the order of its heads."""
    return data.StructLayout(
        {
            "new_row": 1,
            "unit": 1,
            "inverse": 1,
            "error": 1,
            "tag": 8,
            "heads": data.ArrayLayout(8, 3),
            "start": 16,
            "end": 16,
            "pairs": 16,
            "layout": 2,
            "odd": 1,
        }
    )


def side_layout() -> data.StructLayout:
    """What accompanies a beat through the engine to the output."""
    return data.StructLayout({"error": 1, "kind": 2, "last": 1, "tag": 8})


def beat_layout(design: Design) -> data.StructLayout:
    """A beat on its way to the rotator: elements, which row entries it needs, and what accompanies it.

    ``rotated`` has one bit per lane: whether that pair lies in the rotary slice of a head that is rotated. Where
    elements are moved there is more: the order of the head, whether it is rotated, whether the beat is one of pairs,
    and whether it never came and stands in for the rest of a short packet.
    """
    moved = {} if not design.moves else {"order": order_layout(design), "turned": 1, "inside": 1, "absent": 1}
    return data.StructLayout(
        {
            "elements": data.ArrayLayout(design.data.shape, design.elements),
            "rotated": design.lanes,
            "inverse": 1,
            "word": range(max(2, design.beats_per_head)),
            "sequence": design.row_number_bits,
            "side": side_layout(),
            **moved,
        }
    )


def entry_layout(design: Design) -> data.StructLayout:
    """One entry of a row: the quadrant and the magnitudes in the first quadrant."""
    return data.StructLayout({"quadrant": 2, "cosine": design.coefficient.shape, "sine": design.coefficient.shape})
