"""Counts the beats of a token off, head by head."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import heads_layout


class HeadCounter(Component):
    """Where in a token the next beat belongs. What follows from the place is a register, worked out a beat ahead.

    Members
    -------
    load, heads : In
        A token with these heads begins with the next beat.
    advance : In
        The next beat came.
    word, kind : Out
        The beat of its head, and the kind of the head.
    at_head_end, at_end : Out
        Whether it is the last of its head, and the last of the token.
    at_end_next : Out
        What ``at_end`` will be in the next clock.
    """

    def __init__(self, design: Design):
        self._beats = design.beats_per_head
        super().__init__(
            {
                "load": In(1),
                "heads": In(heads_layout()),
                "advance": In(1),
                "word": Out(range(max(2, self._beats))),
                "kind": Out(2),
                "at_head_end": Out(1),
                "at_end": Out(1),
                "at_end_next": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        beats = self._beats
        # Of the kind that is counted, and of those behind it: 0, QUERY, is none of them.
        left, second_left, third_left = (
            Signal(signed(9), name=f"{place}_left", reset_less=True) for place in ("first", "second", "third")
        )
        second, third = (Signal(2, name=f"{place}_kind", reset_less=True) for place in ("second", "third"))
        before_head_end = Signal()
        last_of_kind = left[-1]

        # Whether the head is the last of the token, and whether the one behind it is.
        last_head = Signal(reset_less=True)
        next_head_last = Mux(last_of_kind, second_left[-1] & ~third.any(), (left == 0) & ~second.any())
        one_less = left - 1
        if beats > 1:
            # A head ends two clocks after these change, or later.
            settled = Signal(reset_less=True)
            less = Signal(left.shape(), reset_less=True)
            m.d.sync += [settled.eq(next_head_last), less.eq(one_less)]
            next_head_last, one_less = settled, less
        begins_last = self.heads.following[0][-1] & ~self.heads.kinds[1].any()
        with m.If(self.advance & self.at_head_end):
            m.d.sync += last_head.eq(next_head_last)
        with m.If(self.load):
            m.d.sync += last_head.eq(begins_last)
        # Of a head of one beat, the next beat belongs to the next head.
        next_is_last = next_head_last if beats == 1 else before_head_end & last_head
        begins_at_end = begins_last if beats == 1 else 0
        m.d.comb += self.at_end_next.eq(Mux(self.load, begins_at_end, Mux(self.advance, next_is_last, self.at_end)))
        m.d.sync += self.at_end.eq(self.at_end_next)
        with m.If(self.advance):
            m.d.sync += [
                self.word.eq(Mux(self.at_head_end, 0, self.word + 1)),
                self.at_head_end.eq(before_head_end | (beats == 1)),
                before_head_end.eq(self.word == (beats - 3) % beats),
            ]
            with m.If(self.at_head_end):
                m.d.sync += left.eq(one_less)
                with m.If(last_of_kind):
                    m.d.sync += [
                        self.kind.eq(second),
                        left.eq(second_left),
                        second.eq(third),
                        second_left.eq(third_left),
                        third.eq(0),
                    ]
        with m.If(self.load):
            m.d.sync += [
                self.word.eq(0),
                self.at_head_end.eq(beats == 1),
                before_head_end.eq(beats == 2),
                self.kind.eq(self.heads.kinds[0]),
                *(kind.eq(self.heads.kinds[place]) for place, kind in ((1, second), (2, third))),
                *(
                    signal.eq(self.heads.following[place])
                    for place, signal in enumerate((left, second_left, third_left))
                ),
            ]
        return m
