"""Wide products against Python's own integers."""

import random

import pytest
from amaranth.hdl import signed, unsigned
from ropewalk.gateware import multiply
from ropewalk.gateware.multiply import WideMultiplier, tile_pairs

WIDTHS = [
    (unsigned(24), unsigned(48), 48),
    (unsigned(24), unsigned(16), 16),
    (unsigned(22), unsigned(18), None),
    (signed(18), unsigned(14), None),
    (signed(16), unsigned(18), None),
    (signed(32), unsigned(24), None),
    (signed(37), signed(40), None),
]


def ends(shape) -> list[int]:
    if shape.signed:
        return [-(1 << shape.width - 1), (1 << shape.width - 1) - 1, -1, 0, 1]
    return [(1 << shape.width) - 1, 1 << shape.width - 1, 0, 1]


@pytest.mark.parametrize(("a", "b", "result_bits"), WIDTHS)
def test_product(a, b, result_bits, drive) -> None:
    source = random.Random(5)
    low = [-(1 << shape.width - 1) if shape.signed else 0 for shape in (a, b)]
    cases = [(x, y) for x in ends(a) for y in ends(b)]
    cases += [
        tuple(least + source.getrandbits(shape.width) for least, shape in zip(low, (a, b), strict=True))
        for _ in range(300)
    ]
    dut = WideMultiplier(a, b, result_bits=result_bits)
    products = drive(dut, [{"a": x, "b": y} for x, y in cases], ["p"], dut.latency)
    wanted = [x * y if result_bits is None else x * y % (1 << result_bits) for x, y in cases]
    assert [product for (product,) in products] == wanted


@pytest.mark.parametrize("first_signed", [True, False])
@pytest.mark.parametrize("second_signed", [True, False])
def test_every_product_of_small_tiles(first_signed, second_signed, drive, monkeypatch) -> None:
    monkeypatch.setattr(multiply, "TILE_BITS", 2)
    monkeypatch.setattr(multiply, "NARROW_TILE_BITS", 2)
    a, b = (signed(5) if first_signed else unsigned(5)), (signed(4) if second_signed else unsigned(4))
    cases = [(x - 16 * first_signed, y - 8 * second_signed) for x in range(32) for y in range(16)]
    dut = WideMultiplier(a, b)
    assert dut.multipliers == 6
    products = drive(dut, [{"a": x, "b": y} for x, y in cases], ["p"], dut.latency)
    assert [product for (product,) in products] == [x * y for x, y in cases]


@pytest.mark.parametrize(
    ("a", "b", "result_bits", "widths"),
    [
        (unsigned(24), unsigned(48), 48, [(8, 16), (8, 16), (16, 16), (16, 16), (16, 16)]),
        (unsigned(24), unsigned(36), 36, [(6, 18), (18, 18), (18, 18)]),  # of 16 bits it would be four or five
        (unsigned(22), unsigned(18), 40, [(6, 18), (16, 18)]),
        (signed(16), unsigned(18), 34, [(16, 18)]),
        (signed(33), signed(17), 50, [(15, 17), (18, 17)]),
    ],
)
def test_tiles_are_as_few_as_can_be_and_then_narrow(a, b, result_bits, widths) -> None:
    assert sorted((i.shape.width, j.shape.width) for i, j in tile_pairs(a, b, result_bits)) == widths
