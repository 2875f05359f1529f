"""The block RAMs of a table: its memory words behind registers that shorten the ways to many blocks and back.

A table may take most blocks of a part, which lie all over it: from an address to the furthest of them, and back from
there, takes a clock each. Where the family's blocks are not as deep as the table, it lies in banks, each a block from
its first word to its last: they are read at once, and one of them is chosen behind their output registers.
"""

from dataclasses import dataclass

import numpy as np
from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib.wiring import In, Out

from ...designs.learned import LearnedDesign
from ...tables.learned import bank_beats, pack_beats
from ..component import Component
from ..contents import RomContents
from ..families import FORMS
from ..pipeline import delayed
from ..primitives import BlockRam
from .layouts import place_bits

ADDRESS_CLOCKS = 2
"""Registers in front of the blocks: where the address is chosen, and amid the blocks that it goes to."""


@dataclass(frozen=True)
class Banks:
    """How the memory words of a table of ``design`` lie in banks."""

    design: LearnedDesign

    @property
    def bits(self) -> int:
        """Bits of a memory word."""
        return self.design.lanes * self.design.word_bits

    @property
    def depth(self) -> int:
        """Words that the banks have together, for those of the table; a memory has no fewer than two."""
        return max(2, self.design.memory_words)

    @property
    def words(self) -> int:
        """Words of a bank: a power of two where there are several."""
        return FORMS[self.design.family].bank_words(self.bits, self.depth)

    @property
    def count(self) -> int:
        """Banks."""
        return -(-self.depth // self.words)

    @property
    def levels(self) -> int:
        """Clocks in which one of them is chosen, by a bit of its number in each: a look-up table before a register."""
        return (self.count - 1).bit_length()

    def contents(self, words: np.ndarray) -> RomContents:
        """What the memory ``rows`` holds at the start: a beat's table words per memory word, row after row."""
        beats = pack_beats(words, self.design.lanes, self.design.word_bits)
        return RomContents(self.count * self.bits, self.words, bank_beats(beats, self.words, self.bits), "file")


def rows_latency(design: LearnedDesign) -> int:
    """Clocks from an address to its word."""
    return ADDRESS_CLOCKS + BlockRam.latency + Banks(design).levels


class TableRows(Component):
    """The memory words of a table, :func:`rows_latency` clocks from an address to its word, a word per clock.

    A word must not be read in the clock in which it is written.

    Members
    -------
    write_enable, write_address, write_data : In
        Writes a word.
    address, data : In, Out
        The word to read; the word, so many clocks later.
    """

    def __init__(self, design: LearnedDesign, contents: RomContents):
        self._banks = banks = Banks(design)
        self._ram = BlockRam(
            width=contents.width,
            depth=contents.depth,
            name="rows",
            words=contents.words,
            placed=True,
            banks=banks.count,
        )
        super().__init__(
            {
                "write_enable": In(1),
                "write_address": In(place_bits(design)),
                "write_data": In(banks.bits),
                "address": In(place_bits(design)),
                "data": Out(banks.bits),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        banks = self._banks
        m.submodules.ram = ram = self._ram
        inside = len(ram.address)
        address = delayed(m, self.address, ADDRESS_CLOCKS, name="address")
        # A write stays as long behind as a read, so that what keeps them apart in front of this does so at the blocks.
        # One that is under way in a reset is carried out: what has been loaded survives.
        m.d.comb += [
            ram.address.eq(address),
            ram.write_address.eq(delayed(m, self.write_address, ADDRESS_CLOCKS, name="write_address")),
            ram.write_data.eq(delayed(m, self.write_data, ADDRESS_CLOCKS, name="write_data")),
        ]
        bank = self.write_address[inside:]
        for number in range(banks.count):
            enable = self.write_enable & (bank == number if banks.count > 1 else 1)
            m.d.comb += ram.write_enable[number].eq(delayed(m, enable, ADDRESS_CLOCKS, name=f"enable_{number}"))

        words: list[Value] = [ram.data.word_select(number, banks.bits) for number in range(banks.count)]
        for level in range(banks.levels):
            upper = delayed(m, address[inside + level], BlockRam.latency + level, name=f"upper_{level}")
            pairs = []
            for first in range(0, len(words), 2):
                one = Signal(banks.bits, name=f"chosen_{level}_{first}", reset_less=True)
                m.d.sync += one.eq(Mux(upper, words[first + 1], words[first]) if words[first + 1 :] else words[first])
                pairs.append(one)
            words = pairs
        m.d.comb += self.data.eq(words[0])
        return m
