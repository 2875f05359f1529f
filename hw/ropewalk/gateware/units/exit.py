"""The exit of a unit: the queue of what the adder gives, and the credits against which beats enter the adder."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ...designs.row_design import RowDesign
from ..component import Component
from .layouts import result_layout, side_layout

EXIT_EVENTS = ("token", "beat", "output_stall", "saturated")
"""Of the events that are counted, those that happen here."""


class Exit(Component):
    """Lets beats into an adder that never stalls only while there is a place for what comes out of it.

    What accompanies a beat waits in a queue of its own and needs no delay line.
    Latency :attr:`latency` clocks from a result to its beat; one beat per clock.

    Parameters
    ----------
    design
        The unit.
    core_latency
        Clocks from a beat's entrance to its result.

    Members
    -------
    credit : Out
        A beat may enter in this clock.
    enter, side : In
        One does, and what accompanies it.
    elements, saturated : In
        Its sums, ``core_latency`` clocks later, and which of them were saturated.
    result : Out stream
        Beats in order.
    events : Out
        What happened in this clock, for the counters.
    """

    latency = 2

    def __init__(self, design: RowDesign, core_latency: int):
        self._design = design
        self._core_latency = core_latency
        layout = result_layout(design)
        super().__init__(
            {
                "credit": Out(1),
                "enter": In(1),
                "side": In(side_layout(design)),
                "elements": In(layout["elements"].shape),
                "saturated": In(design.lanes),
                "result": Out(stream.Signature(layout)),
                "events": Out(data.StructLayout({**dict.fromkeys(EXIT_EVENTS, 1), "saturated": design.lanes})),
            }
        )

    @property
    def depth(self) -> int:
        """Places in the queue: the beats in flight, and the clocks that a credit takes to come back."""
        return 1 << (self._core_latency + 3).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        depth = self.depth
        credits = Signal(range(depth + 1), init=depth)
        leave = Signal()
        m.d.comb += leave.eq(self.result.valid & self.result.ready)
        # Known a clock ahead: one may be spent meanwhile.
        m.d.sync += self.credit.eq(credits > 1)
        with m.If(self.enter & ~leave):
            m.d.sync += credits.eq(credits - 1)
        with m.If(~self.enter & leave):
            m.d.sync += credits.eq(credits + 1)

        valid = self.enter
        for clock in range(self._core_latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        results = m.submodules.results = SyncFIFOBuffered(width=self.elements.shape().size, depth=depth)
        sides = m.submodules.sides = SyncFIFO(width=self.side.shape().size, depth=depth)
        m.d.comb += [
            results.w_data.eq(self.elements),
            results.w_en.eq(valid),
            sides.w_data.eq(self.side),
            sides.w_en.eq(self.enter),
            self.result.payload.elements.eq(results.r_data),
            self.result.payload.side.eq(sides.r_data),
            self.result.valid.eq(results.r_rdy),
            results.r_en.eq(self.result.ready),
            sides.r_en.eq(leave),
            self.events.token.eq(leave & self.result.payload.side.last),
            self.events.beat.eq(leave),
            self.events.output_stall.eq(self.result.valid & ~self.result.ready),
            self.events.saturated.eq(self.saturated & valid.replicate(self._design.lanes)),
        ]
        return m
