"""The row memory: a row is written once, one pair per clock, and read by every head, also while it is being written.

``design.row_banks`` rows are held. One block RAM per lane holds that lane's entries of all banks, so a beat reads the
entries of all its pairs at once.
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import entry_layout
from .primitives import BlockRam, delayed


class RowMemory(Component):
    """Rows under their numbers. Words are read ``wait`` clocks after they have been asked for.

    Entries come in pair order, row after row. Reading takes :attr:`latency` clocks more. The reader must not read a
    word before :attr:`available` says so: a word is never written and read in the same clock.

    Members
    -------
    write, entry, place, last : In
        Takes the next entry, of the pair ``place`` of a head; whether it is the last of its row.
    writing : Out
        Number of the row that is being written, or is to be written next.
    sequence, word, needed : In
        The row and the beat of a head that the reader wants, and whether it needs any of its entries.
    available : Out
        Whether all entries of that word have been written. In the same clock.
    entries : Out
        The entries of all lanes, ``wait`` and :attr:`latency` clocks after ``sequence`` and ``word``.
    """

    latency = BlockRam.latency

    def __init__(self, design: Design, *, wait: int = 0):
        self._design = design
        self._wait = wait
        words = range(max(2, design.beats_per_head))
        depth = design.row_banks << (len(words) - 1).bit_length()
        self._rams = [BlockRam(width=entry_layout(design).size, depth=depth, name="row") for _ in range(design.lanes)]
        super().__init__(
            {
                "write": In(1),
                "entry": In(entry_layout(design)),
                "place": In(range(max(2, design.geometry.head_dim // 2))),
                "last": In(1),
                "writing": Out(design.row_number_bits),
                "sequence": In(design.row_number_bits),
                "word": In(words),
                "needed": In(1),
                "available": Out(1),
                "entries": Out(data.ArrayLayout(entry_layout(design), design.lanes)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        word_bits = len(self.word)
        bank_bits = (design.row_banks - 1).bit_length()
        lane_bits = (design.lanes - 1).bit_length()

        # Words before this one are complete. A slice may start and end in mid-beat; it is contiguous, so nothing
        # before its first word is ever waited for.
        complete = Signal(word_bits + 1)
        place_word = Signal(word_bits)
        m.d.comb += place_word.eq(self.place >> lane_bits)
        with m.If(self.write):
            with m.If(self.last):
                m.d.sync += [complete.eq(0), self.writing.eq(self.writing + 1)]
            with m.Else():
                m.d.sync += complete.eq((self.place + 1) >> lane_bits)

        ahead = Signal(design.row_number_bits)
        made = Signal()
        m.d.comb += [
            ahead.eq(self.writing - self.sequence),
            made.eq((ahead != 0) & (ahead <= design.row_banks)),
            self.available.eq(~self.needed | made | ((ahead == 0) & (self.word < complete))),
        ]

        address = delayed(m, Cat(self.word, self.sequence[:bank_bits]), self._wait, name="address")
        for lane, ram in enumerate(self._rams):
            m.submodules[f"lane_{lane}"] = ram
            m.d.comb += [
                ram.write_enable.eq(self.write & (self.place[:lane_bits] == lane)),
                ram.write_address.eq(Cat(place_word, self.writing[:bank_bits])),
                ram.write_data.eq(self.entry),
                ram.address.eq(address),
                self.entries[lane].eq(ram.data),
            ]
        return m
