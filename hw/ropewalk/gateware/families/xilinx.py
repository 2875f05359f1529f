"""Xilinx 7 series: everything is inferred, by Vivado and by Yosys.

The portable form is what their tools pack: operands, two product registers and no reset fill a DSP48E1 (AREG, BREG,
MREG, PREG), and so do a product and its sum with another word (PREG behind the sum, CREG). Vivado moves the output
register of a memory into its block RAM; Yosys leaves it in logic.
"""

from amaranth.hdl import Module, Shape, Signal, Value

from ..pipeline import delayed
from .form import OPERAND_BITS, Form, Operands

NARROW_BITS = 18
"""Of the narrower operand of a DSP48E1, with a sign as the other has, of 25 bits."""


class Xilinx(Form):
    """See the module."""

    multiplier_attributes = {"use_dsp": "yes"}

    def adds_products(self, a: Shape, b: Shape, constant: int) -> bool:
        """Whether a block takes both operands with a sign, the first negated."""
        widths = _negatable(a).width, b.width + (not b.signed)
        return max(a.width, b.width) <= OPERAND_BITS and min(widths) <= NARROW_BITS

    def multiply_add(self, first: Operands, second: Operands, negative: Signal, constant: int, p: Signal) -> Module:
        """Two DSP48E1, inferred, with all their registers: one adds the constant, the other what that gives.

        That goes by the second one's C and its register. The cascade between the blocks would spare this clock; Yosys
        uses it only where the first block adds nothing.
        """
        if not self.adds_products(first[0].shape(), first[1].shape(), constant):
            return super().multiply_add(first, second, negative, constant, p)
        m = Module()
        total: Signal | None = None
        for number, (a, b) in enumerate((first, second)):
            operand = _negated(m, a, negative[number], name=f"a{number}")
            operand = delayed(m, operand, 1 + 2 * number, name=f"a{number}_in")
            coefficient = delayed(m, b, 2 + 2 * number, name=f"b{number}_in")
            shape = (operand * coefficient).shape()
            product = Signal(shape, name=f"product_{number}", reset_less=True, attrs=dict(self.multiplier_attributes))
            summed = Signal(Shape(len(p), signed=True), name=f"sum_{number}", reset_less=True)
            m.d.sync += [
                product.eq(operand * coefficient),
                summed.eq(product + (constant if total is None else delayed(m, total, 1, name="other"))),
            ]
            total = summed
        assert total is not None
        m.d.comb += p.eq(total)
        return m


def _negatable(shape: Shape) -> Shape:
    """Of a word of that shape that may have been negated."""
    return Shape(shape.width + 1, signed=True)


def _negated(m: Module, value: Signal, negative: Value, *, name: str) -> Signal:
    """``value`` or what it is negated, in a register."""
    register = Signal(_negatable(value.shape()), name=f"{name}_negated", reset_less=True)
    wide = Signal(register.shape(), name=f"{name}_as_it_is")
    m.d.comb += wide.eq(value)
    m.d.sync += register.eq((wide ^ negative.replicate(len(wide))).as_signed() + negative)
    return register
