"""The slope table: read by the rows, loaded by the registers, and summed up by a CRC-32.

Two banks: a load goes to the one that no row is using, and a commit changes them over. The CRC is computed from what
the memory holds, in clocks in which no row reads it.
"""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..primitives import BlockRam
from .contents import slope_contents
from .layouts import slope_address_bits
from .slope_scan import SlopeScan

NOTHING, BUSY, NO_SUCH_COUNT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(6)
"""Why a load was refused."""

IN_FLIGHT_BITS = 4
"""Fewer than 16 rows can have been taken and not ended."""


class SlopeStore(Component):
    """Slopes by head.

    Members
    -------
    address : In
        Head and bank of the slope to read.
    slope : Out
        The slope, :attr:`latency` clocks later.
    idle : In
        ``address`` need not be read in the next clock.
    hold : Out
        No beat may be taken in the next clock. It comes from a register.
    heads, bank : Out
        How many heads have slopes, and in which bank: for a row that is taken in this clock.
    taken, ended, dropped : In
        A row is taken; a row's slope is read for the last time; a row that was taken reads none.
    begin, begin_heads, word_valid, word, commit : In
        A load: how many heads, then two words for each, then the commit. There are two clocks and more between them.
        What one brings is there from the clock before it to the clock after it.
    refusal : Out
        What is asked for in this clock is refused.
    refused, loading, busy, scanning, words, crc : Out
        The state of the load, and the CRC-32 of the slopes in use: 0 until it is known.
    """

    latency = BlockRam.latency

    def __init__(self, design: AlibiDesign):
        self._design = design
        super().__init__(self.members(design))

    @staticmethod
    def members(design: AlibiDesign) -> dict[str, wiring.Member]:
        """The members, for those who pass them on."""
        return {
            "address": In(slope_address_bits(design)),
            "slope": Out(design.slope_bits),
            "idle": In(1),
            "hold": Out(1),
            "heads": Out(range(design.capacity + 1)),
            "bank": Out(1),
            "taken": In(1),
            "ended": In(1),
            "dropped": In(1),
            "begin": In(1),
            "begin_heads": In(32),
            "word_valid": In(1),
            "word": In(32),
            "commit": In(1),
            "refusal": Out(1),
            "refused": Out(3),
            "loading": Out(1),
            "busy": Out(1),
            "scanning": Out(1),
            "words": Out(16),
            "crc": Out(32),
        }

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        contents = slope_contents(design)
        memory = BlockRam(width=contents.width, depth=contents.depth, name="slopes", words=contents.words)
        m.submodules.memory = memory
        # Both survive reset, as the memory that they speak of does.
        heads = Signal(self.heads.shape(), init=design.geometry.heads, reset_less=True)
        bank = Signal(reset_less=True)
        m.d.comb += [
            memory.address.eq(self.address),
            self.slope.eq(memory.data),
            self.heads.eq(heads),
            self.bank.eq(bank),
        ]
        if not design.registers:
            return m
        committed = self._load(m, memory, heads, bank)
        m.submodules.scan = scan = SlopeScan(design)
        m.d.comb += [
            scan.heads.eq(heads),
            scan.changed.eq(committed),
            scan.idle.eq(self.idle),
            self.hold.eq(scan.hold),
            scan.slope.eq(memory.data),
            self.scanning.eq(scan.scanning),
            self.crc.eq(scan.crc),
            self.busy.eq(self._is_in_use(m, committed) | scan.scanning),
        ]
        with m.If(scan.asked):
            m.d.comb += memory.address.eq(Cat(scan.head[: slope_address_bits(design) - 1], bank))
        return m

    def _is_in_use(self, m: Module, committed: Signal) -> Signal:
        """Whether a row may still need the bank that was in use before the last commit."""
        taken, gone = Signal(IN_FLIGHT_BITS), Signal(IN_FLIGHT_BITS)
        fence = Signal(IN_FLIGHT_BITS, reset_less=True)
        fenced = Signal()
        # One row may end in the clock in which another one is dropped.
        going = Signal(2)
        m.d.sync += [going.eq(self.ended + self.dropped), gone.eq(gone + going)]
        taking, until_now = Signal(), Signal()
        m.d.sync += [taking.eq(self.taken), taken.eq(taken + taking), until_now.eq(committed)]
        with m.If(fenced & (gone == fence)):
            m.d.sync += fenced.eq(0)
        # The last row that has the old slopes may have been taken in the clock before the bank was changed.
        with m.If(until_now):
            m.d.sync += [fence.eq(taken), fenced.eq(1)]
        return fenced

    def _load(self, m: Module, memory: BlockRam, heads: Signal, bank: Signal) -> Signal:
        """Takes the words of a load into the other bank and commits it; high in the first clock that finds it in use.

        What is asked for is refused in the same clock, or acts in the next one.
        """
        design = self._design
        # What depends on wide words is found in the clock before it is asked for.
        no_such_count, out_of_range, all_counted, none_left = (
            Signal(name=name, reset_less=True) for name in ("no_such_count", "out_of_range", "all_counted", "none_left")
        )
        low = Signal(32, reset_less=True)
        word = Cat(low, self.word)
        left = Signal(len(heads) + 1, reset_less=True)
        top = len(heads) - 1
        m.d.sync += [
            # The capacity is a power of two: of the numbers with its bit it is the only one that is right.
            no_such_count.eq(
                self.begin_heads[top + 1 :].any() | (self.begin_heads[top] == self.begin_heads[:top].any())
            ),
            out_of_range.eq(word[design.slope_bits :].any()),
            all_counted.eq(self.words.all()),
            none_left.eq(left == 0),
        ]

        target = Signal(heads.shape(), reset_less=True)
        too_many, bad = Signal(reset_less=True), Signal(reset_less=True)
        begins, begun, comes, ends, changed = (
            Signal(name=name) for name in ("begins", "begun", "comes", "ends", "changed")
        )
        wrong_count = too_many | ~none_left
        m.d.sync += [
            begins.eq(self.begin),
            begun.eq(self.begin & ~no_such_count & ~self.busy),
            comes.eq(self.word_valid & self.loading),
            ends.eq(self.commit),
            changed.eq(self.commit & self.loading & ~wrong_count & ~bad),
            self.loading.eq(begun | (self.loading & ~begins & ~ends)),
        ]
        reasons = {
            BUSY: self.begin & ~no_such_count & self.busy,
            NO_SUCH_COUNT: self.begin & no_such_count,
            NOT_BEGUN: (self.commit | self.word_valid) & ~self.loading,
            WRONG_COUNT: self.commit & self.loading & wrong_count,
            OUT_OF_RANGE: self.commit & self.loading & ~wrong_count & bad,
        }
        found = Signal(len(reasons))
        m.d.comb += self.refusal.eq(Cat(reasons.values()).any())
        m.d.sync += found.eq(Cat(reasons.values()))
        with m.If(found.any() | begun):
            m.d.sync += self.refused.eq(
                reduce(or_, (Mux(bit, why, 0) for bit, why in zip(found, reasons, strict=True)))
            )

        with m.If(begun):
            m.d.sync += [
                self.words.eq(0),
                left.eq(self.begin_heads << 1),
                target.eq(self.begin_heads),
                too_many.eq(0),
                bad.eq(0),
            ]
        # Words beyond those of the heads are counted and not written: commit refuses them.
        m.d.comb += [
            memory.write_address.eq(Cat(self.words[1 : slope_address_bits(design)], ~bank)),
            memory.write_data.eq(word),
            memory.write_enable.eq(comes & self.words[0] & ~none_left),
        ]
        with m.If(comes):
            with m.If(~all_counted):
                m.d.sync += self.words.eq(self.words + 1)
            with m.If(none_left):
                m.d.sync += too_many.eq(1)
            with m.Else():
                m.d.sync += left.eq(left - 1)
            with m.If(~self.words[0]):
                m.d.sync += low.eq(self.word)
            with m.Elif(out_of_range):
                m.d.sync += bad.eq(1)
        committed = Signal()
        m.d.sync += committed.eq(changed)
        with m.If(changed):
            m.d.sync += [heads.eq(target), bank.eq(~bank)]
        return committed
