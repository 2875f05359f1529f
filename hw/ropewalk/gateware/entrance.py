"""The entrance: where beats wait until all that they need is there, and none waits behind one that need not.

Whether a beat may go is worked out in the clock before it does, for the beat that waits and for the one behind it, so
that going is a matter of registers.
"""

from collections.abc import Sequence
from itertools import islice
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
        What a beat waits for, as lists of alternatives, and of each alternative how many signals must be high for it,
        all in one clock. It waits for one of each list. Once a list is met it stays so, by one alternative or another.

    Members
    -------
    arrival : In stream
        Beats.
    head : Out
        The beat that goes next.
    there, head_there : In
        The signals, one list after the other, for the beat on ``arrival``, and for ``head``.
    room : In
        Whether a beat may go in this clock.
    enter : Out
        ``head`` goes. At the earliest one clock after it came.
    """

    latency = 1

    def __init__(self, shape: Any, *, conditions: Sequence[Sequence[int]]):
        self._conditions = conditions
        signals = sum(map(sum, conditions))
        super().__init__(
            {
                "arrival": In(stream.Signature(shape)),
                "head": Out(shape),
                "there": In(signals),
                "head_there": In(signals),
                "room": In(1),
                "enter": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        waits = Signal()
        head = Signal(self.head.shape(), reset_less=True)
        # Where none waits, all is found: so one may come if there is room, and that is no matter of another signal.
        found = Signal(len(self.there), init=-1)
        signals = iter(found)
        met = [
            Cat(Cat(islice(signals, count)).all() for count in alternatives).any() for alternatives in self._conditions
        ]
        goes = Signal()
        m.d.comb += [
            self.head.eq(head),
            goes.eq(self.room & Cat(met).all()),
            self.enter.eq(goes & waits),
            self.arrival.ready.eq(goes),
        ]
        with m.If(goes):
            m.d.sync += [
                waits.eq(self.arrival.valid),
                head.eq(self.arrival.payload),
                found.eq(self.there | (~self.arrival.valid).replicate(len(found))),
            ]
        with m.Else():
            m.d.sync += found.eq(self.head_there | (~waits).replicate(len(found)))
        return m
