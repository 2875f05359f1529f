"""The framer: matches data beats with their rows and counts them off. What it does with beats that do not fit is in
``docs/alibi.md``, "Framing".

It never accepts data before the row's descriptor, and waits for nothing but that and room behind it. What must be known
in the clock in which a beat is taken comes from registers by two levels of logic; what can be known later is found a
clock later.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..pipeline import delayed
from .layouts import arrival_layout, beat_layout, frame_layout, index_bits, packet_layout, side_layout

COMPARED = 6
"""Bits of a beat's number that are compared at a time."""


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
    awake : In
        Without it ``packet`` is not taken.
    room : In
        A beat may be taken in this clock, and can be passed on. It comes from a register.
    accept : Out
        A beat is taken in this clock.
    beat : Out
        A beat of a row, with ``beat_valid``, one clock after it was taken.
    side : Out
        What accompanies it, with ``side_valid``, another clock later; without what its row tells.
    framing_error : Out
        High for a clock when a row's data have been seen not to fit it.
    """

    latency = 1

    def __init__(self, design: AlibiDesign):
        self._design = design
        super().__init__(
            {
                "frame": In(stream.Signature(frame_layout(design))),
                "packet": In(stream.Signature(packet_layout(design))),
                "awake": In(1),
                "room": In(1),
                "accept": Out(1),
                "beat": Out(beat_layout(design)),
                "beat_valid": Out(1),
                "side": Out(side_layout(design)),
                "side_valid": Out(1),
                "framing_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        # A row is under way; excess of one; a row, and no excess; one of both. A beat waits for one of them.
        active, excess, working, at_work, waiting = (
            Signal(name=name) for name in ("active", "excess", "working", "at_work", "waiting")
        )
        fits = Signal(2)
        current = Signal(frame_layout(design), reset_less=True)
        at_end = Signal(reset_less=True)
        arrival = Signal(arrival_layout(design), reset_less=True)
        index = Signal(index_bits(design), reset_less=True)

        ours, end = Signal(), Signal()
        m.d.comb += [
            self.accept.eq(waiting & at_work & self.room),
            ours.eq(fits.all() & working & self.room),
            end.eq(ours & (arrival.last | at_end)),
            self.frame.ready.eq(end | ~active),
        ]
        self._arrive(m, arrival, current, waiting, fits, at_work=at_work, ends=arrival.last | at_end)
        has_row = active | self.frame.valid
        excess_ends = excess & waiting & self.room & arrival.last
        m.d.sync += [
            active.eq((active & ~end) | self.frame.valid),
            excess.eq(Mux(excess, ~excess_ends, end & ~arrival.last)),
            working.eq(Mux(end, self.frame.valid & arrival.last, has_row & (~excess | excess_ends))),
            at_work.eq((at_work & ~((ours & arrival.last) | excess_ends)) | (active & excess) | self.frame.valid),
        ]
        with m.If(self.frame.ready):
            m.d.sync += current.eq(self.frame.payload)
        self._count(m, index, at_end, third=current.third, ours=ours, end=end)

        beat = Signal(beat_layout(design), reset_less=True)
        m.d.comb += self.beat.eq(beat)
        m.d.sync += [
            self.beat_valid.eq(ours),
            beat.scores.eq(arrival.scores),
            beat.index.eq(index),
            beat.last.eq(end),
        ]
        self._check(m, arrival, current, at_end, looked_at=waiting & working & self.room, fits=fits.all())
        return m

    def _arrive(
        self, m: Module, arrival, current, waiting: Signal, fits: Signal, *, at_work: Signal, ends: Value
    ) -> None:
        """A beat waits in a register, with what can be said of it without its row; ``ends``: it is the last of that.

        ``fits``: one waits, and a half of its TID is that of its row; the other half is.
        """
        packet = self.packet.payload
        octets = self._design.container_bits // 8
        lanes = [packet.keep[octets * lane : octets * (lane + 1)] for lane in range(self._design.lanes)]
        free, row_follows, comes = Signal(), Signal(), Signal()
        m.d.comb += [
            free.eq(~waiting | (at_work & self.room)),
            # The beat that waits may be the last one of its row: what follows it must have a row too.
            row_follows.eq((self.frame.valid | (at_work & ~(waiting & ends))) & self.awake),
            self.packet.ready.eq(free & row_follows),
            comes.eq(self.packet.valid & row_follows),
        ]
        # A beat that waits outlives its row's predecessor, never its row: the tag need not be looked at again.
        low, high = (
            Mux(
                self.frame.ready,
                packet.tag[k : k + 4] == self.frame.payload.tag[k : k + 4],
                packet.tag[k : k + 4] == current.tag[k : k + 4],
            )
            for k in (0, 4)
        )
        # The wide register takes whatever is there, so that its enable knows nothing of the rows to come.
        with m.If(free):
            m.d.sync += [
                waiting.eq(comes),
                fits.eq(Cat(comes & low, high)),
                arrival.scores.eq(packet.scores),
                arrival.keep.eq(Cat(lane[0] for lane in lanes)),
                arrival.uneven.eq(Cat(lane.any() & ~lane.all() for lane in lanes).any()),
                arrival.last.eq(packet.last),
            ]

    def _count(self, m: Module, index: Signal, at_end: Signal, *, third: Value, ours: Signal, end: Signal) -> None:
        """Count the beats of a row; ``at_end`` stands when the next one is its last.

        A beat's number is compared in the clock in which the beat is taken, and the result is used in the next one: so
        it is compared with the number of the last beat but two.
        """
        parts = range(0, len(index), COMPARED)
        same = Signal(len(parts), reset_less=True)
        # The beat after the next one is the last: as seen in the last clock, or since then.
        seen, near, counted = Signal(), Signal(reset_less=True), Signal()
        m.d.comb += seen.eq(near | (counted & same.all()))
        m.d.sync += [
            same.eq(Cat(index[k : k + COMPARED] == third[k : k + COMPARED] for k in parts)),
            counted.eq(ours & ~end),
            near.eq(seen & ~ours),
        ]
        with m.If(ours):
            m.d.sync += [index.eq(index + 1), at_end.eq(seen)]
        with m.If(self.frame.ready):
            frame = self.frame.payload
            m.d.sync += [index.eq(0), at_end.eq(frame.single), near.eq(frame.double)]

    def _check(self, m: Module, arrival, current, at_end: Signal, *, looked_at: Value, fits: Value) -> None:
        """Whether a beat fits its row, in the two clocks after it was taken."""
        design = self._design
        checked = Signal(name="looked_at_1")
        fitting, uneven, last, ending = (
            Signal(name=f"{name}_1", reset_less=True) for name in ("fits", "uneven", "last", "at_end")
        )
        keep = Signal(design.lanes, name="keep_1", reset_less=True)
        tail = Signal(design.lane_bits, name="tail_1", reset_less=True)
        m.d.sync += [
            checked.eq(looked_at),
            fitting.eq(fits),
            uneven.eq(arrival.uneven),
            last.eq(arrival.last),
            ending.eq(at_end),
            keep.eq(arrival.keep),
            tail.eq(current.tail),
        ]

        side = Signal(side_layout(design), reset_less=True)
        expected = Cat(~ending | (tail >= lane) for lane in range(design.lanes))
        misplaced, ragged, mismatched, mismatches = (
            Signal(name=name) for name in ("misplaced", "ragged", "mismatched", "mismatches")
        )
        ends = delayed(m, self.beat_valid & self.beat.last, 1, name="ends")
        m.d.sync += [
            misplaced.eq(checked & (~fitting | (last != ending))),
            ragged.eq(checked & (uneven | (keep != expected))),
            side.keep.eq(keep & expected),
            side.last.eq(self.beat.last),
            self.side_valid.eq(self.beat_valid),
            # Once for each row.
            self.framing_error.eq(mismatches & ~mismatched),
            mismatched.eq(mismatches & ~ends),
        ]
        m.d.comb += [
            mismatches.eq(mismatched | misplaced | ragged),
            self.side.eq(side),
            self.side.error.eq(mismatches),
        ]
