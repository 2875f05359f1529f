"""The table in block RAM: reads for the adder, a loader behind the register port, and a CRC-32 of what is there.

A load writes rows in place: the table is too large to be held twice. Writes and scans take clocks of the read port;
beats wait for them, so no word is read in the clock in which it is written.
"""

import numpy as np
from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import enum
from amaranth.lib.wiring import In, Out

from ...designs.learned import LearnedDesign
from ..component import Component
from ..crc32 import START, crc32_after
from ..pipeline import delayed
from .descriptor import RowPlace
from .layouts import place_bits, words_layout
from .table_rows import Banks, TableRows, rows_latency

NOTHING, NO_TABLE, NO_ROW, NOT_BEGUN, PART_OF_ROW, OUT_OF_RANGE = range(6)
"""Why a begin, a word or a commit was refused."""

SCAN_SHARE = 64
"""A scan of a table in use waits at most so many clocks for its turn, and takes at most that share of them."""


class Step(enum.Enum, shape=3):
    """What a scan is at."""

    REST = 0
    BEGIN = 1
    ASK = 2
    WAIT = 3
    TAKE = 4
    FEED = 5
    END = 6


class TableMemory(Component):
    """The table, :func:`~.table_rows.rows_latency` clocks from an address to its words, a beat per clock.

    Members
    -------
    valid, place : In
        A beat waits for the words at this address.
    grant : Out
        It may go: its words come.
    words : Out
        The words, so many clocks later.
    begin, word_valid, commit, word : In
        The load registers were written, with ``word``: as a :class:`~ropewalk.gateware.register_port.RegisterPort`
        tells it, which has the word before and after, and leaves clocks between writes.
    drop : In
        Forget an unfinished load; rows that were written stay written.
    scan : In
        Compute the CRC again.
    refusal, refused : Out
        High in the clock in which a write is refused; why the last begin, word or commit was.
    loading, scanning, crc_known, crc_value, row : Out
        Their state; the row that the next word of a load belongs to.
    """

    def __init__(self, design: LearnedDesign, words: np.ndarray):
        self._design = design
        self._ram = TableRows(design, Banks(design).contents(words))
        super().__init__(
            {
                "valid": In(1),
                "place": In(place_bits(design)),
                "grant": Out(1),
                "words": Out(words_layout(design)),
                "begin": In(1),
                "word_valid": In(1),
                "commit": In(1),
                "word": In(32),
                "drop": In(1),
                "scan": In(1),
                "refusal": Out(1),
                "refused": Out(3),
                "loading": Out(1),
                "scanning": Out(1),
                "crc_known": Out(1),
                "crc_value": Out(32),
                "row": Out(25),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.submodules.ram = ram = self._ram
        begun, over = Signal(), Signal()
        write = self._load(m, begun, over)
        want, turn, mine, scanned = Signal(), Signal(range(SCAN_SHARE)), Signal(), Signal()
        address = Signal(place_bits(self._design))
        m.d.sync += [turn.eq(turn + 1), mine.eq(want & (turn == 0))]
        m.d.comb += [
            scanned.eq(want & ~write & (~self.valid | mine)),
            self.grant.eq(~write & ~mine),
            ram.address.eq(Mux(scanned, address, self.place)),
            self.words.eq(ram.data),
        ]
        self._scan(m, want, scanned, address, begun, over)
        return m

    def _load(self, m: Module, begun: Signal, over: Signal) -> Value:
        """Gathers loaded words into memory words and writes them; the strobe of a write.

        ``begun`` tells that a load has begun, ``over`` that it is over and its last word written.
        """
        design, ram = self._design, self._ram
        rows, dimension, lanes = design.geometry.rows, design.geometry.dimension, design.lanes
        column = Signal(range(max(2, dimension)))
        lane = Signal(range(max(2, lanes)))
        gathered = Signal(lanes * design.table_width, reset_less=True)
        # What a write is judged by is known before it comes.
        no_row, all_full, fits, inside, row_end = (
            Signal(name=name, reset_less=True) for name in ("no_row", "all_full", "fits", "inside", "row_end")
        )
        sign = self.word[design.table_width - 1 :]
        reason = Signal(3)
        m.d.sync += [
            no_row.eq(self.word >= rows),
            all_full.eq(self.row == rows),
            fits.eq(~sign.any() | sign.all()),
            inside.eq(column != 0),
            row_end.eq(column == dimension - 1),
        ]
        with m.If(self.begin & no_row):
            m.d.comb += reason.eq(NO_ROW)
        with m.If(self.word_valid | self.commit):
            with m.If(~self.loading):
                m.d.comb += reason.eq(NOT_BEGUN)
            with m.Elif(self.word_valid & all_full):
                m.d.comb += reason.eq(NO_ROW)
            with m.Elif(self.word_valid & ~fits):
                m.d.comb += reason.eq(OUT_OF_RANGE)
            with m.Elif(self.commit & inside):
                m.d.comb += reason.eq(PART_OF_ROW)
        # What is not refused happens a clock later.
        took, first, full, committed = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [
            took.eq(self.word_valid & ~self.refusal),
            first.eq(self.begin & ~self.refusal),
            committed.eq(self.commit & ~self.refusal),
        ]
        m.d.comb += [
            self.refusal.eq(reason != NOTHING),
            full.eq(took & ((lane == lanes - 1) | row_end)),
            begun.eq(first),
        ]
        with m.If(self.begin | self.word_valid | self.commit):
            m.d.sync += self.refused.eq(reason)
        word = Signal(lanes * design.table_width)
        m.d.comb += word.eq(gathered)
        with m.If(took):
            m.d.comb += word.word_select(lane, design.table_width).eq(self.word)
            m.d.sync += [
                gathered.eq(Mux(full, 0, word)),
                lane.eq(Mux(full, 0, lane + 1)),
                column.eq(Mux(row_end, 0, column + 1)),
                self.row.eq(self.row + row_end),
            ]
        with m.If(first):
            m.d.sync += [self.loading.eq(1), self.row.eq(self.word), column.eq(0), lane.eq(0), gathered.eq(0)]
        with m.If(committed | self.drop):
            m.d.sync += self.loading.eq(0)

        # The row's place takes some clocks; what is written waits as long, so that the order stays.
        m.submodules.row_place = row_place = RowPlace(design)
        wait = row_place.latency + 1
        happening = Cat(full, first, committed)
        for clock in range(wait):
            later = Signal(3, name=f"happening_{clock + 1}")
            m.d.sync += later.eq(happening)
            happening = later
        write, restart = happening[0], happening[1]
        m.d.comb += over.eq(happening[2])
        address = Signal(place_bits(design), reset_less=True)
        with m.If(restart):
            m.d.sync += address.eq(row_place.place)
        with m.Elif(write):
            m.d.sync += address.eq(address + 1)
        m.d.comb += [
            row_place.row.eq(self.row),
            ram.write_enable.eq(write),
            ram.write_address.eq(address),
            ram.write_data.eq(delayed(m, word, wait, name="loaded")),
        ]
        return write

    def _scan(self, m: Module, want: Signal, granted: Signal, address: Signal, begun: Signal, over: Signal) -> None:
        """Reads the whole table and computes its CRC, a byte per clock; after reset, a load, and when asked."""
        design = self._design
        latency = rows_latency(design)
        waited = Signal(range(latency))
        beat = Signal(range(max(2, design.beats_per_token)))
        byte = Signal(range(2 * design.lanes))
        last_beat, last_word = Signal(reset_less=True), Signal(reset_less=True)
        last_byte = Signal(reset_less=True)
        state = Signal(Step, init=Step.BEGIN)
        # A word of the CRC is an element, sign-extended.
        held = Signal(16 * design.lanes, reset_less=True)
        check = Signal(32, init=START, reset_less=True)
        m.d.sync += [
            last_beat.eq(beat == design.beats_per_token - 1),
            last_word.eq(address == design.memory_words - 1),
        ]
        m.d.comb += [
            want.eq(state == Step.ASK),
            self.scanning.eq(state != Step.REST),
        ]
        with m.Switch(state):
            with m.Case(Step.BEGIN):
                m.d.sync += [beat.eq(0), address.eq(0), check.eq(START), state.eq(Step.ASK)]
            with m.Case(Step.ASK), m.If(granted):
                m.d.sync += [state.eq(Step.WAIT), waited.eq(1)]
            with m.Case(Step.WAIT):
                m.d.sync += waited.eq(waited + 1)
                with m.If(waited == latency - 1):
                    m.d.sync += state.eq(Step.TAKE)
            with m.Case(Step.TAKE):
                for lane, word in enumerate(self.words):
                    m.d.sync += held.word_select(lane, 16).eq(word)
                m.d.sync += [byte.eq(0), last_byte.eq(0), state.eq(Step.FEED)]
            with m.Case(Step.FEED):
                m.d.sync += [
                    byte.eq(byte + 1),
                    last_byte.eq(byte == Mux(last_beat, 2 * design.last_lanes - 2, 2 * design.lanes - 2)),
                    held.eq(held >> 8),
                    check.eq(crc32_after(Cat(check[:8] ^ held[:8], check[8:]), 8)),
                ]
                with m.If(last_byte):
                    m.d.sync += [address.eq(address + 1), beat.eq(Mux(last_beat, 0, beat + 1)), state.eq(Step.ASK)]
                    with m.If(last_word):
                        m.d.sync += state.eq(Step.END)
            with m.Case(Step.END):
                m.d.sync += [self.crc_known.eq(1), self.crc_value.eq(check), state.eq(Step.REST)]
        with m.If(begun | over | self.scan):
            m.d.sync += [self.crc_known.eq(0), self.crc_value.eq(0), state.eq(Mux(begun, Step.REST, Step.BEGIN))]
