"""The entrance: where beats wait until all that they need is there, and none waits behind one that need not.

Whether a beat may go is worked out in the clock before it does, for the beat that waits and for the one behind it, so
that going is a matter of registers.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
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
        # Where none waits, nothing is missing: so one may come if there is room, which is no matter of another signal.
        # Of either beat it is known what it has found, and chosen in the next clock: which one goes is known late.
        went = Signal()
        met = [Signal(name=f"met_by_{beat}", init=1) for beat in ("head", "arrival")]
        goes = Signal()
        m.d.sync += [
            went.eq(goes),
            met[0].eq(self._met(self.head_there) | ~waits),
            met[1].eq(self._met(self.there) | ~self.arrival.valid),
        ]
        m.d.comb += [
            self.head.eq(head),
            goes.eq(self.room & Mux(went, met[1], met[0])),
            self.enter.eq(goes & waits),
            self.arrival.ready.eq(goes),
        ]
        with m.If(goes):
            m.d.sync += [waits.eq(self.arrival.valid), head.eq(self.arrival.payload)]
        return m

    def _met(self, signals: Value) -> Value:
        """Whether the signals of a beat have all that it waits for."""
        one = iter(signals)
        return Cat(
            Cat(Cat(islice(one, count)).all() for count in alternatives).any() for alternatives in self._conditions
        ).all()
