"""The framer: matches data beats with their tokens and counts them off.

It never accepts data before the token's descriptor, and never waits for anything but that and room behind it. What it
does with beats that do not fit is in ``docs/sinusoidal.md``, "Framing".
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import SinusoidalDesign
from ..component import Component
from .layouts import beat_layout, context_layout, packet_layout, part_of


class Framer(Component):
    """Turns packets into beats that know their place in a row.

    Latency 1 clock; one beat per clock, without a bubble between tokens.

    Members
    -------
    context : In stream
        Tokens, in order.
    packet : In stream
        Beats from outside.
    beat : Out stream
        Beats for the adder.
    framing_error : Out
        High for a clock when a token's data are seen not to fit it.
    """

    latency = 1

    def __init__(self, design: SinusoidalDesign, *, contexts: int):
        self._design = design
        self._contexts = contexts
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

        # Contexts wait here so that the next one is at hand when a token ends.
        waiting = m.submodules.waiting = SyncFIFO(width=context_layout().size, depth=self._contexts)
        m.d.comb += [
            waiting.w_data.eq(self.context.payload),
            waiting.w_en.eq(self.context.valid),
            self.context.ready.eq(waiting.w_rdy),
        ]
        active, mismatched, excess = Signal(), Signal(), Signal()
        current = Signal(context_layout(), reset_less=True)
        word = Signal(range(max(2, design.beats_per_token)))
        at_end = Signal()
        m.d.comb += at_end.eq(word == design.beats_per_token - 1)

        out = Signal(beat_layout(design), reset_less=True)
        stored, room = Signal(), Signal()
        ahead = m.submodules.ahead = SyncFIFO(width=beat_layout(design).size, depth=4)
        m.d.comb += [
            ahead.w_data.eq(out),
            ahead.w_en.eq(stored),
            self.beat.payload.eq(ahead.r_data),
            self.beat.valid.eq(ahead.r_rdy),
            ahead.r_en.eq(self.beat.ready),
            # One beat may be on its way to the buffer when the level is read.
            room.eq(ahead.w_level + stored < ahead.depth),
            self.packet.ready.eq((active | excess) & room),
        ]

        arrival = self.packet.payload
        accept, ours, end, unfit = Signal(), Signal(), Signal(), Signal()
        octets = design.container_bits // 8
        whole, part = ((1 << count * octets) - 1 for count in (design.elements, design.last_elements))
        expected = Mux(at_end, part, whole)
        odd_keep = arrival.keep != expected if design.has_keep else 0
        m.d.comb += [
            accept.eq(self.packet.valid & self.packet.ready),
            ours.eq(accept & ~excess & (arrival.tag == current.tag)),
            end.eq(ours & (arrival.last | at_end)),
            unfit.eq((arrival.last ^ at_end) | odd_keep),
        ]
        m.d.sync += stored.eq(ours)
        with m.If(accept):
            with m.If(excess):
                m.d.sync += excess.eq(~arrival.last)
            with m.Elif(~ours | unfit):
                m.d.sync += mismatched.eq(1)
        # Once for each token.
        m.d.comb += self.framing_error.eq(accept & ~excess & ~mismatched & ((arrival.tag != current.tag) | unfit))
        with m.If(ours):
            m.d.sync += word.eq(word + 1)
        with m.If(end):
            m.d.sync += [word.eq(0), mismatched.eq(0), excess.eq(~arrival.last)]
        with m.If(end | ~active):
            m.d.comb += waiting.r_en.eq(1)
            m.d.sync += [active.eq(waiting.r_rdy), current.eq(data.View(context_layout(), waiting.r_data))]

        m.d.sync += [
            out.elements.eq(arrival.elements),
            out.encoded.eq(current.encoded),
            out.word.eq(word),
            out.part.eq(part_of(design, word)),
            out.side.last.eq(end),
            out.side.tag.eq(current.tag),
            out.side.error.eq(current.error | mismatched | unfit),
        ]
        if design.has_keep:
            m.d.sync += out.side.keep.eq(arrival.keep & expected)
        return m
