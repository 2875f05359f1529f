"""The token descriptor port: takes descriptors, looks their slot up and decides what each token may do.

At least :data:`CAPACITY` descriptors are taken with no data present. What a slot holds, the head counts and the offset
are sampled when a descriptor is taken.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .layouts import descriptor_layout, token_layout
from .slot_store import SlotStore
from .slots import physical_slots, slot_layout

CAPACITY = 4
"""Descriptors that are taken before any data (PORTS.md asks for 4)."""


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
    heads, offset : In
        Query, key and value heads, and what is added to the position on each axis.
    slot, lookup : Out
        To :class:`~ropewalk.gateware.slot_store.SlotStore`: the slot of the descriptor that is taken in this clock.
    known, place, header : In
        Its answer.
    hold : In
        No descriptor may be taken in this clock.
    changed : In
        Slots, heads or offsets change in this clock: the next token is not like the one before.
    position_error, slot_error : Out
        High for a clock for each token that has it.
    """

    latency = SlotStore.latency + 1

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout(design.axes))),
                "token": Out(stream.Signature(token_layout(design))),
                "heads": In(data.ArrayLayout(8, 3)),
                "offset": In(data.ArrayLayout(signed(32), design.axes)),
                "slot": Out(8),
                "lookup": Out(1),
                "known": In(1),
                "place": In(range(max(2, physical_slots(design)))),
                "header": In(slot_layout(design)),
                "hold": In(1),
                "changed": In(1),
                "position_error": Out(1),
                "slot_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        layout = descriptor_layout(design.axes)

        # Clock 0: a descriptor is taken.
        arriving = self.descriptor.payload
        accept = Signal()
        m.d.comb += [
            accept.eq(self.descriptor.valid & self.descriptor.ready),
            self.slot.eq(arriving.slot),
            self.lookup.eq(accept),
        ]
        previous_valid = Signal()
        previous = Signal(layout, reset_less=True)
        with m.If(accept):
            m.d.sync += [previous.eq(arriving), previous_valid.eq(1)]
        with m.If(self.changed):
            m.d.sync += previous_valid.eq(0)

        # Clock 1: where it is, with the offset.
        taken = Signal()
        heads = Signal(data.ArrayLayout(8, 3), reset_less=True)
        offset = Signal(data.ArrayLayout(signed(32), design.axes), reset_less=True)
        again = Signal(reset_less=True)
        m.d.sync += [taken.eq(accept), heads.eq(self.heads), offset.eq(self.offset)]
        with m.If(accept):
            m.d.sync += again.eq(
                previous_valid
                & (previous.slot == arriving.slot)
                & (previous.flags.as_value() == arriving.flags.as_value())
                & (previous.position.as_value() == arriving.position.as_value())
            )

        # Clock 2: the slot's header is there.
        checked = Signal()
        held = Signal(layout, reset_less=True)
        held_heads = Signal(data.ArrayLayout(8, 3), reset_less=True)
        held_again = Signal(reset_less=True)
        position = [Signal(signed(34), name=f"position_{axis}", reset_less=True) for axis in range(design.axes)]
        m.d.sync += [
            checked.eq(taken),
            held.eq(previous),
            held_heads.eq(heads),
            held_again.eq(again),
            *(signal.eq(previous.position[axis] + offset[axis]) for axis, signal in enumerate(position)),
        ]

        token = Signal(token_layout(design))
        # Where elements are moved, pairs begin with a beat (ropewalk.order).
        moved = self.header.layout.any()
        lane_bits = (design.lanes - 1).bit_length()
        within = self.header.start[:lane_bits]
        missing = Signal()
        outside = Signal()
        no_such_row = Signal()
        if design.source == "table":
            m.d.comb += no_such_row.eq(held.flags.unit_amplitude & (self.header.amplitude != AMPLITUDE.one))
        beyond = [(signal < 0) | (signal >= self.header.limit) for signal in position]
        m.d.comb += [
            missing.eq(~self.known | no_such_row),
            outside.eq(Cat(beyond).any() & ~held.flags.pass_ & ~missing),
            token.request.place.eq(self.place),
            token.request.start.eq(Cat(Mux(moved, 0, within)[:lane_bits], self.header.start[lane_bits:])),
            token.layout.eq(self.header.layout),
            token.odd.eq(moved & within.any()),
            token.request.pairs.eq(self.header.pairs),
            token.request.amplitude.eq(self.header.amplitude),
            *(token.request.position[axis].eq(signal[:POSITION_BITS]) for axis, signal in enumerate(position)),
            token.error.eq(missing | outside),
            token.unit.eq(missing | outside | held.flags.pass_),
            token.new_row.eq(~token.unit & ~held_again),
            token.inverse.eq(held.flags.inverse),
            token.tag.eq(held.tag),
            token.heads.eq(held_heads),
            self.position_error.eq(checked & outside),
            self.slot_error.eq(checked & missing),
        ]
        with m.If(held.flags.unit_amplitude):
            m.d.comb += token.request.amplitude.eq(AMPLITUDE.one)

        # Descriptors can be on their way when the queue is seen to fill.
        queue = m.submodules.queue = SyncFIFO(width=token.shape().size, depth=2 * CAPACITY)
        room = Signal()
        m.d.sync += room.eq(queue.w_level <= queue.depth - self.latency - 1)
        m.d.comb += [
            self.descriptor.ready.eq(room & ~self.hold),
            queue.w_en.eq(checked),
            queue.w_data.eq(token),
            self.token.valid.eq(queue.r_rdy),
            self.token.payload.eq(queue.r_data),
            queue.r_en.eq(self.token.ready),
        ]
        return m
