"""The token descriptor port: takes descriptors and decides for each whether a row is added, and which.

The offset register and the slot's content are sampled when a descriptor is taken.
"""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import ROW_BITS
from ..capacity import CAPACITY
from ..component import Component
from ..units.layouts import descriptor_layout
from ..units.queue import queue_before
from .contents import PLACES
from .layouts import header_layout, token_layout


class DescriptorPort(Component):
    """Checks descriptors and queues them as tokens.

    Latency :attr:`latency` clocks to a token at the head of the empty queue; one descriptor per clock until the queue
    is full.

    Members
    -------
    descriptor : In stream
        Descriptors as on the port.
    token : Out stream
        Checked tokens.
    offset : In
        What is added to positions.
    place, headers : In
        The place of the slot's present content, and the header in each place. A header must hold still while a
        token that was taken with its place is in this port.
    taken : Out
        A descriptor is taken in this clock.
    position_error, slot_error : Out
        High for a clock for each token that has it.
    """

    latency = 6

    def __init__(self):
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "token": Out(stream.Signature(token_layout())),
                "offset": In(signed(32)),
                "place": In(1),
                "headers": In(data.ArrayLayout(header_layout(), PLACES)),
                "taken": Out(1),
                "position_error": Out(1),
                "slot_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()

        # Clock 0: a descriptor is taken.
        arriving = self.descriptor.payload
        m.d.comb += self.taken.eq(self.descriptor.valid & self.descriptor.ready)
        stages = [Signal(name=f"valid_{clock}") for clock in range(1, 5)]
        m.d.sync += [
            stages[0].eq(self.taken),
            *(after.eq(before) for before, after in zip(stages[:-1], stages[1:], strict=True)),
        ]

        # Clock 1: the position with its offset.
        first = Signal(descriptor_layout(), reset_less=True)
        offset = Signal(signed(32), reset_less=True)
        first_place = Signal(reset_less=True)
        m.d.sync += [first.eq(arriving), offset.eq(self.offset), first_place.eq(self.place)]

        # Clock 2: it is compared with the limit, and the row follows from it.
        second = Signal(descriptor_layout(), reset_less=True)
        second_place = Signal(reset_less=True)
        position = Signal(signed(34), reset_less=True)
        header = Signal(header_layout())
        m.d.sync += [second.eq(first), second_place.eq(first_place), position.eq(first.position + offset)]
        m.d.comb += header.eq(Mux(second_place, self.headers[1], self.headers[0]))

        # Clock 3: what came of that; rows of zeros are found.
        outside, missing, passed, third_place = (
            Signal(name=name, reset_less=True) for name in ("outside", "missing", "passed", "third_place")
        )
        row = Signal(ROW_BITS, reset_less=True)
        tag = Signal(8, reset_less=True)
        zero_row, zeros = Signal(len(header.zero_row), reset_less=True), Signal(reset_less=True)
        m.d.sync += [
            outside.eq((position < 0) | (position >= header.limit)),
            missing.eq(second.slot != 0),
            passed.eq(second.flags.masked | second.flags.pass_),
            third_place.eq(second_place),
            row.eq(position[:ROW_BITS] + header.row_offset),
            tag.eq(second.tag),
            zero_row.eq(header.zero_row),
            zeros.eq(header.zeros),
        ]

        # Clock 4: it is all known.
        token = Signal(token_layout(), reset_less=True)
        m.d.comb += [
            self.slot_error.eq(stages[2] & missing),
            self.position_error.eq(stages[2] & outside & ~passed & ~missing),
        ]
        m.d.sync += [
            token.request.row.eq(row),
            token.request.place.eq(third_place),
            token.context.error.eq(missing | (outside & ~passed)),
            token.context.encoded.eq(~(missing | outside | passed | (zeros & (row == zero_row)))),
            token.context.tag.eq(tag),
        ]

        # Descriptors can be on their way when the queue is seen to fill, and have a way to go when it is seen to empty.
        depth = 2 * CAPACITY + 5
        queue = queue_before(m, self.token, name="queue", depth=depth, payload=token, valid=stages[3], buffered=True)
        room = Signal()
        m.d.sync += room.eq(queue.w_level <= queue.depth - len(stages) - 2)
        m.d.comb += self.descriptor.ready.eq(room)
        return m
