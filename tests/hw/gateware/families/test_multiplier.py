"""The multiplier in every family, with each sign of each operand: products and clocks against Python's integers."""

import random

import pytest
from amaranth.hdl import Cat, Module, Shape
from ropewalk.gateware.primitives import Multiplier

from .bench import FAMILIES, Bench, outputs

SMALL = [(a, b) for a in range(1, 6) for b in range(1, 6)]

WIDE = [(a, b) for a in (16, 17, 18) for b in (16, 17, 18)]
"""On both sides of the width of an iCE40's block."""

IN_USE = [(8, 16), (9, 16), (9, 8), (18, 14), (17, 13), (4, 18), (6, 18), (18, 8)]
"""What the units have beside those, at 16- and 18-bit coefficients."""

SIGNS = [(first, second) for first in (False, True) for second in (False, True)]


class Multipliers(Bench):
    """A multiplier of each of ``shapes``, all fed from the low bits of the same two words of 18 bits."""

    def __init__(self, shapes):
        self.parts = [Multiplier(a, b) for a, b in shapes]
        super().__init__(36, sum(len(part.p) for part in self.parts))

    def elaborate(self, platform):
        m = Module()
        for number, part in enumerate(self.parts):
            m.submodules[f"part_{number}"] = part
            m.d.comb += [part.a.eq(self.row[:18]), part.b.eq(self.row[18:])]
        m.d.comb += self.out.eq(Cat(part.p for part in self.parts))
        return m


def number(bits: int, shape: Shape) -> int:
    low = bits & (1 << shape.width) - 1
    return low - (1 << shape.width) if shape.signed and low >> shape.width - 1 else low


def check(widths, rows, family, folder) -> None:
    shapes = [(Shape(a, first), Shape(b, second)) for a, b in widths for first, second in SIGNS]
    farm = Multipliers(shapes)
    lengths = [len(part.p) for part in farm.parts]
    seen = outputs(farm, [a | b << 18 for a, b in rows], family=family, folder=folder)
    # Before edge n + 3 the operands of row n are in, and after it the product is out: the third of three registers.
    for (a, b), bits in zip(rows, seen[Multiplier.latency - 1 :], strict=False):
        at = 0
        for (first, second), length in zip(shapes, lengths, strict=True):
            product = number(a, first) * number(b, second) & (1 << length) - 1
            assert int(bits[at : at + length][::-1], 2) == product, (first, second, a, b)
            at += length


@pytest.mark.parametrize("family", FAMILIES)
def test_every_product_of_small_operands(family, tmp_path):
    rows = [(a, b) for a in range(32) for b in range(32)]
    check(SMALL, [*rows, *rows[:2]], family, tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_products_of_wide_operands(family, tmp_path):
    source = random.Random(6)
    widths = sorted({width for pair in (*WIDE, *IN_USE) for width in pair})
    ends = [0, 1, (1 << 18) - 1] + [word for width in widths for word in (1 << width - 1, (1 << width - 1) - 1)]
    rows = [(a, b) for a in ends for b in ends]
    rows += [(source.getrandbits(18), source.getrandbits(18)) for _ in range(80)]
    check([*WIDE, *IN_USE], rows, family, tmp_path)


def test_an_operand_that_no_block_takes_is_refused():
    multiplier = Multiplier.__new__(Multiplier)
    multiplier._MustUse__used = True  # there will be none to use
    with pytest.raises(ValueError, match="no DSP block takes operands of 19 and 4 bits"):
        multiplier.__init__(Shape(19), Shape(4))
