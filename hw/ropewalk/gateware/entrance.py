"""The entrance: where beats wait until all that they need is there, and none waits behind one that need not.

Whether a beat may go is worked out in the clock before it does, for the beat that waits and for the one behind it, so
that going is a matter of registers.
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from .component import Component


class Entrance(Component):
    """One beat that waits, in front of a stream of them. A beat per clock.

    Parameters
    ----------
    shape
        What is known of a beat.
    conditions
        What a beat waits for, as lists of alternatives: how many there are in each list. It waits for one of each, and
        what is there once stays there.

    Members
    -------
    arrival : In stream
        Beats.
    head : Out
        The beat that goes next.
    there, head_there : In
        Which of the alternatives, one list after the other, are there for the beat on ``arrival``, and for ``head``.
    room : In
        Whether a beat may go in this clock.
    enter : Out
        ``head`` goes. At the earliest one clock after it came.
    """

    latency = 1

    def __init__(self, shape: Any, *, conditions: Sequence[int]):
        self._conditions = tuple(conditions)
        super().__init__(
            {
                "arrival": In(stream.Signature(shape)),
                "head": Out(shape),
                "there": In(sum(conditions)),
                "head_there": In(sum(conditions)),
                "room": In(1),
                "enter": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        waits = Signal()
        head = Signal(self.head.shape(), reset_less=True)
        found = Signal(len(self.there), reset_less=True)
        may_go = Signal()
        met = []
        for count in self._conditions:
            before = sum(len(alternatives) for alternatives in met)
            met.append(found[before : before + count])
        m.d.comb += [
            self.head.eq(head),
            may_go.eq(self.room & Cat(alternatives.any() for alternatives in met).all()),
            self.enter.eq(waits & may_go),
            self.arrival.ready.eq(~waits | may_go),
        ]
        with m.If(self.arrival.ready):
            m.d.sync += [
                waits.eq(self.arrival.valid),
                head.eq(self.arrival.payload),
                found.eq(self.there),
            ]
        with m.Else():
            m.d.sync += found.eq(found | self.head_there)
        return m
