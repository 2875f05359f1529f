"""Works out ahead which results the beats of the output wait for, in the buffer behind the rotator."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .chunks import SliceBeats, order_layout
from .component import Component
from .credits import Credits
from .pipeline import carried, delayed
from .queue import Queue

PLACES = 16
"""Beats for which that is known, or is being worked out."""


def wait_layout(number_bits: int) -> data.StructLayout:
    """The number of the result that a beat waits for, and whether its chunks lie in each other's banks."""
    return data.StructLayout({"number": number_bits, "crossed": 1})


class OutputPlan(Component):
    """What each beat of the output waits for, in their order; a beat per clock.

    All of a slice's first half waits for the results one after the other; behind it everything is there.

    Members
    -------
    head : In stream
        The order of heads.
    wait : Out stream
        What the next beat waits for.
    """

    def __init__(self, design: Design, *, number_bits: int):
        self._design = design
        self._number_bits = number_bits
        super().__init__(
            {
                "head": In(stream.Signature(order_layout(design))),
                "wait": Out(stream.Signature(wait_layout(number_bits))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, beats = self._design, self._design.beats_per_head
        order = self.head.payload
        word = Signal(range(max(2, beats)))
        at_end = Signal(init=beats == 1)
        base = Signal(self._number_bits)
        issue = Signal()
        m.submodules.waits = waits = Queue({"wait": (self.wait.payload.shape(), PLACES)})
        m.submodules.credits = credits = Credits(PLACES)
        m.d.comb += [
            issue.eq(self.head.valid & credits.free),
            self.head.ready.eq(credits.free & at_end),
            credits.take.eq(issue),
        ]
        m.d.sync += credits.give.eq(self.wait.valid & self.wait.ready)
        with m.If(issue):
            m.d.sync += [word.eq(word + 1), at_end.eq(word == (beats - 2) % beats)]
            with m.If(at_end):
                m.d.sync += [word.eq(0), base.eq(base + beats)]

        # Clock 1: the slice in beats.
        beat_1 = delayed(m, word, 1, name="beat")
        pair_beats = SliceBeats(m, design, order, order.split_out, name="slice")

        # Clock 2: where the beat lies from it.
        beat = delayed(m, beat_1, 1, name="beat_2")
        behind = delayed(m, pair_beats.behind, 1, name="behind")
        odd = delayed(m, order.odd, 2, name="odd")
        split = delayed(m, order.split_out, 2, name="split")
        result = Signal(len(word) + 2, reset_less=True)
        started = Signal(reset_less=True)
        is_behind = Signal(reset_less=True)
        past = Signal(reset_less=True)
        m.d.sync += [
            # A result has the first elements of a chunk and a half of the next one's.
            result.eq((beat_1 << 1) + 1 - pair_beats.first),
            started.eq(beat_1 >= pair_beats.first),
            is_behind.eq(beat_1 >= pair_beats.behind),
            past.eq(beat_1 > pair_beats.behind),
        ]

        # Clock 3: which of the slice's results, at most. Clock 4: what it waits for. Clock 5: its number.
        at_most = Signal(behind.shape(), reset_less=True)
        m.d.sync += at_most.eq(Mux(result < behind, result, behind - 1))
        beat_3, behind_3 = (delayed(m, value, 1, name=name) for name, value in (("beat_3", beat), ("behind_3", behind)))
        of_slice, left_over = (
            delayed(m, value, 1, name=name)
            for name, value in (("of_slice", started & ~is_behind & split), ("left_over", started & ~past & odd))
        )
        waits_for = Signal(len(word) + 1, reset_less=True)
        m.d.sync += waits_for.eq(beat_3)
        with m.If(left_over):
            m.d.sync += waits_for.eq(behind_3)
        with m.Elif(of_slice):
            m.d.sync += waits_for.eq(at_most)
        number = Signal(self._number_bits, reset_less=True)
        m.d.sync += number.eq(delayed(m, base, 4, name="base") + waits_for)
        known = carried(m, issue, 5, name="known")
        m.d.comb += [
            waits.write_wait.eq(known),
            waits.offer.eq(known),
            waits.in_wait.number.eq(number),
            waits.in_wait.crossed.eq(delayed(m, pair_beats.crossed(beat_1), 4, name="crossed")),
            self.wait.valid.eq(waits.output.valid),
            self.wait.payload.eq(waits.output.payload.wait),
            waits.output.ready.eq(self.wait.ready),
        ]
        return m
