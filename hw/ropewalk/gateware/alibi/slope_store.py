"""The slope table: read by the rows, loaded by the registers, and summed up by a CRC-32.

Two banks: a load goes to the one that no row is using, and a commit changes them over. The CRC is computed from what
the memory holds, in clocks in which no row reads it.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..crc32 import crc32_after
from ..primitives import BlockRam
from .contents import slope_contents
from .layouts import slope_address_bits

NOTHING, BUSY, NO_SUCH_COUNT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(6)
"""Why a load was refused."""

SCAN_CLOCKS = 64
"""The CRC takes one clock in so many from the rows, while it is computed and a row is under way all the time."""

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
        A load: how many heads, then two words for each, then the commit. None comes within two clocks of the one
        before, and what it brings is there in the clock before it too.
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
        if design.registers:
            committed = self._load(m, memory, heads, bank)
            self._scan(m, memory, heads, bank, committed)
        return m

    def _load(self, m: Module, memory: BlockRam, heads: Signal, bank: Signal) -> Signal:
        """Takes the words of a load into the other bank and commits it; high in the clock after a commit."""
        design = self._design
        target = Signal(heads.shape(), reset_less=True)
        low = Signal(32, reset_less=True)
        bad = Signal(reset_less=True)
        changed = Signal()

        # The other bank holds what was in use before the last commit. Rows taken before that may still need it.
        taken, retired = Signal(IN_FLIGHT_BITS), Signal(IN_FLIGHT_BITS)
        fence = Signal(IN_FLIGHT_BITS, reset_less=True)
        fenced, committed = Signal(), Signal()
        with m.If(self.taken):
            m.d.sync += taken.eq(taken + 1)
        # One row may end in the clock in which another one is dropped.
        gone = Signal(2)
        m.d.sync += [gone.eq(self.ended + self.dropped), retired.eq(retired + gone)]
        with m.If(fenced & (retired == fence)):
            m.d.sync += fenced.eq(0)
        # The last row that has the old slopes may have been taken in the clock of the commit.
        m.d.sync += committed.eq(changed)
        with m.If(committed):
            m.d.sync += [fence.eq(taken), fenced.eq(1)]
        m.d.comb += self.busy.eq(fenced | self.scanning)

        def refuse(why: int) -> None:
            m.d.comb += self.refusal.eq(1)
            m.d.sync += self.refused.eq(why)

        # What depends on wide words is found in the clock before it is asked for.
        no_such_count, right_count, more, all_counted, out_of_range = (
            Signal(name=name, reset_less=True)
            for name in ("no_such_count", "right_count", "more", "all_counted", "out_of_range")
        )
        word = Cat(low, self.word)
        bits = len(heads) - 1
        m.d.sync += [
            # The capacity is a power of two: it is the only number with its bit that is right.
            no_such_count.eq(
                self.begin_heads[bits + 1 :].any() | (self.begin_heads[bits] == self.begin_heads[:bits].any())
            ),
            right_count.eq(self.words == 2 * target),
            more.eq(self.words < 2 * target),
            all_counted.eq(self.words == 0xFFFF),
            out_of_range.eq(word[design.slope_bits :] != 0),
        ]

        with m.If(self.begin):
            m.d.sync += self.loading.eq(0)
            with m.If(no_such_count):
                refuse(NO_SUCH_COUNT)
            with m.Elif(self.busy):
                refuse(BUSY)
            with m.Else():
                m.d.sync += [
                    self.loading.eq(1),
                    self.refused.eq(NOTHING),
                    self.words.eq(0),
                    bad.eq(0),
                    target.eq(self.begin_heads),
                ]

        # Words beyond those of the heads are counted and not written: commit refuses them.
        m.d.comb += [
            memory.write_address.eq(Cat(self.words[1 : slope_address_bits(design)], ~bank)),
            memory.write_data.eq(word),
        ]
        with m.If(self.word_valid & ~self.loading):
            refuse(NOT_BEGUN)
        with m.If(self.word_valid & self.loading):
            with m.If(~all_counted):
                m.d.sync += self.words.eq(self.words + 1)
            with m.If(self.words[0]):
                m.d.comb += memory.write_enable.eq(more)
                with m.If(out_of_range):
                    m.d.sync += bad.eq(1)
            with m.Else():
                m.d.sync += low.eq(self.word)
        with m.If(self.commit):
            m.d.sync += self.loading.eq(0)
            with m.If(~self.loading):
                refuse(NOT_BEGUN)
            with m.Elif(~right_count):
                refuse(WRONG_COUNT)
            with m.Elif(bad):
                refuse(OUT_OF_RANGE)
            with m.Else():
                m.d.comb += changed.eq(1)
                m.d.sync += [heads.eq(target), bank.eq(~bank)]
        return committed

    def _scan(self, m: Module, memory: BlockRam, heads: Signal, bank: Signal, committed: Signal) -> None:
        """Computes the CRC of slopes that are new."""
        design = self._design
        pending = Signal(init=1, reset_less=True)
        value = Signal(32, reset_less=True)
        turn = Signal(range(SCAN_CLOCKS))
        m.d.comb += [self.scanning.eq(pending), self.crc.eq(value)]
        m.d.sync += [turn.eq(turn + 1), self.hold.eq(pending & (turn == 0))]

        # Head by head. An entry is asked for in a clock in which no row reads the memory.
        resting, wanted, asked, arrives = Signal(init=1), Signal(), Signal(), Signal()
        asked_before = Signal(BlockRam.latency - 1)
        head, last_head = Signal(heads.shape(), reset_less=True), Signal(heads.shape(), reset_less=True)
        is_last = Signal(reset_less=True)
        m.d.sync += [
            asked.eq(wanted & self.idle),
            Cat(asked_before, arrives).eq(Cat(asked, asked_before)),
            last_head.eq(heads - 1),
            is_last.eq(head == last_head),
        ]
        with m.If(asked):
            m.d.comb += memory.address.eq(Cat(head[: slope_address_bits(design) - 1], bank))

        # An octet per clock: with more the sums of so many bits would be slow.
        summing, done = Signal(), Signal()
        entry = Signal(64, reset_less=True)
        octet = Signal(3, reset_less=True)
        after = Signal(32, reset_less=True)
        at_end = summing & octet.all()
        m.d.sync += [
            resting.eq(Mux(resting, ~pending, done)),
            wanted.eq(Mux(resting, pending, (wanted & ~self.idle) | (at_end & ~is_last))),
            summing.eq(arrives | (summing & ~at_end)),
            done.eq(at_end & is_last),
            entry.eq(Mux(arrives, memory.data, entry >> 8)),
            octet.eq(octet + 1),
        ]
        with m.If(arrives):
            m.d.sync += octet.eq(0)
        with m.If(summing):
            m.d.sync += after.eq(crc32_after(after ^ entry[:8], 8))
        with m.If(at_end):
            m.d.sync += head.eq(head + 1)
        with m.If(resting):
            m.d.sync += [after.eq(0), head.eq(0)]
        with m.If(done):
            m.d.sync += [value.eq(after), pending.eq(0)]
        with m.If(committed):
            m.d.sync += [value.eq(0), pending.eq(1)]
