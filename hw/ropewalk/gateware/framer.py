"""The framer: matches data beats with their tokens and counts them off, head by head.

It never accepts data before the token's descriptor, and never waits for anything but that and room behind it. What it
does with beats that do not fit is in ``docs/ports.md``, "Framing".
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ..design import Design
from .chunks import order_layout, unmoved
from .component import Component
from .descriptor import CAPACITY
from .layouts import beat_layout, context_layout

CONTEXT_LATENCY = 4
"""Clocks from a context to the first beat of its token on the way out, where data are waiting."""

QUERY, KEY, VALUE = range(3)
"""Kinds of head, as TUSER names them."""


def packet_layout(design: Design) -> data.StructLayout:
    """A beat as it comes: the elements, TID and TLAST."""
    return data.StructLayout({"elements": data.ArrayLayout(design.data.shape, design.elements), "tag": 8, "last": 1})


class Framer(Component):
    """Turns packets into beats that know what they need.

    Latency 1 clock; one beat per clock, without a bubble between heads or tokens.

    Members
    -------
    context : In stream
        Tokens, in order.
    packet : In stream
        Beats from outside.
    beat : Out stream
        Beats for the rotator.
    framing_error : Out
        High for a clock when a token's data are seen not to fit it.
    """

    latency = 1

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "context": In(stream.Signature(context_layout())),
                "packet": In(stream.Signature(packet_layout(design))),
                "beat": Out(stream.Signature(beat_layout(design))),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design

        # Contexts wait here so that the next one is at hand when a token ends, and their rows can be made ahead.
        waiting = m.submodules.waiting = SyncFIFO(width=context_layout().size, depth=max(CAPACITY, design.row_banks))
        m.d.comb += [
            waiting.w_data.eq(self.context.payload),
            waiting.w_en.eq(self.context.valid),
            self.context.ready.eq(waiting.w_rdy),
        ]
        following = data.View(context_layout(), waiting.r_data)

        active = Signal()
        current = Signal(context_layout(), reset_less=True)
        sequence = Signal(design.row_number_bits, init=-1)
        mismatched = Signal()
        excess = Signal()

        # Where in the token the next beat belongs: the beat of a head, the kind of head, and the heads of that kind
        # that follow. Kinds without heads are passed over.
        word = Signal(range(max(2, design.beats_per_head)))
        kind = Signal(2)
        following_heads = Signal(8)
        at_head_end = word == design.beats_per_head - 1
        some = Signal(3)
        next_kind = Signal(2)
        more_kinds = Signal()
        first_kind = Signal(2)
        m.d.comb += [
            *(some[index].eq(current.heads[index] != 0) for index in range(3)),
            more_kinds.eq(((kind == QUERY) & (some[KEY] | some[VALUE])) | ((kind == KEY) & some[VALUE])),
            next_kind.eq(Mux((kind == QUERY) & some[KEY], KEY, VALUE)),
            first_kind.eq(Mux(following.heads[QUERY] != 0, QUERY, Mux(following.heads[KEY] != 0, KEY, VALUE))),
        ]
        at_end = Signal()
        m.d.comb += at_end.eq(at_head_end & (following_heads == 0) & ~more_kinds)

        out = Signal(beat_layout(design), reset_less=True)
        stored = Signal()
        room = Signal()
        ahead = m.submodules.ahead = SyncFIFO(width=beat_layout(design).size, depth=4)
        m.d.comb += [
            ahead.w_data.eq(out),
            ahead.w_en.eq(stored),
            self.beat.payload.eq(ahead.r_data),
            self.beat.valid.eq(ahead.r_rdy),
            ahead.r_en.eq(self.beat.ready),
        ]
        # One beat may be on its way to the buffer when the level is read.
        m.d.comb += [
            room.eq(ahead.w_level + stored < ahead.depth),
            self.packet.ready.eq((active | excess) & room),
        ]

        arrival = self.packet.payload
        accept = Signal()
        ours = Signal()
        end = Signal()
        m.d.comb += [
            accept.eq(self.packet.valid & self.packet.ready),
            ours.eq(accept & ~excess & (arrival.tag == current.tag)),
            end.eq(ours & (arrival.last | at_end)),
        ]
        m.d.sync += stored.eq(ours)
        with m.If(accept):
            with m.If(excess):
                m.d.sync += excess.eq(~arrival.last)
            with m.Elif(~ours):
                m.d.sync += mismatched.eq(1)
        # Once for each token.
        m.d.comb += self.framing_error.eq(
            accept & ~excess & ~mismatched & ((arrival.tag != current.tag) | (arrival.last ^ at_end))
        )
        with m.If(ours):
            m.d.sync += word.eq(word + 1)
            with m.If(at_head_end):
                m.d.sync += word.eq(0)
                with m.If(following_heads != 0):
                    m.d.sync += following_heads.eq(following_heads - 1)
                with m.Else():
                    m.d.sync += [kind.eq(next_kind), following_heads.eq(current.heads[next_kind] - 1)]
        with m.If(end):
            m.d.sync += [word.eq(0), mismatched.eq(0), excess.eq(~arrival.last)]

        with m.If(end | ~active):
            m.d.comb += waiting.r_en.eq(1)
            m.d.sync += [
                active.eq(waiting.r_rdy),
                current.eq(following),
                kind.eq(first_kind),
                following_heads.eq(following.heads[first_kind] - 1),
            ]
            with m.If(waiting.r_rdy & following.new_row):
                m.d.sync += sequence.eq(sequence + 1)

        # Which lanes of this beat hold pairs of the rotary slice.
        inside = []
        for lane in range(design.lanes):
            place = Cat(Signal((design.lanes - 1).bit_length(), init=lane), word)
            inside.append((place >= current.start) & (place < current.end))
        m.d.sync += [
            out.elements.eq(arrival.elements),
            out.rotated.eq(Cat(inside) & (~current.unit & (kind != VALUE)).replicate(design.lanes)),
            out.inverse.eq(current.inverse),
            out.word.eq(word),
            out.sequence.eq(sequence),
            out.side.kind.eq(kind),
            out.side.last.eq(end),
            out.side.tag.eq(current.tag),
            out.side.error.eq(current.error | mismatched | (arrival.last ^ at_end)),
        ]
        if design.moves:
            order = Signal(order_layout(design))
            m.d.comb += [
                order.first.eq(current.start),
                order.pairs.eq(current.pairs),
                order.odd.eq(current.odd),
                order.split_in.eq(current.layout[0]),
                order.split_out.eq(current.layout[1]),
            ]
            m.d.sync += [
                out.order.eq(order),
                out.turned.eq(~current.unit & (kind != VALUE)),
                out.inside.eq(inside[0] & (kind != VALUE)),
            ]
            with m.If(kind == VALUE):
                m.d.sync += [getattr(out.order, name).eq(value) for name, value in unmoved(order).items()]
        return m
