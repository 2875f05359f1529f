"""Products of look-up tables, emitted for each family, in Icarus with the models of its cells; and their area."""

import random

import pytest
from amaranth.hdl import Cat, Module, Shape, unsigned
from ropewalk.boards.placement import place
from ropewalk.boards.synthesis import synthesise
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.families.ecp5_carry import ChainBit
from ropewalk.gateware.logic_product import LogicProduct

from .bench import Bench, outputs

FAMILIES = ("generic", "ecp5")
"""Those with a form of their own; the others have the portable one."""

CLOCKS = 4


class Products(Bench):
    """A product for each pair of widths, signed and not, all fed from the low bits of the same two words."""

    def __init__(self, widths):
        self.parts = [
            LogicProduct(Shape(a, signed), unsigned(b), clocks=CLOCKS) for a, b in widths for signed in (True, False)
        ]
        super().__init__(37, sum(len(part.p) for part in self.parts))

    def elaborate(self, platform):
        m = Module()
        for number, part in enumerate(self.parts):
            m.submodules[f"part_{number}"] = part
            m.d.comb += [part.a.eq(self.row[:18]), part.b.eq(self.row[18:36]), part.complement.eq(self.row[36])]
        m.d.comb += self.out.eq(Cat(part.p for part in self.parts))
        return m


def check(widths, rows, family, folder) -> None:
    farm = Products(widths)
    seen = outputs(farm, [a | b << 18 | asked << 36 for a, b, asked in rows], family=family, folder=folder)
    for (a, b, asked), bits in zip(rows, seen[CLOCKS - 1 :], strict=False):
        at = 0
        for width, other in widths:
            for signed in (True, False):
                word = a & (1 << width) - 1
                word -= (1 << width) * (signed and word >> width - 1)
                ones = (1 << width + other) - 1
                product = word * (b & (1 << other) - 1) & ones
                found = int(bits[at : at + width + other][::-1], 2)
                assert found == (product ^ ones if asked else product), (width, other, signed, a, b)
                at += width + other
        assert at == len(bits)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_product_of_small_words(family, tmp_path):
    rows = [(a, b, asked) for a in range(32) for b in range(16) for asked in (0, 1)]
    check([(a, b) for a in (3, 4, 5) for b in (1, 2, 4)], [*rows, *rows[:3]], family, tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_products_of_wide_words(family, tmp_path):
    source = random.Random(8)
    ends = [0, 1, (1 << 18) - 1, 1 << 7, (1 << 7) - 1, 1 << 15, (1 << 15) - 1, 1 << 17]
    rows = [(a, b, asked) for a in ends for b in ends for asked in (0, 1)]
    rows += [(source.getrandbits(18), source.getrandbits(18), source.getrandbits(1)) for _ in range(200)]
    check([(8, 18), (8, 12), (9, 18), (16, 18), (17, 16), (18, 18)], rows, family, tmp_path)


def test_on_ecp5_rows_and_complement_take_nothing_but_carry_chains():
    """8 rows of 18 bits by pairs: chains of 19, 19, 19 and 19 bits, two of 20, one of 22, each begun by half a cell."""
    product = LogicProduct(Shape(8, True), unsigned(18), clocks=CLOCKS)
    made = synthesise(emit_top(product, {}, family="ecp5"))
    assert made.carries == 4 * 10 + 2 * 11 + 12
    # The lowest bit of each pair of rows, and the low four bits of the product's complement.
    assert made.luts == 4 + 4
    # No cell leads a carry into a chain. nextpnr counts two more, for its constants.
    assert made.comb == 2 * made.carries + made.luts
    assert made.comb <= place(made, clock="clk", seed=1).comb <= made.comb + 2
    assert made.multipliers == 0


def test_a_summand_that_the_cell_cannot_tell_apart_is_refused():
    bit = ChainBit(first=lambda a, b: a, second=lambda a, b, c, d: 1 - c, inputs={"C": unsigned(1), "D": unsigned(1)})
    with pytest.raises(ValueError, match="0 where C and D are"):
        _ = bit.table
