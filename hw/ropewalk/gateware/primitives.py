"""The registered building blocks: multiplier, multiply-add, block ROM and block RAM, each with one latency.

The portable form is written so that the registers can move into the DSP blocks and block RAMs of a part: no reset, no
clock enable, no initial value on a register in the datapath. Each family's form (:mod:`.families`) computes the same
bits in as many clocks; the platform that a component is elaborated for says whose it is.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from amaranth.hdl import Instance, Module, Shape, Signal, unsigned
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .component import Component
from .contents import RomContents
from .families import form_of
from .families.form import OPERAND_BITS, WritePort, most_of


class Multiplier(Component):
    """The exact product of two words that each fit one DSP operand.

    Latency 3 clocks (operand, pipeline and result registers), one product per clock, one DSP block. An operand has at
    most 18 bits, with or without a sign; ``ValueError`` where one has more.

    Members
    -------
    a, b : In
        The operands.
    p : Out
        ``a * b``, three clocks later.
    """

    latency = 3

    def __init__(self, a: Shape, b: Shape):
        if max(a.width, b.width) > OPERAND_BITS:
            raise ValueError(f"no DSP block takes operands of {a.width} and {b.width} bits: split them")
        product = (Signal(a) * Signal(b)).shape()
        super().__init__({"a": In(a), "b": In(b), "p": Out(product)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        return form_of(platform).multiplier(self.a, self.b, self.p)


class MultiplyAdd(Component):
    """The exact sum of two products, each negated where that is asked for, and of a constant.

    Latency 6 clocks, one sum per clock. It is for the part's own multiply-add, where the family's form has one
    (:meth:`~.families.form.Form.adds_products`): two DSP blocks, and the adders behind their multipliers. Others make
    the same of two multipliers and carry chains. The clocks are those of two blocks of which one adds what the other
    gives: operands, product in two registers and its sum with the constant, the way to the second block, the sum there.

    Parameters
    ----------
    a, b
        Shapes of the first and the second operand of either product, of at most 18 bits.
    constant
        Added to the sum, of at most 36 bits without a sign: what rounds it, so that this takes no adder.

    Members
    -------
    a0, b0, a1, b1 : In
        The operands.
    negative : In
        Whether the first product, and whether the second, is subtracted.
    p : Out
        ``constant + a0 * b0 + a1 * b1``, with ``-`` where a product is subtracted, six clocks later.
    """

    latency = 6

    def __init__(self, a: Shape, b: Shape, *, constant: int = 0):
        if max(a.width, b.width) > OPERAND_BITS:
            raise ValueError(f"no DSP block takes operands of {a.width} and {b.width} bits: split them")
        if not 0 <= constant < 1 << 2 * OPERAND_BITS:
            raise ValueError(f"the constant must be a word of {2 * OPERAND_BITS} bits, not {constant!r}")
        self._constant = constant
        most = 2 * most_of(a, b)
        total = Shape.cast(range(-most, most + constant + 1))
        members = {"a0": In(a), "b0": In(b), "a1": In(a), "b1": In(b), "negative": In(2), "p": Out(total)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:  # noqa: D102
        first, second = (self.a0, self.b0), (self.a1, self.b1)
        return form_of(platform).multiply_add(first, second, self.negative, self._constant, self.p)


@runtime_checkable
class RomPlacer(Protocol):
    """An elaboration platform that makes ROMs its own way, as the emission of Verilog does.

    Amaranth carries every bit of a memory's contents through its netlist: 0.1 ms a word, minutes for a table.
    """

    def place_rom(self, name: str, contents: RomContents, *, address: Signal, data: Signal) -> Instance:
        """A ROM that is read every clock; ``data`` follows ``address`` by one clock."""
        ...


@runtime_checkable
class RamPlacer(Protocol):
    """An elaboration platform that makes large RAMs with initial words its own way: see :class:`RomPlacer`."""

    def place_ram(
        self,
        name: str,
        contents: RomContents,
        *,
        write_enable: Signal,
        write_address: Signal,
        write_data: Signal,
        address: Signal,
        data: Signal,
    ) -> Instance:
        """A RAM that is read every clock; ``data`` follows ``address`` by one clock.

        ``write_enable`` has a bit for each bank, of which ``write_data`` is as wide as one.
        """
        ...


class BlockRom(Component):
    """A ROM that is read every clock, with the output register of the block RAM in use.

    Latency 2 clocks, one word per clock. Addresses past ``depth`` must not be used under a valid.

    Members
    -------
    address : In
        The word to read.
    data : Out
        The word, two clocks later.
    """

    latency = 2

    def __init__(self, contents: RomContents, *, name: str):
        width, words = contents.width, contents.words
        if len(words) > contents.depth:
            raise ValueError(f"ROM {name!r} of {contents.depth} words cannot hold {len(words)}")
        # Amaranth wraps words that do not fit, and says nothing.
        if any(type(word) is not int or not 0 <= word < 1 << width for word in words):
            raise ValueError(f"the words of ROM {name!r} must be plain integers of {width} bits")
        self._contents = contents
        self._name = name
        super().__init__({"address": In(range(contents.depth)), "data": Out(width)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        contents = self._contents
        form = form_of(platform)
        if form.takes(contents):
            return form.memory(self._name, contents, address=self.address, data=self.data, write=None)
        m = Module()
        output = Signal(contents.width, reset_less=True)
        m.d.comb += self.data.eq(output)
        if isinstance(platform, RomPlacer):
            word = Signal(contents.width)
            m.submodules[self._name] = platform.place_rom(self._name, contents, address=self.address, data=word)
            m.d.sync += output.eq(word)
            return m
        memory = Memory(
            shape=unsigned(contents.width),
            depth=contents.depth,
            init=contents.words,
            attrs=dict(form.rom_attributes),
        )
        m.submodules[self._name] = memory
        port = memory.read_port()
        m.d.comb += port.addr.eq(self.address)
        m.d.sync += output.eq(port.data)
        return m


class BlockRam(Component):
    """A memory with one write port and one read port that is read every clock; ``words`` are there at the start.

    Latency 2 clocks from address to data. A word must not be read in the clock in which it is written: users prove
    that they do not. ``placed`` leaves a memory of many words to the platform, where that makes them its own way.

    Such a memory may consist of ``banks``: each has an equal part of the bits of a word, and is written by itself.

    Members
    -------
    write_enable, write_address, write_data : In
        Writes one word, of the banks whose bits are set.
    address : In
        The word to read.
    data : Out
        The word, two clocks later.
    """

    latency = 2

    def __init__(
        self,
        *,
        width: int,
        depth: int,
        name: str,
        words: Sequence[int] = (),
        placed: bool = False,
        banks: int = 1,
    ):
        assert width % banks == 0 and (banks == 1 or placed)
        self._banks = banks
        self._contents = RomContents(width, depth, list(words), "file" if placed else "ram")
        self._name = name
        super().__init__(
            {
                "write_enable": In(banks),
                "write_address": In(range(depth)),
                "write_data": In(width // banks),
                "address": In(range(depth)),
                "data": Out(width),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        contents = self._contents
        form = form_of(platform)
        if form.takes(contents):
            write = WritePort(enable=self.write_enable, address=self.write_address, data=self.write_data)
            return form.memory(self._name, contents, address=self.address, data=self.data, write=write)
        m = Module()
        output = Signal(contents.width, reset_less=True)
        if contents.kind == "file" and isinstance(platform, RamPlacer):
            word = Signal(contents.width)
            m.submodules[self._name] = platform.place_ram(
                self._name,
                contents,
                write_enable=self.write_enable,
                write_address=self.write_address,
                write_data=self.write_data,
                address=self.address,
                data=word,
            )
            m.d.comb += self.data.eq(output)
            m.d.sync += output.eq(word)
            return m
        # No word is read while it is written, so that no logic need say what is read then.
        attributes: dict[str, Any] = {"no_rw_check": 1, **form.ram_attributes}
        memory = Memory(
            shape=unsigned(contents.width),
            depth=contents.depth,
            init=contents.words,
            attrs=attributes,
        )
        m.submodules[self._name] = memory
        write = memory.write_port(granularity=contents.width // self._banks if self._banks > 1 else None)
        read = memory.read_port()
        m.d.comb += [
            write.en.eq(self.write_enable),
            write.addr.eq(self.write_address),
            write.data.eq(self.write_data if self._banks == 1 else self.write_data.replicate(self._banks)),
            read.addr.eq(self.address),
            self.data.eq(output),
        ]
        m.d.sync += output.eq(read.data)
        return m
