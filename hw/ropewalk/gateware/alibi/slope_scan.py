"""The CRC-32 of the slopes in use, computed from what the memory holds, in clocks in which no row reads it."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..crc32 import START, crc32_after
from ..primitives import BlockRam

SCAN_CLOCKS = 64
"""The CRC takes one clock in so many from the rows, while it is computed and a row is under way all the time."""

STEP_BITS = 4
"""Bits that are summed up in a clock: with more, the sums of so many bits would be slow."""

ENTRY_BITS = 64
"""Bits of a slope as it is loaded: two words."""


class SlopeScan(Component):
    """Reads the slopes head by head and sums them up.

    Each takes ``ENTRY_BITS / STEP_BITS + BlockRam.latency + 3`` clocks, and those in which it waits for the memory.

    Members
    -------
    heads : In
        How many heads there are.
    changed : In
        The slopes are new. They are so after configuration, too.
    idle : In
        No row reads the memory in the next clock.
    hold : Out
        No row may read the memory in the clock after the next one. It comes from a register.
    asked, head : Out
        That head's slope is to be read in this clock.
    slope : In
        What was read, so many clocks later.
    scanning, crc : Out
        The CRC-32 is being computed; it, and 0 until it is known.
    """

    def __init__(self, design: AlibiDesign):
        heads = range(design.capacity + 1)
        super().__init__(
            {
                "heads": In(heads),
                "changed": In(1),
                "idle": In(1),
                "hold": Out(1),
                "asked": Out(1),
                "head": Out(heads),
                "slope": In(design.slope_bits),
                "scanning": Out(1),
                "crc": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # They survive reset, as the memory does: a sum that reset interrupts begins again.
        pending, known = Signal(init=1, reset_less=True), Signal(32, reset_less=True)
        turn = Signal(range(SCAN_CLOCKS))
        m.d.comb += [self.scanning.eq(pending), self.crc.eq(known)]
        m.d.sync += [turn.eq(turn + 1), self.hold.eq(pending & (turn == 0))]

        head, last = Signal(self.head.shape(), reset_less=True), Signal(self.head.shape(), reset_less=True)
        same = Signal(len(head), reset_less=True)
        is_last = Signal(reset_less=True)
        resting, wanted, arrives = Signal(init=1), Signal(), Signal()
        before = Signal(BlockRam.latency - 1)
        m.d.comb += self.head.eq(head)
        m.d.sync += [
            self.asked.eq(wanted & self.idle),
            Cat(before, arrives).eq(Cat(self.asked, before)),
            last.eq(self.heads - 1),
            same.eq(~(head ^ last)),
            is_last.eq(same.all()),
        ]

        entry = Signal(ENTRY_BITS, reset_less=True)
        steps = Signal(range(ENTRY_BITS // STEP_BITS), reset_less=True)
        total = Signal(32, reset_less=True)
        summing, ends, done = Signal(), Signal(), Signal()
        m.d.sync += [
            entry.eq(Mux(arrives, self.slope, entry >> STEP_BITS)),
            steps.eq(Mux(arrives, 0, steps + 1)),
            summing.eq(arrives | (summing & ~steps.all())),
            ends.eq(summing & steps.all()),
            wanted.eq(Mux(resting, pending, (wanted & ~self.idle) | (ends & ~is_last))),
            done.eq(ends & is_last),
            resting.eq(Mux(resting, ~pending, done)),
        ]
        with m.If(summing):
            m.d.sync += total.eq(crc32_after(total ^ entry[:STEP_BITS], STEP_BITS))
        with m.If(ends):
            m.d.sync += head.eq(head + 1)
        with m.If(resting):
            m.d.sync += [head.eq(0), total.eq(START)]
        with m.If(done):
            m.d.sync += [known.eq(total), pending.eq(0)]
        with m.If(self.changed):
            m.d.sync += [known.eq(0), pending.eq(1)]
        return m
