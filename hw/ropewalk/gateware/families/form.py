"""What a family's form of the primitives is, and the portable one, which leaves the choice to the synthesis tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Mux, Shape, Signal, Value

from ..contents import RomContents
from ..pipeline import delayed

OPERAND_BITS = 18
"""Most bits of an operand of a multiplier, signed or unsigned."""


Operands = tuple[Signal, Signal]
"""The two operands of a product."""


def most_of(a: Shape, b: Shape) -> int:
    """The largest magnitude of a product of two words."""
    first, second = ((1 << shape.width - 1) if shape.signed else (1 << shape.width) - 1 for shape in (a, b))
    return first * second


@dataclass(frozen=True, eq=False)
class WritePort:
    """The signals that write a memory."""

    enable: Value
    address: Value
    data: Value


class Form:
    """The portable form of the primitives, and the base of the others.

    A form computes what :mod:`..primitives` promises, in as many clocks, with the registers where the part has them.
    """

    multiplier_attributes: Mapping[str, Any] = {}
    """Of the product of a multiplier."""

    rom_attributes: Mapping[str, Any] = {"rom_style": "block"}
    """Of a ROM that is inferred. Without it Yosys makes logic of small ones, slower than a block RAM."""

    ram_attributes: Mapping[str, Any] = {"no_rw_check": 1}
    """Of a RAM that is inferred. Without it Yosys adds registers and a comparison, for a word that is read while it is
    written: no user does that."""

    small_ram_attributes: Mapping[str, Any] = {"ram_style": "distributed"}
    """Of a RAM of a few words, which is to lie in look-up tables where the part has such RAM, not in registers."""

    def bank_words(self, width: int, depth: int) -> int:
        """Words of a bank, where a memory of ``depth`` words of ``width`` bits is to have several; else ``depth``.

        A bank takes one block from its first word to its last, so that each block is followed by a register.
        """
        return depth

    def multiplier(self, a: Signal, b: Signal, p: Signal) -> Module:
        """``p`` becomes ``a * b`` after three clocks: operand, pipeline and result registers."""
        m = Module()
        first = Signal(a.shape(), name="a_register", reset_less=True)
        second = Signal(b.shape(), name="b_register", reset_less=True)
        pipeline = Signal(p.shape(), reset_less=True, attrs=dict(self.multiplier_attributes))
        result = Signal(p.shape(), reset_less=True)
        m.d.sync += [first.eq(a), second.eq(b), pipeline.eq(first * second), result.eq(pipeline)]
        m.d.comb += p.eq(result)
        return m

    def adds_products(self, a: Shape, b: Shape, constant: int) -> bool:
        """Whether the family's blocks add two such products and the constant themselves."""
        return False

    def multiply_add(self, first: Operands, second: Operands, negative: Signal, constant: int, p: Signal) -> Module:
        """``p`` becomes the sum of two products, each negated where that is asked for, and the constant: six clocks.

        Two multipliers; a carry chain that complements their products; another for the constant and what a second
        complement lacks; a register.
        """
        m = Module()
        products = []
        for number, (a, b) in enumerate((first, second)):
            product = Signal((a * b).shape(), name=f"product_{number}")
            m.submodules[f"multiplier_{number}"] = self.multiplier(a, b, product)
            products.append(product)
        signs = delayed(m, negative, 3, name="negative_waits")
        bits = len(p)
        total = Signal(bits, reset_less=True)
        whole = Signal(bits, reset_less=True)
        result = Signal(bits, reset_less=True)
        one = delayed(m, signs[1], 1, name="one")
        summed = self.signed_sum(
            m, products[0], products[1], bits, complements=(signs[0], signs[1]), carry=signs[0], name="total"
        )
        m.d.sync += [total.eq(summed), whole.eq(total + constant + one), result.eq(whole)]
        m.d.comb += p.eq(result)
        return m

    def gated_sum(self, m: Module, value: Value, first: Value, second: Value, *, negative: bool, name: str) -> Value:
        """``value`` where ``first``, and twice ``value``, added or ``negative``, where ``second``. No register.

        Two bits more than ``value``, in two's complement where the second is ``negative``.
        """
        once, twice = Mux(first, value, 0), Mux(second, value, 0) << 1
        return (once - twice if negative else once + twice)[: len(value) + 2]

    def sum_of(
        self, m: Module, first: Value, second: Value, bits: int, *, complement: Value | None, name: str
    ) -> Value:
        """The low ``bits`` bits of a sum, or their complement where that is asked for and high. No register."""
        total = (first + second)[:bits]
        return total if complement is None else total ^ complement.replicate(bits)

    def signed_sum(
        self,
        m: Module,
        first: Value,
        second: Value,
        bits: int,
        *,
        complements: tuple[Value, Value],
        carry: Value,
        name: str,
    ) -> Value:
        """The sum of two words of ``bits`` bits, of each its complement where that is asked for, and of a carry.

        Shorter words are extended by their own sign, if they have one. One bit more than they have is the carry out.
        No register.
        """
        terms = []
        for word, complement in zip((first, second), complements, strict=True):
            wide = Signal(bits, name=f"{name}_term_{len(terms)}")
            m.d.comb += wide.eq(word)
            terms.append(wide ^ complement.replicate(bits))
        return (terms[0] + terms[1] + carry)[: bits + 1]

    def takes(self, contents: RomContents) -> bool:
        """Whether :meth:`memory` makes a memory of such a size: its words then stand in the Verilog, not in a file."""
        return False

    def memory(
        self, name: str, contents: RomContents, *, address: Signal, data: Signal, write: WritePort | None
    ) -> Module:
        """A memory of blocks of the part, ``data`` two clocks after ``address``; a ROM without ``write``."""
        raise NotImplementedError(f"{type(self).__name__} leaves every memory to the synthesis tool")


PORTABLE = Form()
