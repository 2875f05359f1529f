"""The full table: rows of every position of every variant in one block ROM, the other source of rows.

No multiplier; its size grows with the context. The words are correctly rounded (``docs/number-contract.md``, section
"Table source").
"""

from functools import reduce
from operator import and_, or_

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data

from ..design import Design
from .component import Component
from .contents import row_contents
from .generator import source_members
from .layouts import entry_layout, pairs_shape
from .pipeline import carried, delayed
from .primitives import BlockRom
from .row_issue import RowIssue
from .slots import entry_address_bits, table_bases


class RowTable(Component):
    """A source of rows with the members of :class:`~ropewalk.gateware.generator.RowGenerator`.

    Latency 2 clocks plus that of the ROM from a request to its first entry; one pair per clock with no bubble.
    """

    def __init__(self, design: Design):
        self._design = design
        self._rom = BlockRom(row_contents(design), name="rows")
        super().__init__(source_members(design))

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 2 + self._rom.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.rom = rom = self._rom

        # The first entry of the row: the variant's place in the table plus position times pairs, by shifts so that it
        # takes no multiplier. A bit that not all variants' pairs have is taken from the slot.
        row = self.row.payload
        row_pairs = Signal(pairs_shape(design), reset_less=True)
        position = row.position[0][: max(1, (max(design.limits) - 1).bit_length())]
        pairs = [shape.pairs for shape in design.shapes]
        in_any, in_all = reduce(or_, pairs), reduce(and_, pairs)
        offsets = [
            (position if in_all >> bit & 1 else Mux(row_pairs[bit], position, 0)) << bit
            for bit in range(in_any.bit_length())
            if in_any >> bit & 1
        ]
        m.submodules.issue = rows = RowIssue(design)
        place = Signal(self.place.shape(), reset_less=True)
        address = Signal(entry_address_bits(design), reset_less=True)
        bases = Array(table_bases(design))
        begun = Signal()
        issued = Signal()
        m.d.comb += [
            rows.valid.eq(self.request.valid),
            rows.request.eq(self.request.payload),
            self.request.ready.eq(rows.ready),
            rows.read.eq(self.read),
            self.row.ready.eq(rows.issue & rows.last),
            self.idle.eq(~(rows.busy | issued)),
            rom.address.eq(Mux(self.granted, self.read_address, address)),
            self.read_data.eq(rom.data),
        ]
        m.d.sync += [
            row_pairs.eq(self.request.payload.pairs),
            begun.eq(self.request.valid & self.request.ready),
            issued.eq(rows.issue),
            self.granted.eq(rows.granted),
        ]
        with m.If(begun):
            m.d.sync += [
                place.eq(row.start),
                address.eq(bases[row.place] + sum(offsets[1:], offsets[0])),
            ]
        with m.Elif(issued):
            m.d.sync += [place.eq(place + 1), address.eq(address + 1)]

        m.d.comb += [
            self.write.eq(carried(m, issued, rom.latency, name="valid")),
            self.entry.eq(data.View(entry_layout(design), rom.data)),
            self.place.eq(delayed(m, place, rom.latency, name="place")),
            self.last.eq(delayed(m, rows.last, 1 + rom.latency, name="last")),
        ]
        return m
