"""The full table: rows of every position of every variant in one block ROM, the other source of rows.

No multiplier; its size grows with the context. The words are correctly rounded (``docs/number-contract.md``, section
"Table source").
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .contents import row_contents
from .layouts import entry_layout, request_layout, source_bits
from .primitives import BlockRom


class RowTable(Component):
    """A source of rows with the members of :class:`~ropewalk.gateware.generator.RowGenerator`.

    Latency 1 clock plus that of the ROM from a request to its first entry; one pair per clock with no bubble.
    """

    def __init__(self, design: Design):
        self._design = design
        self._rom = BlockRom(row_contents(design), name="rows")
        super().__init__(
            {
                "request": In(stream.Signature(request_layout(design))),
                "write": Out(1),
                "entry": Out(entry_layout(design)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 1 + self._rom.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.rom = rom = self._rom

        # The first entry of the row: the slot's place plus position times pairs, by shifts so that it takes no
        # multiplier.
        request = self.request.payload
        position = request.position[: max(1, (max(design.limits) - 1).bit_length())]
        shifts = [bit for bit in range(design.pairs.bit_length()) if design.pairs >> bit & 1]
        busy = Signal()
        pair = Signal(range(max(2, design.pairs)))
        address = Signal(source_bits(design), reset_less=True)
        m.d.comb += [
            self.request.ready.eq(~busy | (pair == design.pairs - 1)),
            rom.address.eq(address),
        ]
        with m.If(busy):
            m.d.sync += [pair.eq(pair + 1), address.eq(address + 1)]
        with m.If(self.request.ready):
            m.d.sync += [
                busy.eq(self.request.valid),
                pair.eq(0),
                address.eq(request.source + sum((position << shift for shift in shifts[1:]), position << shifts[0])),
            ]

        valid = busy
        for clock in range(rom.latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        m.d.comb += [
            self.write.eq(valid),
            self.entry.eq(data.View(entry_layout(design), rom.data)),
        ]
        return m
