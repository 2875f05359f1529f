"""Makes heads whole: what a short packet leaves out is filled up with beats that are marked absent.

So the buffers behind it always see whole heads. The beats that stand in are 0, and never leave the engine: the exit
drops them.
"""

from amaranth.hdl import Module, Mux, Signal
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
        # The last beat that came waits at the arrival until its head is complete.
        filling = Signal()
        word = Signal(beat.ask.word.shape(), reset_less=True)
        at_end = Signal(reset_less=True)
        m.d.comb += [
            self.beat.valid.eq(self.arrival.valid),
            self.arrival.ready.eq(self.beat.ready & Mux(filling, at_end, ~arrival.cut)),
            beat.eq(arrival),
            beat.absent.eq(filling),
        ]
        with m.If(filling):
            m.d.comb += [beat.ask.word.eq(word), beat.ask.needed.eq(0)]
        with m.If(self.beat.valid & self.beat.ready):
            m.d.sync += [
                filling.eq(Mux(filling, ~at_end, arrival.cut)),
                word.eq(beat.ask.word + 1),
                at_end.eq(beat.ask.word == end - 1),
            ]
        return m
