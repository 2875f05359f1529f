"""Shared multipliers give every product exactly, in time, however the sets of operands follow each other."""

import random
from itertools import product as combinations

import pytest
from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
from amaranth.hdl import Shape, signed, unsigned
from amaranth.sim import Simulator
from ropewalk.gateware.shared_products import Product, SharedProducts

SETS = {
    "phase": {"phase": Product(a=unsigned(24), b=unsigned(48), result_bits=48)},
    "correction": {
        "sine": Product(a=signed(17), b=unsigned(14), half=17, c=unsigned(20)),
        "versine": Product(a=signed(17), b=unsigned(14), half=17, c=unsigned(19)),
    },
    "amplitude": {
        "cosine": Product(a=unsigned(22), b=unsigned(18), half=20),
        "sine": Product(a=unsigned(22), b=unsigned(18), half=20),
    },
    "plain": {"signed": Product(a=signed(40), b=signed(37)), "narrow": Product(a=unsigned(3), b=unsigned(2))},
    "added": {
        "one": Product(a=signed(33), b=signed(16), half=0, c=unsigned(50)),
        "other": Product(a=unsigned(16), b=signed(17)),
    },
}
CLOCKS = (2, 3, 4, 8)


def words(shape: Shape, rng: random.Random) -> int:
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    return rng.choice([low, low + 1, 0, min(1, high), high, high - 1, rng.randint(low, high), rng.randint(low, high)])


def expected(product: Product, now: dict[str, int], name: str) -> int:
    exact = now[f"{name}_a"] * now[f"{name}_b"]
    if product.half is not None:
        exact += (now.get(f"{name}_c", 0) + 1) << product.half
    return exact if product.result_bits is None else exact % (1 << product.result_bits)


def check(products: dict[str, Product], clocks: int, stands: int, sets: int, seed: object) -> None:
    """Give sets of operands, some close on each other and some not, and compare each result for as long as it stands.

    Operands are anything as soon as they need not stand any more.
    """
    rng = random.Random(f"{seed} {clocks} {stands}")
    dut = SharedProducts(products, clocks=clocks, stands=stands)
    ports = {
        f"{name}_{operand}": (shape, clocks if operand == "c" else dut.turns)
        for name, product in products.items()
        for operand, shape in product.operands.items()
    }
    operands = [{port: words(shape, rng) for port, (shape, _) in ports.items()} for _ in range(sets)]
    gaps = [rng.choice([0, 0, 0, 1, 2, clocks, 3 * clocks]) for _ in operands]
    starts = [sum(clocks + gap for gap in gaps[:number]) for number in range(len(operands))]
    compared = 0

    async def bench(ctx) -> None:
        nonlocal compared
        due = {start + dut.latency + clock: number for number, start in enumerate(starts) for clock in range(stands)}
        begin = {start: number for number, start in enumerate(starts)}
        since, number = clocks, -1
        for clock in range(starts[-1] + dut.latency + clocks):
            ctx.set(dut.start, clock in begin)
            since, number = (0, begin[clock]) if clock in begin else (since + 1, number)
            for port, (shape, standing) in ports.items():
                ctx.set(getattr(dut, port), operands[number][port] if since < standing else words(shape, rng))
            if clock in due:
                for name, product in products.items():
                    assert ctx.get(getattr(dut, f"{name}_p")) == expected(product, operands[due[clock]], name)
                    compared += 1
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert compared == sets * stands * len(products)


@pytest.mark.parametrize("stands", ["one", "all"])
@pytest.mark.parametrize("clocks", CLOCKS)
@pytest.mark.parametrize("name", SETS)
def test_every_product_is_exact_for_as_long_as_asked_for(name, clocks, stands) -> None:
    check(SETS[name], clocks, 1 if stands == "one" else clocks, 300, name)


@pytest.mark.parametrize("clocks", [2, 4])
@pytest.mark.parametrize(("signed_a", "signed_b", "half"), list(combinations([False, True], [False, True], [None, 1])))
def test_every_width_of_operands(signed_a, signed_b, half, clocks) -> None:
    """Around those of a tile, of two, and of three, where cuts change."""
    for width_a, width_b in [(1, 1), (2, 16), (15, 17), (16, 18), (17, 31), (18, 32), (31, 33), (34, 36), (46, 19)]:
        product = Product(
            a=Shape(width_a, signed_a), b=Shape(width_b, signed_b), half=half, c=None if half is None else unsigned(9)
        )
        check({"x": product}, clocks, clocks, 40, (width_a, width_b))


@pytest.mark.parametrize(
    ("name", "clocks", "multipliers"),
    [
        ("phase", 2, 3), ("phase", 4, 2), ("phase", 8, 1),
        ("correction", 2, 1), ("correction", 8, 1),
        ("amplitude", 2, 2), ("amplitude", 4, 1), ("amplitude", 8, 1),
    ],
)  # fmt: skip
def test_it_takes_no_more_multipliers_than_tiles_by_clocks(name, clocks, multipliers) -> None:
    dut = SharedProducts(SETS[name], clocks=clocks, stands=1)
    assert rtlil.convert(dut).count("cell $mul ") == dut.multipliers == multipliers
