"""Two places between two streams, so that no path leads from one ready to the other."""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from .component import Component


class Relay(Component):
    """Passes a stream on. Latency :attr:`latency` clock; one item per clock.

    Members
    -------
    arrival : In stream
        Items. Its ready is a register.
    output : Out stream
        The same. Its valid and payload are registers.
    """

    latency = 1

    def __init__(self, shape: Any):
        super().__init__({"arrival": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        valid = Signal()
        first = Signal(self.output.payload.shape(), reset_less=True)
        # Takes what comes in the clock in which the first place is found full.
        spare_full = Signal()
        spare = Signal(first.shape(), reset_less=True)
        m.d.comb += [
            self.arrival.ready.eq(~spare_full),
            self.output.valid.eq(valid),
            self.output.payload.eq(first),
        ]
        with m.If(~spare_full):
            m.d.sync += spare.eq(self.arrival.payload)
        free = ~valid | self.output.ready
        with m.If(free):
            m.d.sync += [
                valid.eq(spare_full | self.arrival.valid),
                first.eq(Mux(spare_full, spare, self.arrival.payload)),
            ]
        m.d.sync += spare_full.eq((spare_full | self.arrival.valid) & ~free)
        return m
