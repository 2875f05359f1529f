"""The slope table: read by the rows, loaded by the registers, and summed up by a CRC-32.

Two banks: a load goes to the one that no row is using, and a commit changes them over. The CRC is computed from what
the memory holds, in clocks in which no row reads it.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import (
    crc,  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
    wiring,
)
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
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
        No beat is taken in this clock, so that ``address`` need not be read.
    hold : Out
        No beat may be taken in this clock. It comes from a register.
    heads, bank : Out
        How many heads have slopes, and in which bank: for a row that is taken in this clock.
    taken, retired : In
        A row is taken; a row's last slope has been read.
    begin, begin_heads, word_valid, word, commit : In
        A load: how many heads, then two words for each, then the commit.
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
            "retired": In(1),
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
            changed = self._load(m, memory, heads, bank)
            self._scan(m, memory, heads, bank, changed)
        return m

    def _load(self, m: Module, memory: BlockRam, heads: Signal, bank: Signal) -> Signal:
        """Takes the words of a load into the other bank and commits it; high in the clock of a commit."""
        design = self._design
        target = Signal(heads.shape(), reset_less=True)
        low = Signal(32, reset_less=True)
        bad = Signal(reset_less=True)
        changed = Signal()

        # The other bank holds what was in use before the last commit. Rows taken before that may still need it.
        taken, retired = Signal(IN_FLIGHT_BITS), Signal(IN_FLIGHT_BITS)
        fence = Signal(IN_FLIGHT_BITS, reset_less=True)
        fenced = Signal()
        with m.If(self.taken):
            m.d.sync += taken.eq(taken + 1)
        with m.If(self.retired):
            m.d.sync += retired.eq(retired + 1)
        with m.If(fenced & (retired == fence)):
            m.d.sync += fenced.eq(0)
        m.d.comb += self.busy.eq(fenced | self.scanning)

        def refuse(why: int) -> None:
            m.d.comb += self.refusal.eq(1)
            m.d.sync += self.refused.eq(why)

        with m.If(self.begin):
            m.d.sync += self.loading.eq(0)
            with m.If((self.begin_heads == 0) | (self.begin_heads > design.capacity)):
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
        word = Cat(low, self.word)
        m.d.comb += [
            memory.write_address.eq(Cat(self.words[1 : slope_address_bits(design)], ~bank)),
            memory.write_data.eq(word),
        ]
        with m.If(self.word_valid & ~self.loading):
            refuse(NOT_BEGUN)
        with m.If(self.word_valid & self.loading):
            with m.If(self.words != 0xFFFF):
                m.d.sync += self.words.eq(self.words + 1)
            with m.If(self.words[0]):
                m.d.comb += memory.write_enable.eq(self.words < 2 * target)
                with m.If(word[design.slope_bits :] != 0):
                    m.d.sync += bad.eq(1)
            with m.Else():
                m.d.sync += low.eq(self.word)
        with m.If(self.commit):
            m.d.sync += self.loading.eq(0)
            with m.If(~self.loading):
                refuse(NOT_BEGUN)
            with m.Elif(self.words != 2 * target):
                refuse(WRONG_COUNT)
            with m.Elif(bad):
                refuse(OUT_OF_RANGE)
            with m.Else():
                m.d.comb += changed.eq(1)
                m.d.sync += [heads.eq(target), bank.eq(~bank), fence.eq(taken + self.taken), fenced.eq(1)]
        return changed

    def _scan(self, m: Module, memory: BlockRam, heads: Signal, bank: Signal, changed: Signal) -> None:
        """Computes the CRC of slopes that are new."""
        design = self._design
        pending = Signal(init=1, reset_less=True)
        value = Signal(32, reset_less=True)
        processor = m.submodules.crc = crc.catalog.CRC32_ETHERNET(data_width=32).create()
        head = Signal(heads.shape(), reset_less=True)
        entry = Signal(64, reset_less=True)
        turn = Signal(range(SCAN_CLOCKS))
        m.d.comb += [self.scanning.eq(pending), self.crc.eq(Mux(pending, 0, value))]
        m.d.sync += [turn.eq(turn + 1), self.hold.eq(pending & (turn == 0))]
        with m.If(changed):
            m.d.sync += pending.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += head.eq(0)
                with m.If(pending):
                    m.d.comb += processor.start.eq(1)
                    m.next = "ASK"
            with m.State("ASK"), m.If(self.idle):
                m.d.comb += memory.address.eq(Cat(head[: slope_address_bits(design) - 1], bank))
                m.next = "READ"
            with m.State("READ"):
                m.next = "ENTRY"
            with m.State("ENTRY"):
                m.d.sync += entry.eq(memory.data)
                m.next = "LOW"
            with m.State("LOW"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(entry[:32])]
                m.next = "HIGH"
            with m.State("HIGH"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(entry[32:])]
                m.d.sync += head.eq(head + 1)
                m.next = "ASK"
                with m.If(head + 1 == heads):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.sync += [value.eq(processor.crc), pending.eq(0)]
                m.next = "IDLE"
