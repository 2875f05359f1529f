"""Gowin LittleBee and Arora: MULT18X18 with its own registers in use; block RAMs are inferred.

MULT18X18
    Operand, pipeline and output registers are on; nextpnr and Apicula place and pack them. Each operand has its own
    sign.

SDPB, SDPX9B
    Inferred by Yosys, with the output register in logic. The block's own (``READ_MODE``) does not work on every part
    in every width; nextpnr puts it back into logic there.
"""

from amaranth.hdl import ClockSignal, Const, Instance, Module, Shape, Signal

from .form import OPERAND_BITS, Form

PRODUCT_BITS = 2 * OPERAND_BITS


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
