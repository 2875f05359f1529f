"""The AXI4-Lite port of a unit whose registers a ``registers.rdl`` describes.

Accesses pass through registers, so that no clock sees the whole depth of the decoder: a write acts
:data:`WRITE_CLOCKS` clocks after the one in which its address and data were taken, and is answered
:data:`ANSWER_CLOCKS` after it or later; a read is answered :data:`ANSWER_CLOCKS` after its address. Reading what is
only written, and writing what is only read, answers SLVERR as an unmapped address does.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from .axi_lite import ADDRESS_BITS, OKAY, SLVERR, axi_lite_members
from .component import Component
from .register_map import Register

WRITE_CLOCKS = 3
"""Clocks from the one in which a write is taken to the one in which it acts."""

ANSWER_CLOCKS = 5
"""Clocks, at least, from the one in which an access is taken to the one in which its answer is on offer."""

BANK_CLOCKS = 2
"""Clocks that a bank has from a new ``index`` to its word."""

PAGE_BITS = 6
"""Address bits of 16 words: an address is looked at in two parts."""


class RegisterPort(Component):
    """Takes accesses apart: a strobe for each register that is written, an answer for each that is read.

    Writes act at least ``ANSWER_CLOCKS + 1`` clocks apart.

    Parameters
    ----------
    registers
        The registers that the design has, by name, as :func:`~ropewalk.gateware.register_map.register_map` gives them.
        The names become those of fields: ``shape`` is not one.
    full_words
        Those that are written whole or not at all: a write with fewer byte strobes answers SLVERR.
    banks
        Registers that a memory holds, in the order of their addresses, by the name of the bank. The first lies at a
        multiple of the power of two that holds them all.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    written : Out
        Of each register that can be written: it is, in this clock, by ``word`` where ``strobes`` are set.
    word, strobes : Out
        What is written: from two clocks before ``written`` to two clocks after it.
    refusal : In
        In the clock of the write: it is answered SLVERR. Who refuses a write ignores it.
    waiting : In
        From the clock after a write on: its answer has to wait.
    values : In
        Of each register that can be read and is in no bank: its value.
    index : Out
        Which word is read, from address 0 on; its low bits are the place in a bank.
    banks : In
        Of each bank, if there is one: its word, :data:`BANK_CLOCKS` clocks after ``index``.
    """

    def __init__(
        self,
        registers: Mapping[str, Register],
        *,
        full_words: Collection[str] = (),
        banks: Mapping[str, Sequence[str]] | None = None,
    ):
        self._registers = dict(registers)
        self._full_words = frozenset(full_words)
        self._banks = dict(banks or {})
        banked = {name for names in self._banks.values() for name in names}
        self._single = {name: one for name, one in registers.items() if one.readable and name not in banked}
        self._writable = {name: one for name, one in registers.items() if one.writable}
        members = {
            **axi_lite_members(""),
            "written": Out(data.StructLayout(dict.fromkeys(self._writable, 1))),
            "word": Out(32),
            "strobes": Out(4),
            "refusal": In(1),
            "waiting": In(1),
            "values": In(data.StructLayout(dict.fromkeys(self._single, 32))),
            "index": Out(ADDRESS_BITS - 2),
        }
        if self._banks:
            members["banks"] = In(data.StructLayout(dict.fromkeys(self._banks, 32)))
        super().__init__(members)

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        self._write(m)
        self._read(m)
        return m

    def _write(self, m: Module) -> None:
        """Take a write, tell who is written, answer."""
        take, under_way = Signal(), Signal()
        address = Signal(ADDRESS_BITS, reset_less=True)
        whole = Signal(reset_less=True)
        m.d.comb += [
            take.eq(self.awvalid & self.wvalid & ~under_way),
            self.awready.eq(take),
            self.wready.eq(take),
        ]
        with m.If(~under_way):
            m.d.sync += [address.eq(self.awaddr), self.word.eq(self.wdata), self.strobes.eq(self.wstrb)]
        # How many clocks ago it was taken: a bit each.
        ago = Signal(WRITE_CLOCKS)
        m.d.sync += [ago.eq(Cat(take, ago)), whole.eq(self.strobes.all())]
        found = decoded(m, address, self._writable, name="write")
        for name, here in found.items():
            allowed = here & whole if name in self._full_words else here
            m.d.sync += self.written[name].eq(ago[1] & allowed)
        fits, refused, answering = Signal(reset_less=True), Signal(reset_less=True), Signal()
        m.d.sync += answering.eq(ago[2] | (answering & self.waiting))
        with m.If(ago[2]):
            m.d.sync += [fits.eq(self.written.as_value().any()), refused.eq(self.refusal)]
        with m.If(take):
            m.d.sync += under_way.eq(1)
        with m.If(answering & ~self.waiting):
            m.d.sync += [self.bvalid.eq(1), self.bresp.eq(Mux(fits & ~refused, OKAY, SLVERR))]
        with m.If(self.bvalid & self.bready):
            m.d.sync += [self.bvalid.eq(0), under_way.eq(0)]

    def _read(self, m: Module) -> None:
        """Take an address, collect what lies there, answer."""
        under_way = Signal()
        address = Signal(ADDRESS_BITS, reset_less=True)
        m.d.comb += [self.arready.eq(~under_way), self.index.eq(address[2:])]
        with m.If(~under_way):
            m.d.sync += [address.eq(self.araddr), under_way.eq(self.arvalid)]
        ago = Signal(ANSWER_CLOCKS - 1)
        m.d.sync += ago.eq(Cat(self.arvalid & self.arready, ago))

        # The sources of a word give 0 where they are not meant, so that an OR joins them.
        found = decoded(m, address, self._single, name="read")
        meant = Signal(len(found), reset_less=True)
        m.d.sync += meant.eq(Cat(found.values()))
        words = [Mux(meant[place], self.values[name], 0) for place, name in enumerate(found)]
        sources: list[Value] = []
        for half in (words[::2], words[1::2]):
            source = Signal(32, name=f"half_{len(sources)}", reset_less=True)
            m.d.sync += source.eq(reduce(or_, half, 0))
            sources.append(source)
        any_meant: list[Value] = [meant.any()]
        for name, registers in self._banks.items():
            inside = Signal(name=f"read_{name}", reset_less=True)
            bank_meant = Signal(name=f"meant_{name}", reset_less=True)
            word = Signal(32, name=f"word_{name}", reset_less=True)
            m.d.sync += [
                inside.eq(within(address, [self._registers[register] for register in registers])),
                bank_meant.eq(inside),
                word.eq(Mux(bank_meant, self.banks[name], 0)),
            ]
            sources.append(word)
            any_meant.append(bank_meant)
        mapped = Signal(reset_less=True)
        m.d.sync += mapped.eq(reduce(or_, any_meant))
        with m.If(ago[-1]):
            m.d.sync += [
                self.rvalid.eq(1),
                self.rdata.eq(reduce(or_, sources)),
                self.rresp.eq(Mux(mapped, OKAY, SLVERR)),
            ]
        with m.If(self.rvalid & self.rready):
            m.d.sync += [self.rvalid.eq(0), under_way.eq(0)]


def decoded(m: Module, address: Value, registers: Mapping[str, Register], *, name: str) -> dict[str, Value]:
    """For each of ``registers``, whether ``address`` was its address a clock ago."""
    pages: dict[int, Signal] = {}
    words: dict[int, Signal] = {}
    found = {}
    for register, one in registers.items():
        page, word = one.address >> PAGE_BITS, one.address >> 2 & 15
        if page not in pages:
            pages[page] = Signal(name=f"{name}_page_{page}", reset_less=True)
            m.d.sync += pages[page].eq((address[PAGE_BITS:] == page) & (address[:2] == 0))
        if word not in words:
            words[word] = Signal(name=f"{name}_word_{word}", reset_less=True)
            m.d.sync += words[word].eq(address[2:PAGE_BITS] == word)
        found[register] = pages[page] & words[word]
    return found


def within(address: Value, bank: Sequence[Register]) -> Value:
    """Whether ``address`` is that of a register of ``bank``."""
    bits = (len(bank) - 1).bit_length() + 2
    first = bank[0].address
    if first % (1 << bits) or [one.address for one in bank] != list(range(first, first + 4 * len(bank), 4)):
        raise ValueError("the registers of a bank must follow each other from a multiple of their number on")
    inside = (address[bits:] == first >> bits) & (address[:2] == 0)
    return inside if len(bank) == 1 << bits - 2 else inside & (address[2:bits] < len(bank))


def sticky_bits(m: Module, events: Collection[Value], cleared: Value, *, name: str) -> Signal:
    """Bits that ``events`` set a clock later and that stay until ``cleared`` has a 1 there; the event wins."""
    happened = Signal(len(events), name=f"{name}_events")
    bits = Signal(len(events), name=name)
    m.d.sync += [happened.eq(Cat(*events)), bits.eq(bits & ~cleared | happened)]
    return bits
