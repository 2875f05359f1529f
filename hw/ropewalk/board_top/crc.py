"""The CRC-32 of Ethernet and zip, a bit per clock: it is a tenth as large as a byte per clock."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from ..gateware.component import Component

POLYNOMIAL = 0xEDB88320
"""Reflected."""

RESIDUE = 0xDEBB20E3
"""What the register holds behind contents that their own CRC follows, lowest byte first."""


class Crc(Component):
    """A CRC-32 over bytes.

    A byte takes 8 clocks; the next one must not come while ``busy``.

    Members
    -------
    clear : In
        Begin anew: no byte so far.
    byte, taken : In
        ``byte`` is the next, in the clock of ``taken``.
    busy : Out
        ``register`` does not show the last byte yet.
    register : Out
        The register, whose complement is the CRC.
    """

    def __init__(self):
        super().__init__({"clear": In(1), "byte": In(8), "taken": In(1), "busy": Out(1), "register": Out(32)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        left = Signal(range(9))
        register = Signal(32, init=0xFFFFFFFF)
        rest = Signal(8, reset_less=True)
        m.d.comb += [self.busy.eq(left != 0), self.register.eq(register)]
        with m.If(self.clear):
            m.d.sync += [register.eq(0xFFFFFFFF), left.eq(0)]
        with m.Elif(self.busy):
            odd = register[0] ^ rest[0]
            m.d.sync += [
                register.eq((register >> 1) ^ Mux(odd, POLYNOMIAL, 0)),
                rest.eq(rest >> 1),
                left.eq(left - 1),
            ]
        with m.If(self.taken):
            m.d.sync += [rest.eq(self.byte), left.eq(8)]
        return m
