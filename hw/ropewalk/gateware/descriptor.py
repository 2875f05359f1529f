"""The token descriptor port: takes descriptors, looks their slot up and decides what each token may do.

At least ``CAPACITY`` descriptors are taken with no data present (:mod:`.capacity`). What a slot holds, the head counts
and the offset are sampled when a descriptor is taken.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .credits import Credits
from .layouts import descriptor_layout, heads_layout, token_layout
from .slot_store import SlotStore
from .slots import physical_slots, slot_layout

HEAD_KINDS = range(3)
"""Query, key and value."""


class DescriptorPort(Component):
    """Checks descriptors and sends them on as tokens, which nothing stops: a descriptor is taken when it has a place.

    Latency :attr:`latency` clocks; one descriptor per clock until all places are taken.

    Parameters
    ----------
    places
        Tokens that there is room for.

    Members
    -------
    descriptor : In stream
        Descriptors as on the port.
    valid, token : Out
        Checked tokens.
    left : In
        A token gives back its place.
    stop : In
        No descriptor is taken in the next clock.
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

    def __init__(self, design: Design, *, places: int):
        self._design = design
        self._places = places
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout(design.axes))),
                "valid": Out(1),
                "token": Out(token_layout(design)),
                "left": In(1),
                "stop": In(1),
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
        axes = range(design.axes)

        # Clock 0: a descriptor is taken. Whether the one before it may be like it is known now; whether it is, later.
        accept = Signal()
        taken = Signal()
        m.submodules.credits = credits = Credits(self._places, under_way=1)
        m.d.comb += [
            self.descriptor.ready.eq(credits.free & ~self.hold),
            accept.eq(self.descriptor.valid & self.descriptor.ready),
            credits.take.eq(taken),
            credits.give.eq(self.left),
            credits.stop.eq(self.stop),
            self.slot.eq(self.descriptor.payload.slot),
            self.lookup.eq(accept),
        ]
        m.d.sync += taken.eq(accept)
        unchanged = Signal()
        # What changes in a clock counts from the next one on.
        changed = Signal()
        m.d.sync += [changed.eq(self.changed), unchanged.eq(accept | (unchanged & ~changed))]

        # Clock 1: what is needed of it, with the offset.
        arrived = Signal(layout, reset_less=True)
        before = Signal(layout, reset_less=True)
        heads = Signal(data.ArrayLayout(8, 3), reset_less=True)
        offset = Signal(data.ArrayLayout(signed(32), design.axes), reset_less=True)
        comparable = Signal(reset_less=True)
        m.d.sync += [
            arrived.eq(self.descriptor.payload),
            heads.eq(self.heads),
            offset.eq(self.offset),
            comparable.eq(unchanged & ~changed),
        ]
        with m.If(taken):
            m.d.sync += before.eq(arrived)

        # Clock 2: the slot's header is there.
        looked_up = Signal()
        held = Signal(layout, reset_less=True)
        # Eight bits of the positions each: no more than two levels of logic.
        positions = before.position.as_value(), arrived.position.as_value()
        octets = [tuple(word[low : low + 8] for word in positions) for low in range(0, len(positions[0]), 8)]
        alike = Signal(3 + len(octets), reset_less=True)
        some = Signal(3, reset_less=True)
        following = Signal(data.ArrayLayout(signed(9), 3), reset_less=True)
        position = [Signal(signed(34), name=f"position_{axis}", reset_less=True) for axis in axes]
        m.d.sync += [
            looked_up.eq(taken),
            held.eq(arrived),
            alike.eq(
                Cat(
                    comparable,
                    before.slot == arrived.slot,
                    before.flags.as_value() == arrived.flags.as_value(),
                    *(then == now for then, now in octets),
                )
            ),
            *(some[kind].eq(heads[kind] != 0) for kind in HEAD_KINDS),
            *(following[kind].eq(heads[kind] - 2) for kind in HEAD_KINDS),
            *(signal.eq(arrived.position[axis] + offset[axis]) for axis, signal in enumerate(position)),
        ]

        # Clock 3: what is wrong with it.
        header = self.header
        token = Signal(token_layout(design), reset_less=True)
        row = token.row
        context = token.context
        checked = Signal()
        missing = Signal(reset_less=True)
        beyond = Signal(design.axes, reset_less=True)
        passes = Signal(reset_less=True)
        needs_none = Signal(reset_less=True)
        lane_bits = (design.lanes - 1).bit_length()
        # Where elements are moved, pairs begin with a beat (ropewalk.order).
        moved = header.layout.any() if design.moves else 0
        within = header.start[:lane_bits]
        start = Cat(Mux(moved, 0, within)[:lane_bits], header.start[lane_bits : len(row.start)])
        no_such_row = Signal()
        if design.source == "table":
            m.d.comb += no_such_row.eq(held.flags.unit_amplitude & (header.amplitude != AMPLITUDE.one))
        m.d.sync += [
            checked.eq(looked_up),
            missing.eq(~self.known | no_such_row),
            *(beyond[axis].eq((signal < 0) | (signal >= header.limit)) for axis, signal in enumerate(position)),
            passes.eq(held.flags.pass_),
            needs_none.eq(~self.known | no_such_row | held.flags.pass_ | alike.all()),
            row.place.eq(self.place),
            row.start.eq(start),
            token.pairs.eq(header.pairs),
            row.amplitude.eq(Mux(held.flags.unit_amplitude, AMPLITUDE.one, header.amplitude)),
            *(row.position[axis].eq(signal[:POSITION_BITS]) for axis, signal in enumerate(position)),
            context.inverse.eq(held.flags.inverse),
            token.tag.eq(held.tag),
            token.heads.eq(_packed(some, following)),
            context.start.eq(start),
            context.end.eq(start + header.pairs[: len(context.end)]),
        ]
        if design.moves:
            m.d.sync += [
                context.pairs.eq(header.pairs),
                context.layout.eq(header.layout),
                context.odd.eq(moved & within.any()),
            ]
        m.d.comb += [
            self.valid.eq(checked),
            self.token.eq(token),
            self.token.new_row.eq(~(needs_none | beyond.any())),
            self.token.context.unit.eq(missing | passes | beyond.any()),
            self.token.context.error.eq(missing | (beyond.any() & ~passes)),
            self.position_error.eq(checked & beyond.any() & ~passes & ~missing),
            self.slot_error.eq(checked & missing),
        ]
        return m


def _packed(some: Signal, following: data.View) -> data.View:
    """The heads of a token, the kinds that it has first."""
    query, key, value = HEAD_KINDS
    # The second kind is none of that name only where there is none: QUERY is 0.
    first = Mux(some[query], query, Mux(some[key], key, value))
    second = Mux(some[query] & some[key], key, Mux((some[query] | some[key]) & some[value], value, 0))
    third = Mux(some.all(), value, 0)
    counts = [
        Mux(some[query], following[query], Mux(some[key], following[key], following[value])),
        Mux(some[query] & some[key], following[key], following[value]),
        following[value],
    ]
    packed = Cat(*(kind[:2] for kind in (first, second, third)), *(count[:9] for count in counts))
    return data.View(heads_layout(), packed)
