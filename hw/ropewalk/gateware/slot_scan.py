"""Computes the CRC-32 of the slots from what their memories hold: of those that are filled from the start, one after
the other, and of each slot that is loaded.
"""

from functools import reduce
from operator import or_

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..tables.slot_words import HEADER_WORDS
from .component import Component
from .crc32 import START, crc32_after
from .slots import (
    entry_address_bits,
    entry_bits,
    pair_bits,
    place_bits,
    slot_bits,
    slot_layout,
    table_bases,
    table_lengths,
)

STEP_BITS = 4
"""Bits that the CRC takes in a clock."""

WORD_PIECES = 32 // STEP_BITS
ENTRY_WORDS = 2

HEADER_CLOCKS = 2
"""Clocks from ``hold`` to the header."""


class SlotScan(Component):
    """Scans one slot at a time.

    A slot takes 32 clocks for its header and 16 for each entry, and some for reading them; an entry waits besides until
    the row source gives its memory.

    Members
    -------
    slot, place : In
        The slot that is loaded or scanned, and where it lies: ``place`` may follow ``slot`` by a clock.
    loaded : In
        Its content has been swapped in, in the clock before: scan it.
    clearing : Out
        After configuration, once for each slot: what is known of ``slot`` is set to nothing.
    advance, following : Out
        ``slot`` becomes ``following``.
    hold : Out
        The header memory is needed: no descriptor may be taken in this clock.
    header : In
        What lies at ``place``, :data:`HEADER_CLOCKS` clocks after ``hold``.
    scanning : Out
        There is something left to scan.
    read, read_address, granted, read_data : Out, Out, In, In
        Reads the row source's memory; ``read_data`` is valid two clocks after ``granted``.
    store, value : Out
        ``value`` is the CRC of ``slot`` in this clock: 0 until it is known.
    """

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "slot": In(slot_bits(design)),
                "place": In(place_bits(design)),
                "loaded": In(1),
                "clearing": Out(1),
                "advance": Out(1),
                "following": Out(slot_bits(design)),
                "hold": Out(1),
                "header": In(slot_layout(design)),
                "scanning": Out(1),
                "read": Out(1),
                "read_address": Out(entry_address_bits(design)),
                "granted": In(1),
                "read_data": In(entry_bits(design)),
                "store": Out(1),
                "value": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        # What there is to do survives reset, like the memories that it is about.
        uncleared, at_start, scanning = (Signal(init=1, reset_less=True) for _ in range(3))
        with m.If(self.loaded):
            m.d.sync += scanning.eq(1)
        m.d.comb += self.scanning.eq(scanning)

        # The steps of a scan, a bit each, so that each drives what it starts from a register.
        idle, hold = Signal(init=1), Signal(init=1, reset_less=True)
        holding, addressed, header_there, asking, waiting, entry_there, done = (Signal() for _ in range(7))
        begin, last, ending = Signal(), Signal(reset_less=True), Signal(3)
        header_pieces = Signal(HEADER_WORDS * WORD_PIECES)
        entry_pieces = Signal(ENTRY_WORDS * WORD_PIECES)
        m.d.comb += [begin.eq(idle & scanning & ~uncleared), self.hold.eq(hold), self.read.eq(asking)]
        m.d.sync += [
            idle.eq((idle & ~begin) | done),
            hold.eq(uncleared | begin),
            holding.eq(begin),
            addressed.eq(holding),
            header_there.eq(addressed),
            header_pieces.eq(Cat(header_there, header_pieces)),
            asking.eq(header_pieces[-1] | (entry_pieces[-1] & ~last) | (asking & ~self.granted)),
            waiting.eq(asking & self.granted),
            entry_there.eq(waiting),
            entry_pieces.eq(Cat(entry_there, entry_pieces)),
            ending.eq(Cat(entry_pieces[-1] & last, ending)),
            done.eq(ending[-1]),
        ]

        # Before the first scan, two clocks for each slot.
        clearing, at_last_slot = Signal(reset_less=True), Signal(reset_less=True)
        following = Signal(len(self.slot), reset_less=True)
        m.d.sync += [
            clearing.eq(uncleared & ~clearing),
            at_last_slot.eq(self.slot == Mux(uncleared, design.slots - 1, len(design.variants) - 1)),
            following.eq(Mux(self.slot == design.slots - 1, 0, self.slot + 1)),
        ]
        m.d.comb += [
            self.clearing.eq(clearing),
            self.advance.eq(clearing | (done & at_start)),
            self.following.eq(following),
        ]
        with m.If(clearing & at_last_slot):
            m.d.sync += uncleared.eq(0)
        with m.If(done):
            more = at_start & ~at_last_slot
            m.d.sync += [scanning.eq(more), at_start.eq(more)]

        # What is read, piece by piece.
        header = Signal(slot_layout(design), reset_less=True)
        entry = Signal(entry_bits(design), reset_less=True)
        with m.If(header_there):
            m.d.sync += header.eq(self.header)
        with m.If(entry_there):
            m.d.sync += entry.eq(self.read_data)
        header_words = Cat(
            padded(header.start, 16), padded(header.pairs, 16),
            *(padded(header[name], 32) for name in ("layout", "limit", "amplitude")),
        )  # fmt: skip
        entry_words = padded(Cat(entry[:48], Const(0, 14), entry[48:]) if design.source == "synth" else entry, 64)
        # A piece is added to the CRC in the clock in which the CRC moves on behind the one before.
        header_piece, entry_piece = (Signal(STEP_BITS, reset_less=True) for _ in range(2))
        # Chosen in two steps, since there are too many pieces for one.
        begun, ended, valid, moving, over = (Signal() for _ in range(5))
        for piece, pieces, words, name in (
            (header_piece, header_pieces, header_words, "header"), (entry_piece, entry_pieces, entry_words, "entry")
        ):  # fmt: skip
            some = []
            for first in range(0, len(pieces), WORD_PIECES):
                one = Signal(STEP_BITS, name=f"{name}_piece_{first}", reset_less=True)
                m.d.sync += one.eq(chosen(pieces[first : first + WORD_PIECES], words[first * STEP_BITS :]))
                some.append(one)
            m.d.sync += piece.eq(reduce(or_, some))
        m.d.sync += [
            begun.eq(header_pieces[0] | entry_pieces[0]),
            ended.eq(header_pieces[-1] | entry_pieces[-1]),
            over.eq(ended),
            valid.eq(begun | (valid & ~over)),
            moving.eq(valid),
        ]
        crc = Signal(32, init=START, reset_less=True)
        piece = header_piece ^ entry_piece
        with m.If(idle):
            m.d.sync += crc.eq(START)
        with m.Elif(moving):
            m.d.sync += crc.eq(crc32_after(crc, STEP_BITS) ^ piece)
        with m.Else():
            m.d.sync += crc[:STEP_BITS].eq(crc[:STEP_BITS] ^ piece)
        m.d.comb += [self.store.eq(self.clearing | holding | done), self.value.eq(crc)]

        # Which entry.
        bits = len(header.pairs) if design.source == "synth" else max(table_lengths(design)).bit_length()
        number = Signal(bits, reset_less=True)
        with m.If(header_there):
            m.d.sync += number.eq(0)
        with m.Elif(entry_there):
            m.d.sync += number.eq(number + 1)
        entries: Value = header.pairs
        if design.source == "synth":
            m.d.comb += self.read_address.eq(Cat(number[: pair_bits(design)], self.place))
        else:
            # A table's slots cannot be loaded: where their rows lie, and how many words they are, never changes.
            empty = [0] * (design.slots - len(design.variants))
            entries = Array(table_lengths(design) + empty)[self.slot]
            address = Signal(len(self.read_address), reset_less=True)
            m.d.sync += address.eq(Array(table_bases(design) + empty)[self.slot] + number)
            m.d.comb += self.read_address.eq(address)
        m.d.sync += last.eq(number == entries)
        return m


def chosen(which: Value, words: Value) -> Value:
    """The piece of ``words`` that a bit of ``which`` stands for, 0 if there is none."""
    return reduce(or_, (Mux(bit, words.word_select(place, STEP_BITS), 0) for place, bit in enumerate(which)))


def padded(value: Value, bits: int) -> Value:
    """``value`` with zeros above it."""
    return Cat(value, Const(0, bits - len(value)))
