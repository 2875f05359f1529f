"""The AXI4-Lite port of a unit whose registers a ``registers.rdl`` describes, and the counters behind it.

A write is answered one clock after its address and data were taken, a read two clocks after its address. Reading what
is only written, and writing what is only read, answers SLVERR as an unmapped address does.
"""

from collections.abc import Collection, Mapping

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from .axi_lite import OKAY, SLVERR, axi_lite_members
from .component import Component
from .register_map import Register


class RegisterPort(Component):
    """Takes accesses apart: a strobe for each register that is written, an answer for each that is read.

    Parameters
    ----------
    registers
        The registers that the design has, by name, as :func:`~ropewalk.gateware.register_map.register_map` gives them.
        The names become those of fields: ``shape`` is not one.
    full_words
        Those that are written whole or not at all: a write with fewer byte strobes answers SLVERR.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    written : Out
        Of each register that can be written: it is, in this clock, by ``word`` where ``strobes`` are set.
    word, strobes : Out
        What is written.
    refusal : In
        In the clock of the write: it is answered SLVERR. Who refuses a write ignores it.
    values : In
        Of each register that can be read: its value.
    """

    def __init__(self, registers: Mapping[str, Register], *, full_words: Collection[str] = ()):
        self._registers = dict(registers)
        self._full_words = frozenset(full_words)
        super().__init__(
            {
                **axi_lite_members(""),
                "written": Out(data.StructLayout({name: 1 for name, one in registers.items() if one.writable})),
                "word": Out(32),
                "strobes": Out(4),
                "refusal": In(1),
                "values": In(data.StructLayout({name: 32 for name, one in registers.items() if one.readable})),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        take, fits = Signal(), Signal()
        m.d.comb += [
            take.eq(self.awvalid & self.wvalid & ~self.bvalid),
            self.awready.eq(take),
            self.wready.eq(take),
            self.word.eq(self.wdata),
            self.strobes.eq(self.wstrb),
            fits.eq(self.written.as_value().any() & ~self.refusal),
        ]
        for name, register in self._registers.items():
            if register.writable:
                here = self.awaddr == register.address
                allowed = here & self.wstrb.all() if name in self._full_words else here
                m.d.comb += self.written[name].eq(take & allowed)
        with m.If(take):
            m.d.sync += [self.bvalid.eq(1), self.bresp.eq(Mux(fits, OKAY, SLVERR))]
        with m.Elif(self.bready):
            m.d.sync += self.bvalid.eq(0)

        address = Signal(len(self.araddr), reset_less=True)
        looking = Signal()
        m.d.comb += self.arready.eq(~looking & ~self.rvalid)
        m.d.sync += looking.eq(self.arvalid & self.arready)
        with m.If(self.arready):
            m.d.sync += address.eq(self.araddr)
        with m.If(looking):
            m.d.sync += [self.rvalid.eq(1), self.rdata.eq(0), self.rresp.eq(SLVERR)]
            with m.Switch(address):
                for name, register in self._registers.items():
                    if register.readable:
                        with m.Case(register.address):
                            m.d.sync += [self.rdata.eq(self.values[name]), self.rresp.eq(OKAY)]
        with m.Elif(self.rready):
            m.d.sync += self.rvalid.eq(0)
        return m


class Counters(Component):
    """Counters that stop at their largest value, and what they were at the last snapshot.

    Latency 1 clock from an event to its count.

    Parameters
    ----------
    steps
        The bits of what each counter goes up by in a clock, by name.

    Members
    -------
    steps : In
        What each counter goes up by in this clock.
    snapshot, clear : In
        Copy all counts to ``shown``, at one moment; set them all to 0.
    shown : Out
        The counts as of the last snapshot.
    """

    def __init__(self, steps: Mapping[str, int]):
        super().__init__(
            {
                "steps": In(data.StructLayout(steps)),
                "snapshot": In(1),
                "clear": In(1),
                "shown": Out(data.StructLayout(dict.fromkeys(steps, 32))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        for name, _ in self.steps.shape():
            count = Signal(32, name=f"count_{name}")
            total = count + self.steps[name]
            m.d.sync += count.eq(Mux(total[32], 0xFFFFFFFF, total))
            with m.If(self.clear):
                m.d.sync += count.eq(0)
            with m.If(self.snapshot):
                m.d.sync += self.shown[name].eq(count)
        return m


def sticky_bits(m: Module, events: Collection[Value], cleared: Value, *, name: str) -> Signal:
    """Bits that ``events`` set and that stay until ``cleared`` has a 1 there; an event in the same clock wins."""
    bits = Signal(len(events), name=name)
    m.d.sync += bits.eq(bits & ~cleared | Cat(*events))
    return bits
