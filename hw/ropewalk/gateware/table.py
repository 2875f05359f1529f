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
from .generator import SCAN_SHARE, source_members
from .layouts import entry_layout
from .primitives import BlockRom, delayed
from .slots import entry_address_bits, table_bases


class RowTable(Component):
    """A source of rows with the members of :class:`~ropewalk.gateware.generator.RowGenerator`.

    Latency 1 clock plus that of the ROM from a request to its first entry; one pair per clock with no bubble.
    """

    def __init__(self, design: Design):
        self._design = design
        self._rom = BlockRom(row_contents(design), name="rows")
        super().__init__(source_members(design))

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 1 + self._rom.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.rom = rom = self._rom

        # The first entry of the row: the variant's place in the table plus position times pairs, by shifts so that it
        # takes no multiplier. A bit that not all variants' pairs have is taken from the slot.
        request = self.request.payload
        position = request.position[0][: max(1, (max(design.limits) - 1).bit_length())]
        pairs = [shape.pairs for shape in design.shapes]
        in_any, in_all = reduce(or_, pairs), reduce(and_, pairs)
        offsets = [
            (position if in_all >> bit & 1 else Mux(request.pairs[bit], position, 0)) << bit
            for bit in range(in_any.bit_length())
            if in_any >> bit & 1
        ]
        busy = Signal()
        place = Signal(self.place.shape(), reset_less=True)
        left = Signal(range(max(pairs) + 1), reset_less=True)
        address = Signal(entry_address_bits(design), reset_less=True)
        bases = Array(table_bases(design))
        at_last = Signal()
        turn = Signal(range(SCAN_SHARE))
        m.d.sync += turn.eq(turn + 1)
        m.d.comb += [
            at_last.eq(left == 1),
            self.granted.eq(self.read & (~busy | (turn == 0))),
            self.request.ready.eq(~busy | (at_last & ~self.granted)),
            self.idle.eq(~busy),
            self.begun.eq(self.request.valid & self.request.ready),
            rom.address.eq(Mux(self.granted, self.read_address, address)),
            self.read_data.eq(rom.data),
        ]
        with m.If(busy & ~self.granted):
            m.d.sync += [place.eq(place + 1), left.eq(left - 1), address.eq(address + 1)]
        with m.If(self.request.ready):
            m.d.sync += [
                busy.eq(self.request.valid),
                place.eq(request.start),
                left.eq(request.pairs),
                address.eq(bases[request.place] + sum(offsets[1:], offsets[0])),
            ]

        valid = busy & ~self.granted
        for clock in range(rom.latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        m.d.comb += [
            self.write.eq(valid),
            self.entry.eq(data.View(entry_layout(design), rom.data)),
            self.place.eq(delayed(m, place, rom.latency, name="place")),
            self.last.eq(delayed(m, at_last, rom.latency, name="last")),
        ]
        return m
