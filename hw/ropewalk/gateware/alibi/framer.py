"""The framer: matches data beats with their rows and counts them off. What it does with beats that do not fit is in
``docs/alibi.md``, "Framing".

It never accepts data before the row's descriptor, and waits for nothing but that and room behind it.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from .layouts import arrival_layout, beat_layout, frame_layout, index_bits, packet_layout


class RowFramer(Component):
    """Turns packets into beats that know their row and their place in it.

    Latency 1 clock from the register at the entrance, which a beat enters while its row is made ready; one beat per
    clock, without a bubble between rows, rows of one beat included.

    Members
    -------
    frame : In stream
        Rows, in order.
    packet : In stream
        Beats from outside.
    room : In
        A beat that is taken in this clock can be passed on. It comes from a register.
    hold : In
        No beat may be taken in this clock. It comes from a register.
    active : Out
        A row is under way: a beat may be taken in this clock.
    accepted : Out
        A beat is taken in this clock and will be passed on.
    ended : Out
        It is the last one of its row.
    beat : Out
        It, one clock later, with ``beat_valid``.
    framing_error : Out
        High for a clock when a row's data are seen not to fit it.
    """

    latency = 1

    def __init__(self, design: AlibiDesign):
        self._design = design
        super().__init__(
            {
                "frame": In(stream.Signature(frame_layout(design))),
                "packet": In(stream.Signature(packet_layout(design))),
                "room": In(1),
                "hold": In(1),
                "active": Out(1),
                "accepted": Out(1),
                "ended": Out(1),
                "beat": Out(beat_layout(design)),
                "beat_valid": Out(1),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        active, excess, mismatched = Signal(), Signal(), Signal()
        current = Signal(frame_layout(design), reset_less=True)
        index = Signal(index_bits(design), reset_less=True)
        at_end = Signal(reset_less=True)

        # A beat waits in a register, with what can be said of its TKEEP without its row.
        octets = design.container_bits // 8
        arrival = Signal(arrival_layout(design), reset_less=True)
        waiting, taken, free, has_row = (Signal(name=name) for name in ("waiting", "taken", "free", "has_row"))
        m.d.comb += [
            taken.eq((active | excess) & self.room & ~self.hold),
            # The beat that waits may be the last one of its row: what follows it must have a row too.
            has_row.eq(self.frame.valid | ((active | excess) & ~(waiting & (arrival.last | at_end)))),
            free.eq(~waiting | taken),
            self.packet.ready.eq(free & has_row),
        ]
        # The wide register takes whatever is there, so that its enable knows nothing of the rows to come.
        with m.If(free):
            m.d.sync += waiting.eq(self.packet.valid & has_row)
        packet = self.packet.payload
        lanes = [packet.keep[octets * lane : octets * (lane + 1)] for lane in range(design.lanes)]
        with m.If(free):
            m.d.sync += [
                arrival.scores.eq(packet.scores),
                arrival.keep.eq(Cat(lane[0] for lane in lanes)),
                arrival.uneven.eq(Cat(lane.any() & ~lane.all() for lane in lanes).any()),
                # A beat that waits outlives its row's predecessor, never its row: the tag need not be looked at again.
                arrival.fits.eq(Mux(self.frame.ready, packet.tag == self.frame.payload.tag, packet.tag == current.tag)),
                arrival.last.eq(packet.last),
            ]

        accept, fits, ours, end, whole = (Signal(name=name) for name in ("accept", "fits", "ours", "end", "whole"))
        expected = Cat(~at_end | (current.tail >= lane) for lane in range(design.lanes))
        m.d.comb += [
            accept.eq(waiting & taken),
            fits.eq(arrival.fits),
            ours.eq(accept & ~excess & fits),
            end.eq(ours & (arrival.last | at_end)),
            whole.eq((arrival.last == at_end) & (arrival.keep == expected) & ~arrival.uneven),
            # Once for each row.
            self.framing_error.eq(accept & ~excess & ~mismatched & ~(fits & whole)),
            self.active.eq(active),
            self.accepted.eq(ours),
            self.ended.eq(end),
        ]
        with m.If(accept):
            with m.If(excess):
                m.d.sync += excess.eq(~arrival.last)
            with m.Elif(~(fits & whole)):
                m.d.sync += mismatched.eq(1)
        with m.If(ours):
            m.d.sync += [index.eq(index + 1), at_end.eq(index == current.before_last)]
        with m.If(end):
            m.d.sync += [mismatched.eq(0), excess.eq(~arrival.last)]
        m.d.comb += self.frame.ready.eq(end | ~active)
        with m.If(self.frame.ready):
            m.d.sync += [
                active.eq(self.frame.valid),
                current.eq(self.frame.payload),
                index.eq(0),
                at_end.eq(self.frame.payload.single),
            ]

        m.d.sync += [
            self.beat_valid.eq(ours),
            self.beat.scores.eq(arrival.scores),
            self.beat.index.eq(index),
            self.beat.keep.eq(arrival.keep & expected),
            self.beat.tag.eq(current.tag),
            self.beat.last.eq(end),
            self.beat.error.eq(mismatched | ~whole),
        ]
        return m
