"""The multiply-add in every family: sums and clocks against Python's integers, with each sign of each operand."""

import itertools
import random

import pytest
from amaranth.hdl import Cat, Module, Shape
from ropewalk.gateware.families import FORMS
from ropewalk.gateware.primitives import MultiplyAdd

from .bench import FAMILIES, Bench, outputs
from .test_multiplier import SIGNS, number

SMALL = [(1, 1), (2, 3), (3, 2), (4, 1)]

WIDE = [(8, 16), (16, 16), (17, 16), (16, 17), (8, 18), (16, 18), (17, 18), (18, 18)]
"""Those of the lanes, on both sides of what the blocks of each family take."""

WORD_BITS = 18


class Sums(Bench):
    """A multiply-add of each of ``shapes``, all fed from the low bits of the same four words, and both signs."""

    def __init__(self, shapes, constant):
        self.parts = [MultiplyAdd(a, b, constant=constant(a, b)) for a, b in shapes]
        super().__init__(4 * WORD_BITS + 2, sum(len(part.p) for part in self.parts))

    def elaborate(self, platform):
        m = Module()
        words = [self.row[place * WORD_BITS :][:WORD_BITS] for place in range(4)]
        for place, part in enumerate(self.parts):
            m.submodules[f"part_{place}"] = part
            for port, word in zip((part.a0, part.b0, part.a1, part.b1), words, strict=True):
                m.d.comb += port.eq(word)
            m.d.comb += part.negative.eq(self.row[4 * WORD_BITS :])
        m.d.comb += self.out.eq(Cat(part.p for part in self.parts))
        return m


def half(a: Shape, b: Shape) -> int:
    """What rounds a product of which the bits of ``b`` but one are dropped."""
    return 1 << b.width - 2 if b.width > 1 else 0


def check(widths, rows, family, folder, constant=half) -> None:
    shapes = [(Shape(a, first), Shape(b, second)) for a, b in widths for first, second in SIGNS]
    farm = Sums(shapes, constant)
    lengths = [len(part.p) for part in farm.parts]
    packed = [
        sum(word << place * WORD_BITS for place, word in enumerate(words)) | negative << 4 * WORD_BITS
        for *words, negative in rows
    ]
    rest = [0] * (MultiplyAdd.latency - 1)
    seen = outputs(farm, [*packed, *rest], family=family, folder=folder)[MultiplyAdd.latency - 1 :]
    for (a0, b0, a1, b1, negative), bits in zip(rows, seen, strict=True):
        at = 0
        for (first, second), length in zip(shapes, lengths, strict=True):
            products = number(a0, first) * number(b0, second), number(a1, first) * number(b1, second)
            signs = (-1 if negative & 1 else 1), (-1 if negative & 2 else 1)
            total = constant(first, second) + sum(x * y for x, y in zip(signs, products, strict=True))
            found = number(int(bits[at : at + length][::-1], 2), Shape(length, True))
            assert found == total, (first, second, a0, b0, a1, b1, negative)
            at += length


@pytest.mark.parametrize("family", FAMILIES)
def test_every_sum_of_small_products(family, tmp_path):
    for folder, width in ((tmp_path / f"{a}-{b}", (a, b)) for a, b in SMALL):
        folder.mkdir()
        a, b = (range(1 << bits) for bits in width)
        check([width], list(itertools.product(a, b, a, b, range(4))), family, folder)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("constant", [half, lambda a, b: 0], ids=["half", "none"])
def test_sums_of_wide_products(family, constant, tmp_path):
    source = random.Random(21)
    widths = sorted({width for pair in WIDE for width in pair})
    ends = [0, 1, *(word for width in widths for word in (1 << width - 1, (1 << width) - 1, (1 << width - 1) - 1))]
    rows = [(*(source.choice(ends) for _ in range(4)), source.randrange(4)) for _ in range(150)]
    # Twice the same product, or the same and its opposite: the largest sums there are, and 0.
    lowest = [1 << width - 1 for width in widths]
    rows += [(a, b, a, b, negative) for a in lowest for b in (0, (1 << WORD_BITS) - 1) for negative in range(4)]
    rows += [(*(source.getrandbits(WORD_BITS) for _ in range(4)), source.randrange(4)) for _ in range(150)]
    check(WIDE, rows, family, tmp_path, constant)


@pytest.mark.parametrize(
    ("family", "widest"), [("generic", None), ("ecp5", None), ("ice40", 16), ("gowin", None), ("xilinx", 17)]
)
def test_whose_blocks_add_the_products_of_a_lane(family, widest):
    coefficient = 16 if family == "ice40" else 18
    added = [
        bits
        for bits in range(4, 19)
        if FORMS[family].adds_products(Shape(bits, True), Shape(coefficient), 1 << coefficient - 2)
    ]
    assert added == list(range(4, widest + 1 if widest else 4))
    # No operand that would have to be split, even where the part has a wider one.
    for shapes in ((Shape(16, True), Shape(19)), (Shape(19, True), Shape(8)), (Shape(24, True), Shape(8))):
        assert not FORMS[family].adds_products(*shapes, 0)


@pytest.mark.parametrize(
    ("a", "constant", "told"),
    [
        (19, 0, "no DSP block takes operands of 19 and 4 bits"),
        (4, -1, "the constant must be a word of 36 bits, not -1"),
        (4, 1 << 36, "the constant must be a word of 36 bits, not 68719476736"),
    ],
)
def test_what_no_block_adds_is_refused(a, constant, told):
    part = MultiplyAdd.__new__(MultiplyAdd)
    part._MustUse__used = True  # there will be none to use
    with pytest.raises(ValueError, match=told):
        part.__init__(Shape(a), Shape(4), constant=constant)
