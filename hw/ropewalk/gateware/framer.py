"""The framer: matches data beats with their tokens and counts them off, head by head.

It never accepts data before the token's descriptor, and never waits for anything but that and room behind it. What it
does with beats that do not fit is in ``docs/ports.md``, "Framing".

A beat passes it in four clocks: it is taken; it is matched; it is counted, and its elements go aside; and it is worked
out which of its pairs lie in the slice. What the core needs is fetched when the beat goes on.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .aside import Aside
from .chunks import SliceBeats, SliceLanes, order_layout, unmoved
from .component import Component
from .credits import Credits
from .descriptor import HEAD_KINDS
from .head_counter import HeadCounter
from .layouts import beat_layout, context_layout, elements_layout, heads_layout, lagging_layout
from .pipeline import carried, delayed
from .queue import Queue
from .relay import Relay

_, _, VALUE = HEAD_KINDS

PLACES = 16
"""Beats between the port and the core."""


def packet_layout(design: Design) -> data.StructLayout:
    """A beat as it comes: the elements, TID and TLAST."""
    return data.StructLayout({"elements": elements_layout(design), "tag": 8, "last": 1})


class Framer(Component):
    """Turns packets into beats that know what they need.

    Latency :attr:`latency` clocks from a beat to one on offer. A beat is taken when the tag of its token is there; one
    per clock, without a bubble between heads or tokens.

    Members
    -------
    tag, heads, context : In stream
        Tokens, in order: the tag, the heads and the rest of it. The latter two are there no later than the tag.
    packet : In stream
        Beats from outside.
    stop : In
        No beat is taken in the next clock.
    beat : Out stream
        Beats for the rotator.
    fetch, elements, lagging : In, Out, Out
        The oldest beat that was not fetched yet goes on; its elements and what else follows it, a clock later. The
        beat's place is free then.
    framing_error : Out
        High for a clock when a token's data are seen not to fit it.
    """

    latency = 2 + SliceLanes.latency + Queue.latency + Relay.latency

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "tag": In(stream.Signature(8)),
                "heads": In(stream.Signature(heads_layout())),
                "context": In(stream.Signature(context_layout(design))),
                "packet": In(stream.Signature(packet_layout(design))),
                "stop": In(1),
                "beat": Out(stream.Signature(beat_layout(design))),
                "fetch": In(1),
                "elements": Out(elements_layout(design)),
                "lagging": Out(lagging_layout(design)),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.counter = counter = HeadCounter(design)
        m.submodules.credits = credits = Credits(PLACES, under_way=2)

        # Clock 0: a beat is taken if its token will be there in the next clock, or if it is to be dropped then.
        arrived = Signal()
        arrival = Signal(packet_layout(design), reset_less=True)
        # The tag is that of the token; the beat has TLAST.
        fits = Signal(reset_less=True)
        closes = Signal()
        # No token is there. Beats are dropped to the next TLAST. Either there is one, or they are.
        wanted = Signal(init=1)
        excess = Signal()
        wants_beats = Signal()
        tag = Signal(8, reset_less=True)
        take = Signal()
        coming = self.packet.payload
        m.d.comb += [
            # Behind beats that are dropped a clock is lost, unless the token is there that is looked for.
            self.packet.ready.eq(credits.free & (self.tag.valid | (wants_beats & ~(closes & (fits | excess))))),
            credits.stop.eq(self.stop),
            take.eq(self.packet.valid & self.packet.ready),
        ]
        m.d.sync += [
            arrived.eq(take),
            arrival.eq(coming),
            closes.eq(take & coming.last),
            fits.eq(Mux(self.tag.ready, coming.tag == self.tag.payload, coming.tag == tag)),
        ]

        # Clock 1: it is matched. A token that ends without TLAST makes way for the next one a clock later than others.
        ours = Signal()
        overrun = Signal()
        m.d.comb += [
            ours.eq(arrived & fits & ~excess),
            overrun.eq(ours & counter.at_end_next & ~closes),
            self.tag.ready.eq(wanted | (closes & fits & ~excess)),
        ]
        lacks = self.tag.ready & ~self.tag.valid
        drops = excess & ~closes
        m.d.sync += [
            wanted.eq(overrun | lacks),
            excess.eq(overrun | drops),
            # No beat is matched in a clock in which a token is looked for: so there is no overrun to tell of here.
            wants_beats.eq(self.tag.valid | ~((closes & fits & ~excess) | (wanted & ~drops))),
        ]
        with m.If(self.tag.ready):
            m.d.sync += tag.eq(self.tag.payload)

        # Clock 2: it is counted. The elements go aside.
        matched = Signal()
        strange = Signal()
        begins = Signal()
        ends = Signal()
        ended = Signal(reset_less=True)
        its_tag = Signal(8, reset_less=True)
        elements = Signal(elements_layout(design), reset_less=True)
        mismatched = Signal()
        m.d.sync += [
            matched.eq(ours),
            strange.eq(arrived & ~fits & ~excess),
            begins.eq(self.tag.valid & self.tag.ready),
            ends.eq(ours & (closes | counter.at_end_next)),
            ended.eq(closes),
            its_tag.eq(arrival.tag),
            elements.eq(arrival.elements),
        ]
        current = self.context.payload
        wrong_end = ended ^ counter.at_end
        m.d.comb += [
            counter.heads.eq(self.heads.payload),
            counter.load.eq(begins),
            counter.advance.eq(matched),
            self.heads.ready.eq(begins),
            self.context.ready.eq(ends),
            credits.take.eq(matched),
        ]
        with m.If(ends):
            m.d.sync += mismatched.eq(0)
        with m.Elif(strange):
            m.d.sync += mismatched.eq(1)
        m.d.sync += [
            # Once for each token.
            self.framing_error.eq(~mismatched & (strange | (matched & wrong_end))),
            credits.give.eq(self.fetch),
        ]
        turned = ~current.unit & (counter.kind != VALUE)
        counted = Signal(beat_layout(design))
        counted_lagging = Signal(lagging_layout(design))
        m.d.comb += [
            counted.ask.word.eq(counter.word),
            counted.ask.bank.eq(current.bank),
            counted_lagging.inverse.eq(current.inverse),
            counted_lagging.side.kind.eq(counter.kind),
            counted_lagging.side.last.eq(ended | counter.at_end),
            counted_lagging.side.tag.eq(its_tag),
            counted_lagging.side.error.eq(current.error | mismatched | wrong_end),
        ]
        order = Signal(order_layout(design))
        if design.moves:
            m.d.comb += [
                order.first.eq(current.start),
                order.pairs.eq(current.pairs),
                order.odd.eq(current.odd),
                order.split_in.eq(current.layout[0]),
                order.split_out.eq(current.layout[1]),
                counted.order.eq(order),
                counted.turned.eq(turned),
                counted.inverse.eq(current.inverse),
                counted.cut.eq(ended & ~counter.at_head_end),
            ]
            with m.If(counter.kind == VALUE):
                m.d.comb += [getattr(counted.order, name).eq(value) for name, value in unmoved(order).items()]

        # Clocks 3 and 4: which of its lanes hold pairs of the slice.
        m.submodules.lanes = lanes = SliceLanes(design)
        m.d.comb += [
            lanes.word.eq(counter.word),
            lanes.start.eq(current.start),
            lanes.end.eq(current.end),
        ]
        beat = Signal(beat_layout(design))
        lagging = Signal(lagging_layout(design))
        turns = delayed(m, turned, lanes.latency, name="turns")
        complete = carried(m, matched, lanes.latency, name="complete")
        m.d.comb += [
            beat.eq(delayed(m, counted, lanes.latency, name="counted")),
            beat.ask.needed.eq(lanes.lanes.any() & turns),
            lagging.eq(delayed(m, counted_lagging, lanes.latency, name="lagging")),
            lagging.rotated.eq(lanes.lanes & turns.replicate(design.lanes)),
        ]
        if design.moves:
            # Of a head that is not moved nothing crosses: that is known too late for the sums.
            beats = SliceBeats(m, design, order, order.split_in, name="slice")
            word, moved = (
                delayed(m, value, SliceBeats.latency, name=name)
                for name, value in (("word", counter.word), ("moved", counter.kind != VALUE))
            )
            crossed = beats.crossed(word) & moved
            m.d.comb += [
                beat.crossed.eq(delayed(m, crossed, lanes.latency - SliceBeats.latency, name="crossed")),
                lagging.inside.eq(lanes.lanes[0] & (lagging.side.kind != VALUE)),
            ]

        m.submodules.relay = relay = Relay(beat_layout(design))
        m.submodules.ahead = ahead = Queue({"beat": (beat_layout(design), PLACES)})
        m.d.comb += [
            ahead.write_beat.eq(complete),
            ahead.in_beat.eq(beat),
            ahead.offer.eq(complete),
            relay.arrival.payload.eq(ahead.output.payload.beat),
            relay.arrival.valid.eq(ahead.output.valid),
            ahead.output.ready.eq(relay.arrival.ready),
        ]
        connect(m, relay.output, wiring.flipped(self.beat))
        parts = (("aside", self.elements, matched, elements), ("aside_lagging", self.lagging, complete, lagging))
        for name, given, write, stored in parts:
            m.submodules[name] = aside = Aside(given.shape(), PLACES)
            m.d.comb += [
                aside.write.eq(write),
                aside.stored.eq(stored),
                aside.fetch.eq(self.fetch),
                given.eq(aside.fetched),
            ]
        return m
