"""The AXI4-Lite port, tied off: it answers every access with SLVERR, so that no host hangs on it."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .component import Component

OKAY, SLVERR = 0b00, 0b10
ADDRESS_BITS = 12


def axi_lite_members(prefix: str) -> dict[str, wiring.Member]:
    """The signals of an AXI4-Lite subordinate, named ``prefix`` + their usual names."""
    members = {
        "awaddr": In(ADDRESS_BITS),
        "awprot": In(3),
        "awvalid": In(1),
        "awready": Out(1),
        "wdata": In(32),
        "wstrb": In(4),
        "wvalid": In(1),
        "wready": Out(1),
        "bresp": Out(2),
        "bvalid": Out(1),
        "bready": In(1),
        "araddr": In(ADDRESS_BITS),
        "arprot": In(3),
        "arvalid": In(1),
        "arready": Out(1),
        "rdata": Out(32),
        "rresp": Out(2),
        "rvalid": Out(1),
        "rready": In(1),
    }
    return {prefix + name: member for name, member in members.items()}


class NoRegisters(Component):
    """An AXI4-Lite subordinate without registers.

    Latency 1 clock from an access to its answer; an access every two clocks.
    """

    def __init__(self):
        super().__init__(axi_lite_members(""))

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # Address and data of a write are taken together, when both are there and the last answer has gone.
        m.d.comb += [
            self.awready.eq(self.awvalid & self.wvalid & ~self.bvalid),
            self.wready.eq(self.awready),
            self.arready.eq(~self.rvalid),
            self.bresp.eq(SLVERR),
            self.rresp.eq(SLVERR),
            self.rdata.eq(0),
        ]
        with m.If(self.awready):
            m.d.sync += self.bvalid.eq(1)
        with m.Elif(self.bready):
            m.d.sync += self.bvalid.eq(0)
        with m.If(self.arvalid & self.arready):
            m.d.sync += self.rvalid.eq(1)
        with m.Elif(self.rready):
            m.d.sync += self.rvalid.eq(0)
        return m
