"""Gowin LittleBee and Arora: MULT18X18 and MULTADDALU18X18 with their own registers in use; block RAMs are inferred.

MULT18X18
    Operand, pipeline and output registers are on; nextpnr and Apicula place and pack them. Each operand has its own
    sign.

MULTADDALU18X18
    Two products, their sum and a constant, with all registers on but that of the constant. What it subtracts is fixed
    by parameters, so operands are negated before it.

SDPB, SDPX9B
    Inferred by Yosys, with the output register in logic. The block's own (``READ_MODE``) does not work on every part
    in every width; nextpnr puts it back into logic there.
"""

from amaranth.hdl import ClockSignal, Const, Instance, Module, Shape, Signal

from ..delay import delayed
from .form import OPERAND_BITS, Form, Operands, negatable, negated

PRODUCT_BITS = 2 * OPERAND_BITS

SUM_BITS = 54
"""Of the adder of a MULTADDALU18X18."""

SUM_REGISTERS = ("A0REG", "B0REG", "A1REG", "B1REG", "PIPE0_REG", "PIPE1_REG", "OUT_REG")
"""Its registers."""


class Gowin(Form):
    """See the module."""

    def multiplier(self, a: Signal, b: Signal, p: Signal) -> Module:
        """One MULT18X18."""
        m = Module()
        product = Signal(PRODUCT_BITS)
        operands = {}
        for port, value in (("A", a), ("B", b)):
            wide = Signal(Shape(OPERAND_BITS, value.shape().signed), name=f"{port.lower()}_wide")
            m.d.comb += wide.eq(value)
            operands |= {
                f"i_{port}": wide,
                f"i_{port}SIGN": Const(value.shape().signed),
                f"i_{port}SEL": Const(0),
                f"i_SI{port}": Const(0, OPERAND_BITS),
            }
        m.submodules.block = Instance(
            "MULT18X18",
            **{f"p_{register}": Const(1) for register in ("AREG", "BREG", "PIPE_REG", "OUT_REG")},
            p_MULT_RESET_MODE="SYNC",
            **operands,
            i_CLK=ClockSignal(),
            i_CE=Const(1),
            i_RESET=Const(0),
            o_DOUT=product,
        )
        m.d.comb += p.eq(product)
        return m

    def adds_products(self, a: Shape, b: Shape, constant: int) -> bool:
        """Whether the first operands still fit where they have been negated."""
        return negatable(a).width <= OPERAND_BITS and b.width <= OPERAND_BITS

    def multiply_add(self, first: Operands, second: Operands, negative: Signal, constant: int, p: Signal) -> Module:
        """One MULTADDALU18X18, whose first operands are negated before it: what it subtracts is fixed."""
        if not self.adds_products(first[0].shape(), first[1].shape(), constant):
            return super().multiply_add(first, second, negative, constant, p)
        m = Module()
        total = Signal(SUM_BITS)
        ports = {}
        for number, (a, b) in enumerate((first, second)):
            operands = (
                negated(m, a, negative[number], clocks=2, name=f"a{number}"),
                delayed(m, b, 2, name=f"b{number}_waits"),
            )
            for port, value in zip("AB", operands, strict=True):
                wide = Signal(Shape(OPERAND_BITS, value.shape().signed), name=f"{port.lower()}{number}_wide")
                m.d.comb += wide.eq(value)
                ports[f"i_{port}{number}"] = wide
        m.submodules.block = Instance(
            "MULTADDALU18X18",
            **{f"p_{register}": Const(1) for register in SUM_REGISTERS},
            p_MULT_RESET_MODE="SYNC",
            p_MULTADDALU18X18_MODE=0,
            **ports,
            i_ASIGN=Const(3, 2),
            i_BSIGN=Const(3 * first[1].shape().signed, 2),
            i_ASEL=Const(0, 2),
            i_BSEL=Const(0, 2),
            i_SIA=Const(0, OPERAND_BITS),
            i_SIB=Const(0, OPERAND_BITS),
            i_C=Const(constant, SUM_BITS),
            i_CASI=Const(0, SUM_BITS + 1),
            i_ACCLOAD=Const(0),
            i_CLK=ClockSignal(),
            i_CE=Const(1),
            i_RESET=Const(0),
            o_DOUT=total,
        )
        # A clock less than blocks one behind the other take.
        m.d.comb += p.eq(delayed(m, total[: len(p)], 1, name="total_waits"))
        return m
