"""The token descriptor port: takes descriptors, looks their slot up and decides what each token may do.

Two clocks from the port to the queue. At least :data:`CAPACITY` descriptors are taken with no data present. What a
slot holds is sampled when its descriptor is taken.
"""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .contents import slot_contents
from .layouts import descriptor_layout, token_layout
from .slots import slot_layout

CAPACITY = 4
"""Descriptors that are taken before any data (PORTS.md asks for 4)."""


class DescriptorPort(Component):
    """Checks descriptors and queues them as tokens.

    Latency 2 clocks to a token at the head of the empty queue; one descriptor per clock until the queue is full.

    Members
    -------
    descriptor : In stream
        Descriptors as on the port.
    token : Out stream
        Checked tokens.
    """

    latency = 2

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout(1))),
                "token": Out(stream.Signature(token_layout(design))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        layout = slot_layout(design)
        contents = slot_contents(design)
        slots = m.submodules.slots = Memory(shape=unsigned(contents.width), depth=contents.depth, init=contents.words)
        read = slots.read_port()

        # Clock 1: the descriptor is held while the slot memory answers.
        taken = Signal()
        held = Signal(descriptor_layout(1), reset_less=True)
        known = Signal(reset_less=True)
        again = Signal(reset_less=True)
        previous_valid = Signal()
        arriving = self.descriptor.payload
        accept = Signal()
        m.d.comb += [
            accept.eq(self.descriptor.valid & self.descriptor.ready),
            read.addr.eq(arriving.slot),
        ]
        m.d.sync += taken.eq(accept)
        with m.If(accept):
            m.d.sync += [
                held.eq(arriving),
                known.eq(arriving.slot < design.slots),
                again.eq(
                    previous_valid
                    & (held.slot == arriving.slot)
                    & (held.flags.as_value() == arriving.flags.as_value())
                    & (held.position.as_value() == arriving.position.as_value())
                ),
                previous_valid.eq(1),
            ]

        # Clock 2: the checks, into the queue.
        slot = data.View(layout, read.data)
        token = Signal(token_layout(design))
        missing = Signal()
        outside = Signal()
        position = held.position[0]
        m.d.comb += [
            missing.eq(~(known & slot.loaded) | (held.flags.unit_amplitude & ~slot.unit_amplitude)),
            outside.eq((position >= slot.limit) & ~held.flags.pass_),
            token.request.slot.eq(held.slot),
            token.request.position.eq(position),
            token.error.eq(missing | outside),
            token.unit.eq(missing | outside | held.flags.pass_),
            token.new_row.eq(~token.unit & ~again),
            token.inverse.eq(held.flags.inverse),
            token.tag.eq(held.tag),
            token.request.source.eq(slot.source),
        ]
        if design.source == "synth":
            with m.If(held.flags.unit_amplitude):
                m.d.comb += token.request.source.eq(1 << 17)

        # Two descriptors can be on their way when the queue is seen to fill.
        queue = m.submodules.queue = SyncFIFO(width=token.shape().size, depth=2 * CAPACITY)
        room = Signal()
        m.d.sync += room.eq(queue.w_level <= queue.depth - 3)
        m.d.comb += [
            self.descriptor.ready.eq(room),
            queue.w_en.eq(taken),
            queue.w_data.eq(token),
            self.token.valid.eq(queue.r_rdy),
            self.token.payload.eq(queue.r_data),
            queue.r_en.eq(self.token.ready),
        ]
        return m
