"""Makes heads whole: what a short packet leaves out is filled up with beats that are marked absent.

So the buffers behind it always see whole heads. The beats that stand in are 0, and never leave the engine: the exit
drops them.
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import beat_layout


class Completer(Component):
    """Passes beats on, without a clock of delay, and completes heads that end early.

    Members
    -------
    arrival : In stream
        Beats from the framer.
    beat : Out stream
        Those, and after a token that ended within a head, absent ones to the head's end.
    """

    def __init__(self, design: Design):
        self._design = design
        layout = stream.Signature(beat_layout(design))
        super().__init__({"arrival": In(layout), "beat": Out(layout)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        arrival, beat = self.arrival.payload, self.beat.payload
        end = self._design.beats_per_head - 1
        filling = Signal()
        kept = Signal(beat_layout(self._design), reset_less=True)
        moved = Signal()
        m.d.comb += [
            self.arrival.ready.eq(self.beat.ready & ~filling),
            self.beat.valid.eq(self.arrival.valid | filling),
            moved.eq(self.beat.valid & self.beat.ready),
            beat.eq(arrival),
        ]
        with m.If(filling):
            m.d.comb += [
                beat.eq(kept),
                beat.elements.eq(0),
                beat.rotated.eq(0),
            ]
        m.d.comb += beat.absent.eq(filling)
        with m.If(moved):
            m.d.sync += [kept.eq(beat), kept.word.eq(beat.word + 1)]
            with m.If(filling):
                m.d.sync += filling.eq(beat.word != end)
            with m.Else():
                m.d.sync += filling.eq(arrival.side.last & (arrival.word != end))
        return m
