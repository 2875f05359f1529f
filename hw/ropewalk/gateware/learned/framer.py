"""The framer of the learned-table adder: matches data beats with their tokens and counts them off.

It never accepts data before the token's descriptor, and never waits for anything but that and room behind it. What it
does with beats that do not fit is in ``docs/ports.md``, "Framing", and for TKEEP in ``docs/learned.md``.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ...designs.learned import LearnedDesign
from ..component import Component
from .layouts import beat_layout, packet_layout, token_layout


class Framer(Component):
    """Turns packets into beats that know which table words they need.

    Latency :attr:`latency` clocks from a packet's beat to a beat; one beat per clock, without a bubble between tokens.

    Members
    -------
    token : In stream
        Tokens, in order.
    packet : In stream
        Beats from outside.
    beat : Out stream
        Beats for the adder.
    framing_error : Out
        High for a clock when a token's data are seen not to fit it.
    """

    latency = 2

    def __init__(self, design: LearnedDesign):
        self._design = design
        super().__init__(
            {
                "token": In(stream.Signature(token_layout(design))),
                "packet": In(stream.Signature(packet_layout(design))),
                "beat": Out(stream.Signature(beat_layout(design))),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        following = self.token.payload
        active = Signal()
        current = Signal(token_layout(design), reset_less=True)
        mismatched = Signal()
        excess = Signal()
        word = Signal(range(max(2, design.beats_per_token)))
        at_end = Signal()
        m.d.comb += at_end.eq(word == design.beats_per_token - 1)

        out = Signal(beat_layout(design), reset_less=True)
        stored = Signal()
        room = Signal()
        ahead = m.submodules.ahead = SyncFIFO(width=beat_layout(design).size, depth=4)
        # One beat may be on its way to the buffer when the level is read.
        m.d.comb += [
            ahead.w_data.eq(out),
            ahead.w_en.eq(stored),
            self.beat.payload.eq(data.View(beat_layout(design), ahead.r_data)),
            self.beat.valid.eq(ahead.r_rdy),
            ahead.r_en.eq(self.beat.ready),
            room.eq(ahead.w_level + stored < ahead.depth),
            self.packet.ready.eq((active | excess) & room),
        ]

        arrival = self.packet.payload
        accept, ours, end, misfit = Signal(), Signal(), Signal(), Signal()
        octets = design.container_bits // 8
        whole = (1 << design.lanes * octets) - 1
        part = (1 << design.last_lanes * octets) - 1
        odd_keep = arrival.keep != Mux(at_end, part, whole) if design.has_keep else 0
        m.d.comb += [
            accept.eq(self.packet.valid & self.packet.ready),
            ours.eq(accept & ~excess & (arrival.tag == current.tag)),
            end.eq(ours & (arrival.last | at_end)),
            misfit.eq((arrival.last ^ at_end) | odd_keep),
        ]
        m.d.sync += stored.eq(ours)
        with m.If(accept):
            with m.If(excess):
                m.d.sync += excess.eq(~arrival.last)
            with m.Elif(~ours | misfit):
                m.d.sync += mismatched.eq(1)
        # Once for each token.
        m.d.comb += self.framing_error.eq(accept & ~excess & ~mismatched & ((arrival.tag != current.tag) | misfit))
        with m.If(ours):
            m.d.sync += word.eq(word + 1)
            if design.storage == "block-ram":
                m.d.sync += current.place.eq(current.place + 1)
        with m.If(end):
            m.d.sync += [word.eq(0), mismatched.eq(0), excess.eq(~arrival.last)]
        with m.If(end | ~active):
            m.d.comb += self.token.ready.eq(1)
            m.d.sync += [active.eq(self.token.valid), current.eq(following)]

        # Elements past the row's end take no table word, and neither do they count as saturated.
        inside = Mux(at_end, (1 << design.last_lanes) - 1, (1 << design.lanes) - 1)
        m.d.sync += [
            out.elements.eq(arrival.elements),
            out.add.eq(Mux(current.add, inside, 0)),
            out.row.eq(current.add),
            out.place.eq(current.place),
            out.side.last.eq(end),
            out.side.tag.eq(current.tag),
            out.side.error.eq(current.error | mismatched | misfit),
            out.side.keep.eq(arrival.keep & Mux(at_end, part, whole)),
        ]
        return m
