"""The row memory: a row is written once, one pair per clock, and read by every head, also while it is being written.

``design.row_banks`` rows are held. One block RAM per lane holds that lane's magnitudes of all banks, so a beat reads
the entries of all its pairs at once. The quadrants of all lanes share a small RAM: with them a word of magnitudes would
be two bits too wide for one block.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import ask_layout, bank_bits, entry_layout
from .pipeline import delayed
from .primitives import BlockRam

QUADRANT_BITS = 2


class RowMemory(Component):
    """Rows under the numbers of their banks. Words are read ``wait`` clocks after they have been asked for.

    Entries come in pair order, row after row. Reading takes :attr:`latency` clocks more. The reader must not read a
    word before ``available`` says so: a word is never written and read in the same clock.

    Members
    -------
    begun : In
        A row has been asked for: it will be in the bank after that of the one before.
    write, entry, place, last : In
        Takes the next entry, of the pair ``place`` of a head; whether it is the last of its row.
    made : Out
        A row is complete.
    writing : Out
        Bank of the row that is being written, or is to be written next.
    asks : In
        What two beats need, the first of them read.
    available : Out
        Of either beat, two reasons to let it go: its row is whole, or it needs none (bit 0); its row is being written
        (bit 1), and all of its word has been (bit 2). One of the reasons is there when it may go, and from then on. In
        the same clock.
    entries : Out
        The entries of all lanes, ``wait`` and :attr:`latency` clocks after the first asked for them.
    """

    latency = BlockRam.latency

    def __init__(self, design: Design, *, wait: int = 0):
        self._design = design
        self._wait = wait
        depth = design.row_banks << (max(2, design.beats_per_head) - 1).bit_length()
        magnitudes = entry_layout(design).size - QUADRANT_BITS
        self._rams = [BlockRam(width=magnitudes, depth=depth, name="row") for _ in range(design.lanes)]
        self._quadrants = BlockRam(width=QUADRANT_BITS * design.lanes, depth=depth, name="quadrants")
        super().__init__(
            {
                "begun": In(1),
                "write": In(1),
                "entry": In(entry_layout(design)),
                "place": In(range(max(2, design.geometry.head_dim // 2))),
                "last": In(1),
                "made": Out(1),
                "writing": Out(bank_bits(design)),
                "asks": In(data.ArrayLayout(ask_layout(design), 2)),
                "available": Out(data.ArrayLayout(3, 2)),
                "entries": Out(data.ArrayLayout(entry_layout(design), design.lanes)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        lane_bits = (design.lanes - 1).bit_length()

        # Words before this one are complete. A slice may start and end in mid-beat; it is contiguous, so nothing
        # before its first word is ever waited for.
        complete = Signal(len(self.asks[0].word) + 1)
        place_word = Signal(len(self.asks[0].word))
        whole = Array(Signal(name=f"whole_{bank}") for bank in range(design.row_banks))
        asked = Signal(bank_bits(design))
        m.d.comb += [place_word.eq(self.place >> lane_bits), self.made.eq(self.write & self.last)]
        with m.If(self.begun):
            m.d.sync += [whole[asked].eq(0), asked.eq(asked + 1)]
        with m.If(self.write):
            m.d.sync += complete.eq(Mux(self.last, 0, (self.place + 1) >> lane_bits))
        with m.If(self.made):
            m.d.sync += [whole[self.writing].eq(1), self.writing.eq(self.writing + 1)]
        for number, ask in enumerate(self.asks):
            reasons = ~ask.needed | whole[ask.bank], ask.bank == self.writing, ask.word < complete
            m.d.comb += self.available[number].eq(Cat(reasons))

        address = delayed(m, Cat(self.asks[0].word, self.asks[0].bank), self._wait, name="address")
        magnitudes = Cat(self.entry.cosine, self.entry.sine)
        for lane, ram in enumerate(self._rams):
            m.submodules[f"lane_{lane}"] = ram
            chosen = self.place[:lane_bits] == lane
            m.d.comb += [
                ram.write_enable.eq(self.write & chosen),
                ram.write_address.eq(Cat(place_word, self.writing)),
                ram.write_data.eq(magnitudes),
                ram.address.eq(address),
                Cat(self.entries[lane].cosine, self.entries[lane].sine).eq(ram.data),
                self.entries[lane].quadrant.eq(self._quadrants.data[QUADRANT_BITS * lane :]),
            ]

        # A word of quadrants is written with each of its entries, and holds those of its lanes so far.
        m.submodules.quadrants = quadrants = self._quadrants
        so_far = Signal(data.ArrayLayout(QUADRANT_BITS, design.lanes), reset_less=True)
        word = Signal(so_far.shape())
        m.d.comb += [
            *(
                word[lane].eq(Mux(self.place[:lane_bits] == lane, self.entry.quadrant, so_far[lane]))
                for lane in range(design.lanes)
            ),
            quadrants.write_enable.eq(self.write),
            quadrants.write_address.eq(Cat(place_word, self.writing)),
            quadrants.write_data.eq(word),
            quadrants.address.eq(address),
        ]
        with m.If(self.write):
            m.d.sync += so_far.eq(word)
        return m
