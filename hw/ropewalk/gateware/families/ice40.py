"""Lattice iCE40 UltraPlus: SB_MAC16 with its own registers in use; block RAMs are inferred.

SB_MAC16
    Operands of up to 16 bits, each with its own sign, and all three levels of registers: operands, the four products
    of 8 x 8 bits, and their sum. Of an operand of 17 or 18 bits the block takes the low 16, and holds its operands and
    its product only; what the bits above add is computed beside it, and added in the third clock.

SB_RAM40_4K
    Has no output register, so there is nothing to gain by instantiating it. No RAM becomes flip-flops, and no logic
    watches for a word that is read while it is written.

There is no distributed RAM: a few words that are read in the same clock become flip-flops.
"""

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, Shape, Signal, Value

from .form import Form

OPERAND_BITS, PRODUCT_BITS = 16, 32

EIGHT_BIT_REGISTERS = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1")
"""Parameters of the registers of the products of 8 x 8 bits."""

PRODUCT_OUT = 3
"""The output is the product of 16 x 16 bits, not that of the adder behind it."""


class Ice40(Form):
    """See the module."""

    ram_attributes = {**Form.ram_attributes, "ram_style": "block"}
    # There is no RAM in look-up tables, and Yosys refuses a memory that asks for it.
    small_ram_attributes = {}

    def multiplier(self, a: Signal, b: Signal, p: Signal) -> Module:
        """One SB_MAC16, and logic for the bits of an operand above 16."""
        m = Module()
        wider = max(len(a), len(b)) > OPERAND_BITS
        a_low, b_low = _low(m, a, "a"), _low(m, b, "b")
        product = Signal(Shape(PRODUCT_BITS, a_low.shape().signed or b_low.shape().signed))
        m.submodules.block = _block(a_low, b_low, product, registers=2 if wider else 3)
        if not wider:
            m.d.comb += p.eq(product)
            return m
        extra = _above(m, a, b, len(p) - OPERAND_BITS)
        below = Signal(OPERAND_BITS, reset_less=True)
        above = Signal(len(p) - OPERAND_BITS, reset_less=True)
        m.d.sync += [below.eq(product), above.eq((product >> OPERAND_BITS) + extra)]
        m.d.comb += p.eq(Cat(below, above))
        return m


def _low(m: Module, value: Signal, name: str) -> Signal:
    """What the block takes of an operand: all of it with its sign, or the low bits of a wider one without."""
    signed = value.shape().signed and len(value) <= OPERAND_BITS
    low = Signal(Shape(OPERAND_BITS, signed), name=f"{name}_low")
    m.d.comb += low.eq(value)
    return low


def _block(a: Signal, b: Signal, product: Signal, *, registers: int) -> Instance:
    """One SB_MAC16 that multiplies, with two registers on the way or with three."""
    halves = {
        f"i_{port}{side}": Const(0) for side in ("TOP", "BOT") for port in ("IRST", "ORST", "OHOLD", "OLOAD", "ADDSUB")
    }
    return Instance(
        "SB_MAC16",
        p_A_REG=Const(1),
        p_B_REG=Const(1),
        **{f"p_{name}": Const(registers == 3) for name in EIGHT_BIT_REGISTERS},
        p_PIPELINE_16x16_MULT_REG2=Const(1),
        p_TOPOUTPUT_SELECT=Const(PRODUCT_OUT, 2),
        p_BOTOUTPUT_SELECT=Const(PRODUCT_OUT, 2),
        p_A_SIGNED=Const(a.shape().signed),
        p_B_SIGNED=Const(b.shape().signed),
        i_CLK=ClockSignal(),
        i_CE=Const(1),
        i_A=a,
        i_B=b,
        i_C=Const(0, OPERAND_BITS),
        i_D=Const(0, OPERAND_BITS),
        **{f"i_{operand}HOLD": Const(0) for operand in "ABCD"},
        **halves,
        **{f"i_{port}": Const(0) for port in ("CI", "ACCUMCI", "SIGNEXTIN")},
        o_O=product,
    )


def _above(m: Module, a: Signal, b: Signal, bits: int) -> Signal:
    """What the bits above 16 add to the product two clocks later, in units of ``2**16`` and modulo ``2**bits``.

    ``a * b`` is ``low(a) * low(b)`` and, in those units, ``above(a) * b + low(a) * above(b)``. There is no ``*`` in
    it: synthesis for this family makes wrong multipliers of narrow signed operands.
    """
    first, second = (
        Signal(value.shape(), name=f"{name}_register", reset_less=True) for value, name in ((a, "a"), (b, "b"))
    )
    m.d.sync += [first.eq(a), second.eq(b)]
    first_low = first[:OPERAND_BITS] if len(a) > OPERAND_BITS else first
    total: Value = Const(0)
    for wide, other in ((first, second), (second, first_low)):
        for place in range(OPERAND_BITS, len(wide)):
            part = Mux(wide[place], other, 0) << place - OPERAND_BITS
            negative = wide.shape().signed and place == len(wide) - 1
            total = total - part if negative else total + part
    extra = Signal(bits, reset_less=True)
    m.d.sync += extra.eq(total)
    return extra
