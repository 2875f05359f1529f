"""The rotator with valid and ready on both sides: what the engine makes of it, without the rest of the engine."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .credits import Credits
from .layouts import entry_layout
from .pipeline import carried
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
        self._design = design
        self._rotator = Rotator(design)
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
        # The beats in flight, and the clocks that a credit takes to come back.
        depth = 1 << (rotator.latency + Queue.latency + 1).bit_length()
        m.submodules.credits = credits = Credits(depth)
        m.submodules.results = results = Queue({"elements": (rotator.out.shape(), depth)})
        enter = Signal()
        m.d.comb += [
            self.beat.ready.eq(credits.free),
            enter.eq(self.beat.valid & self.beat.ready),
            credits.take.eq(enter),
            *(getattr(rotator, name).eq(self.beat.payload[name]) for name in ROTATOR_INPUTS),
        ]
        valid = carried(m, enter, rotator.latency, name="valid")
        m.d.comb += [
            results.write_elements.eq(valid),
            results.in_elements.eq(rotator.out),
            results.offer.eq(valid),
            self.result.payload.eq(results.output.payload.elements),
            self.result.valid.eq(results.output.valid),
            results.output.ready.eq(self.result.ready),
            self.saturated.eq(rotator.saturated & valid.replicate(self._design.elements)),
        ]
        m.d.sync += credits.give.eq(self.result.valid & self.result.ready)
        return m
