"""The framer: matches data beats with their tokens and counts them off.

It never accepts data before the token's descriptor, and never waits for anything but that and room behind it. What it
does with beats that do not fit is in ``docs/ports.md``, "Framing", and for TKEEP in the unit's own page.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ...designs.row_design import RowDesign
from ..component import Component
from .layouts import packet_layout
from .queue import queue_before


class RowFramer(Component):
    """Turns packets into beats that know their token; what else a beat knows, each unit adds by :meth:`describe`.

    Latency :attr:`latency` clocks from a packet's beat to a beat; one beat per clock, without a bubble between tokens.

    Parameters
    ----------
    design
        The unit.
    token
        What the unit knows of a token: ``tag`` and ``error``, and what is its own.
    beat
        A beat on its way to the adder: ``elements`` and ``side``, and what is the unit's own.

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

    latency = 3

    def __init__(self, design: RowDesign, *, token: data.StructLayout, beat: data.StructLayout):
        self._design = design
        self._layouts = token, beat
        super().__init__(
            {
                "token": In(stream.Signature(token)),
                "packet": In(stream.Signature(packet_layout(design))),
                "beat": Out(stream.Signature(beat)),
                "framing_error": Out(1),
            }
        )

    def describe(
        self, m: Module, out: data.View, token: data.View, word: Signal, at_end: Signal, taken: Signal
    ) -> None:
        """Say of the beat that comes in this clock what only this unit wants to know, in the registers of ``out``.

        It is beat number ``word`` of ``token``, the last one where ``at_end``; where ``taken`` it belongs to the token
        and goes on.
        """
        raise NotImplementedError

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        token_layout, beat_layout = self._layouts
        active, mismatched, excess = Signal(), Signal(), Signal()
        current = Signal(token_layout, reset_less=True)
        word = Signal(range(max(2, design.beats_per_token)))
        at_end = Signal(init=design.beats_per_token == 1)

        out = Signal(beat_layout, reset_less=True)
        stored, room = Signal(), Signal()
        ahead = queue_before(m, self.beat, name="ahead", depth=8, payload=out, valid=stored, buffered=True)
        # Two beats may be on their way to the buffer when its level is read, and what was read lets in a third.
        m.d.sync += room.eq(ahead.w_level < ahead.depth - 2)
        m.d.comb += self.packet.ready.eq((active | excess) & room)

        arrival = self.packet.payload
        accept, ours, end, unfit = Signal(), Signal(), Signal(), Signal()
        octets = design.container_bits // 8
        whole, part = ((1 << lanes * octets) - 1 for lanes in (design.lanes, design.last_lanes))
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

        m.d.sync += [
            out.elements.eq(arrival.elements),
            out.side.last.eq(end),
            out.side.tag.eq(current.tag),
            out.side.error.eq(current.error | mismatched | unfit),
        ]
        if design.has_keep:
            m.d.sync += out.side.keep.eq(arrival.keep & expected)
        self.describe(m, out, current, word, at_end, ours)

        with m.If(ours):
            m.d.sync += [word.eq(word + 1), at_end.eq(word == design.beats_per_token - 2)]
        with m.If(end):
            m.d.sync += [word.eq(0), at_end.eq(design.beats_per_token == 1), mismatched.eq(0), excess.eq(~arrival.last)]
        with m.If(end | ~active):
            m.d.comb += self.token.ready.eq(1)
            m.d.sync += [active.eq(self.token.valid), current.eq(self.token.payload)]
        return m
