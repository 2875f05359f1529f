"""Products of look-up tables against Python's integers, exhaustively at small widths and in any number of clocks."""

import random

import pytest
from amaranth.hdl import Shape, unsigned
from ropewalk.gateware.logic_product import LogicProduct


def check(a, b, clocks, cases, drive) -> None:
    dut = LogicProduct(a, b, clocks=clocks)
    assert dut.latency == clocks
    seen = drive(dut, [{"a": x, "b": y, "complement": asked} for x, y, asked in cases], ["p"], clocks)
    # The complement of a word in two's complement is -1 minus it; without a sign it is what lacks to all ones.
    ones = -1 if a.signed else (1 << a.width + b.width) - 1
    assert [product for (product,) in seen] == [ones - x * y if asked else x * y for x, y, asked in cases]


@pytest.mark.parametrize("clocks", [1, 2, 3, 5])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("width", [3, 4, 5, 7])
def test_every_product_of_small_words(width, signed, clocks, drive) -> None:
    least = -(1 << width - 1) if signed else 0
    cases = [(least + x, y, asked) for x in range(1 << width) for y in range(8) for asked in (0, 1)]
    check(Shape(width, signed), unsigned(3), clocks, cases, drive)


@pytest.mark.parametrize(("width", "other", "clocks"), [(8, 18, 4), (16, 18, 4), (18, 18, 4), (32, 24, 6), (9, 8, 4)])
def test_the_ends_of_wide_words(width, other, clocks, drive) -> None:
    source = random.Random(4)
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    cases = [
        (x, y, asked) for x in (low, low + 1, -1, 0, 1, high) for y in (0, 1, (1 << other) - 1) for asked in (0, 1)
    ]
    cases += [(source.randint(low, high), source.getrandbits(other), source.getrandbits(1)) for _ in range(200)]
    check(Shape(width, True), unsigned(other), clocks, cases, drive)


@pytest.mark.parametrize(("a", "b"), [(Shape(2, True), unsigned(8)), (Shape(8, True), Shape(8, True))])
def test_words_that_make_no_rows_are_refused(a, b) -> None:
    product = LogicProduct.__new__(LogicProduct)
    product._MustUse__used = True  # there will be none to use
    with pytest.raises(ValueError, match="the rows of a product are words without a sign"):
        product.__init__(a, b, clocks=3)
