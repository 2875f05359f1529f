"""The rotator with valid and ready on both sides: what the engine makes of it, without the rest of the engine."""

from dataclasses import replace

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import entry_layout
from .output_order import DirectOutput
from .queue import Queue
from .rotator import Rotator

ROTATOR_INPUTS = ("elements", "entries", "rotated", "inverse")
"""What a beat brings to the rotator, by the names of its members."""


class StreamedRotator(Component):
    """All lanes of a beat, between two streams: a beat enters when there is room for its result.

    Latency: that of the rotator and of the queue behind it. Throughput: one beat per clock.

    Members
    -------
    beat : In stream
        A beat's elements and row entries, which of its pairs are rotated, and whether by the negated angle.
    result : Out stream
        The rotated elements.
    saturated : Out
        Which elements of the beat that leaves the rotator in this clock were saturated.
    """

    def __init__(self, design: Design):
        # Elements go in and out as the rotator has them: what moves them is not part of this.
        design = replace(design, input_pairing="interleaved", output_pairing="interleaved")
        self._design = design
        self._rotator = Rotator(design)
        self._output = DirectOutput(design, self._rotator.latency, 0)
        beat = data.StructLayout(
            {
                "elements": data.ArrayLayout(design.data.shape, design.elements),
                "entries": data.ArrayLayout(entry_layout(design), design.lanes),
                "rotated": design.lanes,
                "inverse": 1,
            }
        )
        super().__init__(
            {
                "beat": In(stream.Signature(beat)),
                "result": Out(stream.Signature(data.ArrayLayout(design.data.shape, design.elements))),
                "saturated": Out(design.elements),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a beat that is taken to its result on offer."""
        return self._rotator.latency + Queue.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.submodules.rotator = rotator = self._rotator
        m.submodules.output = output = self._output
        enter = Signal()
        m.d.comb += [
            self.beat.ready.eq(output.room),
            enter.eq(self.beat.valid & self.beat.ready),
            output.enter.eq(enter),
            output.came.eq(enter),
            output.elements.eq(rotator.out),
            self.result.payload.eq(output.result.payload.elements),
            self.result.valid.eq(output.result.valid),
            output.result.ready.eq(self.result.ready),
            *(getattr(rotator, name).eq(self.beat.payload[name]) for name in ROTATOR_INPUTS),
        ]
        valid = enter
        for clock in range(rotator.latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        m.d.comb += [
            output.valid.eq(valid),
            self.saturated.eq(rotator.saturated & valid.replicate(self._design.elements)),
        ]
        return m
