"""Lattice iCE40 UltraPlus: SB_MAC16 with its own registers in use; block RAMs are inferred.

SB_MAC16
    Operands of up to 16 bits, each with its own sign, and all three levels of registers: operands, the four products
    of 8 x 8 bits, and their sum. Of an operand of 17 or 18 bits the block takes the low 16, and holds its operands and
    its product only; what the bits above add is computed beside it, and added in the third clock. The adder of 32 bits
    behind the product adds it to another word or subtracts it, as a wire says: two blocks make a sum of two products
    with any signs.

SB_RAM40_4K
    Has no output register, so there is nothing to gain by instantiating it. No RAM becomes flip-flops, and no logic
    watches for a word that is read while it is written.

There is no distributed RAM: a few words that are read in the same clock become flip-flops.
"""

from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, Shape, Signal, Value

from ..pipeline import delayed
from .form import Form, Operands, most_of

OPERAND_BITS, PRODUCT_BITS = 16, 32

EIGHT_BIT_REGISTERS = ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1")
"""Parameters of the registers of the products of 8 x 8 bits."""

HALVES = "TOP", "BOT"
"""Of the adder and of the output."""

SUM_OUT, PRODUCT_OUT = 1, 3
"""The output is the register behind the adder, or the product of 16 x 16 bits before it."""

ADDS_PRODUCT, ADDS_OTHER = 2, 1
"""What the adder takes: that product, and C and D."""

NO_CARRY, CARRY_FROM_BELOW = 0, 2
"""What is carried into a half of the adder. What leaves the lower half as it is goes into the upper one: a difference
is made of complements, which nothing has to know."""


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

    def adds_products(self, a: Shape, b: Shape, constant: int) -> bool:
        """Whether the operands are those of two blocks, and the sum of the first is a word with sign of its adder."""
        return max(a.width, b.width) <= OPERAND_BITS and most_of(a, b) + constant < 1 << PRODUCT_BITS - 1

    def multiply_add(self, first: Operands, second: Operands, negative: Signal, constant: int, p: Signal) -> Module:
        """Two SB_MAC16: one adds its product to the constant, the other adds its own to that; no logic but delays.

        The adder of the second has 32 bits, and the sum may have one more, its sign. That is the sign of the summands
        where they have the same, and else that of the 32 bits, since then these hold the sum.
        """
        (a0, b0), (a1, b1) = first, second
        if not self.adds_products(a0.shape(), b0.shape(), constant):
            return super().multiply_add(first, second, negative, constant, p)
        m = Module()
        other = Signal(PRODUCT_BITS)
        total = Signal(Shape(PRODUCT_BITS, signed=True))
        # The second block's product is there when the first one's sum is in its register: two clocks later.
        a_late, b_late = delayed(m, a1, 2, name="a1_waits"), delayed(m, b1, 2, name="b1_waits")
        late = delayed(m, negative[1], 2, name="negative1_waits")
        m.submodules.first = _adding_block(
            _low(m, a0, "a0"),
            _low(m, b0, "b0"),
            Const(constant, PRODUCT_BITS),
            delayed(m, negative[0], 3, name="negative0_held"),
            other,
            held=False,
        )
        m.submodules.second = _adding_block(
            _low(m, a_late, "a1"),
            _low(m, b_late, "b1"),
            other,
            delayed(m, late, 3, name="negative1_held"),
            total,
            held=True,
        )
        if len(p) <= PRODUCT_BITS:
            m.d.comb += p.eq(total)
            return m
        # A product of 0 may pass for a negative one: the sum is the other summand then, and its sign is right anyhow.
        sign = delayed(m, _is_negative(a_late) ^ _is_negative(b_late) ^ late, 4, name="sign")
        other_sign = delayed(m, other[-1], 2, name="other_sign")
        m.d.comb += p.eq(Cat(total, Mux(sign == other_sign, sign, total[-1])))
        return m


def _is_negative(value: Signal) -> Value:
    """The sign of a word, 0 where it has none."""
    return value[-1] if value.shape().signed else Const(0, 1)


def _low(m: Module, value: Signal, name: str) -> Signal:
    """What the block takes of an operand: all of it with its sign, or the low bits of a wider one without."""
    signed = value.shape().signed and len(value) <= OPERAND_BITS
    low = Signal(Shape(OPERAND_BITS, signed), name=f"{name}_low")
    m.d.comb += low.eq(value)
    return low


def _block(a: Signal, b: Signal, product: Signal, *, registers: int) -> Instance:
    """One SB_MAC16 that multiplies, with two registers on the way or with three."""
    return Instance(
        "SB_MAC16",
        **_multiplier(a, b, first_product=registers == 3),
        p_TOPOUTPUT_SELECT=Const(PRODUCT_OUT, 2),
        p_BOTOUTPUT_SELECT=Const(PRODUCT_OUT, 2),
        **_adder_pins(Const(0, 2 * OPERAND_BITS), Const(0)),
        o_O=product,
    )


def _adding_block(a: Signal, b: Signal, other: Value, negative: Value, total: Signal, *, held: bool) -> Instance:
    """One SB_MAC16 that adds its product to another word, or subtracts it: four registers on the way.

    ``held``: the other word has a register of the block's own, and is there one clock before the sum; without it, when
    the sum is.  The adder is that of the block's 32 bits: its upper half takes the carry out of the lower.
    """
    return Instance(
        "SB_MAC16",
        p_C_REG=Const(held),
        p_D_REG=Const(held),
        **_multiplier(a, b, first_product=True),
        **{f"p_{half}OUTPUT_SELECT": Const(SUM_OUT, 2) for half in HALVES},
        **{f"p_{half}ADDSUB_LOWERINPUT": Const(ADDS_PRODUCT, 2) for half in HALVES},
        **{f"p_{half}ADDSUB_UPPERINPUT": Const(ADDS_OTHER, 1) for half in HALVES},
        p_TOPADDSUB_CARRYSELECT=Const(CARRY_FROM_BELOW, 2),
        p_BOTADDSUB_CARRYSELECT=Const(NO_CARRY, 2),
        **_adder_pins(other, negative),
        o_O=total,
    )


def _multiplier(a: Signal, b: Signal, *, first_product: bool) -> dict[str, Any]:
    """Parameters and ports of the multiplier of a block, with or without the registers of the products of 8 bits."""
    return {
        "p_A_REG": Const(1),
        "p_B_REG": Const(1),
        **{f"p_{name}": Const(first_product) for name in EIGHT_BIT_REGISTERS},
        "p_PIPELINE_16x16_MULT_REG2": Const(1),
        "p_A_SIGNED": Const(a.shape().signed),
        "p_B_SIGNED": Const(b.shape().signed),
        "i_CLK": ClockSignal(),
        "i_CE": Const(1),
        "i_A": a,
        "i_B": b,
    }


def _adder_pins(other: Value, negative: Value) -> dict[str, Any]:
    """Ports of the adder of a block, and of what no register of ours has: holds, resets and loads."""
    return {
        "i_C": other[OPERAND_BITS:],
        "i_D": other[:OPERAND_BITS],
        **{f"i_ADDSUB{half}": negative for half in HALVES},
        **{f"i_{operand}HOLD": Const(0) for operand in "ABCD"},
        **{f"i_{port}{half}": Const(0) for half in HALVES for port in ("IRST", "ORST", "OHOLD", "OLOAD")},
        **{f"i_{port}": Const(0) for port in ("CI", "ACCUMCI", "SIGNEXTIN")},
    }


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
