"""A serial line of 8 data bits, no parity and one stop bit."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ..errors import InputError
from ..gateware.component import Component

LEAST_DIVISOR = 8
"""Clocks per bit, at least: fewer do not find the middle of a bit."""

MOST_SKEW = 0.015
"""How far the rate may be off: two such sides still agree on the last bit of a byte."""


def clocks_per_bit(clock_hz: float, baud: int) -> int:
    """The clocks that a bit takes.

    Raises
    ------
    InputError
        If the clock is too slow for that rate, or does not come near enough to it.
    """
    if not 300 <= baud <= 1_000_000:
        raise InputError(f"the serial line runs at 300 to 1000000 baud, not {baud}")
    divisor = round(clock_hz / baud)
    if divisor < LEAST_DIVISOR:
        raise InputError(
            f"a clock of {clock_hz / 1e6:g} MHz has {clock_hz / baud:.1f} clocks per bit at {baud} baud, and needs "
            f"{LEAST_DIVISOR}: at most {int(clock_hz) // LEAST_DIVISOR} baud"
        )
    if abs(clock_hz / divisor / baud - 1) > MOST_SKEW:
        raise InputError(f"a clock of {clock_hz / 1e6:g} MHz does not come within 1.5 % of {baud} baud")
    return divisor


class Receiver(Component):
    """Bytes from a serial line.

    A byte is there for one clock, half a bit after its stop bit began. A pulse shorter than half a bit is no start bit.

    Parameters
    ----------
    divisor
        Clocks per bit, as :func:`clocks_per_bit` gives them.

    Members
    -------
    line : In
        The line, in no clock domain.
    byte : Out
        The byte.
    taken : Out
        In this clock ``byte`` is new.
    broken : Out
        With ``taken``: its stop bit was missing.
    """

    def __init__(self, divisor: int):
        self._divisor = divisor
        super().__init__({"line": In(1), "byte": Out(8), "taken": Out(1), "broken": Out(1)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        line = Signal(init=1)
        m.submodules.synchronizer = FFSynchronizer(self.line, line, init=1)
        bits = Signal(8, reset_less=True)
        left = Signal(range(10))
        timer = Signal(range(self._divisor))
        m.d.comb += [self.byte.eq(bits), self.broken.eq(~line)]
        # After a stop bit that was missing the line has to be idle before a byte can begin.
        idle = Signal(init=1)
        with m.If(left == 0):
            m.d.sync += timer.eq(self._divisor // 2 - 1)
            with m.If(line):
                m.d.sync += idle.eq(1)
            with m.Elif(idle):
                m.d.sync += [left.eq(9), idle.eq(0)]
        with m.Elif(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Else():
            m.d.sync += [timer.eq(self._divisor - 1), left.eq(left - 1)]
            start = Signal(init=1)
            with m.If(start):
                # the middle of the start bit
                m.d.sync += [start.eq(0), left.eq(9)]
                with m.If(line):
                    m.d.sync += [start.eq(1), left.eq(0)]
            with m.Elif(left != 1):
                m.d.sync += bits.eq(Cat(bits[1:], line))
            with m.Else():
                m.d.comb += self.taken.eq(1)
                m.d.sync += [start.eq(1), idle.eq(line)]
        return m


class Transmitter(Component):
    """Bytes onto a serial line: start bit, eight data bits from the lowest, one stop bit; a byte per ten bits.

    Parameters
    ----------
    divisor
        Clocks per bit, as :func:`clocks_per_bit` gives them.

    Members
    -------
    bytes : In(stream)
        What is sent.
    line : Out
        The line, high when idle.
    """

    def __init__(self, divisor: int):
        self._divisor = divisor
        super().__init__({"bytes": In(stream.Signature(8)), "line": Out(1)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        bits = Signal(9, init=0x1FF)
        left = Signal(range(11))
        timer = Signal(range(self._divisor))
        m.d.comb += [self.line.eq(bits[0]), self.bytes.ready.eq(left == 0)]
        with m.If(left == 0):
            m.d.sync += timer.eq(self._divisor - 1)
            with m.If(self.bytes.valid):
                m.d.sync += [bits.eq(Cat(0, self.bytes.payload)), left.eq(10)]
        with m.Elif(timer != 0):
            m.d.sync += timer.eq(timer - 1)
        with m.Else():
            m.d.sync += [timer.eq(self._divisor - 1), left.eq(left - 1), bits.eq(Cat(bits[1:], 1))]
        return m
