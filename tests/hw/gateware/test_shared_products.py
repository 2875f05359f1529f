"""Shared multipliers give every product exactly, in time, however the sets of operands follow each other."""

import random

import pytest
from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
from amaranth.hdl import Shape, signed, unsigned
from amaranth.sim import Simulator
from ropewalk.gateware.shared_products import Product, SharedProducts

SETS = {
    "phase": {"phase": Product(a=unsigned(24), b=unsigned(48), result_bits=48)},
    "correction": {"sine": Product(a=signed(17), b=unsigned(14)), "versine": Product(a=signed(17), b=unsigned(14))},
    "amplitude": {"cosine": Product(a=unsigned(22), b=unsigned(18)), "sine": Product(a=unsigned(22), b=unsigned(18))},
    "wide": {"signed": Product(a=signed(40), b=signed(37)), "narrow": Product(a=unsigned(3), b=unsigned(2))},
}
CLOCKS = (2, 3, 4, 8)


def words(shape: Shape, rng: random.Random) -> int:
    low = -(1 << shape.width - 1) if shape.signed else 0
    high = low + (1 << shape.width) - 1
    return rng.choice([low, low + 1, 0, 1, high, high - 1, rng.randint(low, high), rng.randint(low, high)])


@pytest.mark.parametrize("clocks", CLOCKS)
@pytest.mark.parametrize("name", SETS)
def test_every_product_is_exact_for_as_long_as_stated(name, clocks) -> None:
    products, rng = SETS[name], random.Random(f"{name} {clocks}")
    dut = SharedProducts(products, clocks=clocks)
    operands = [
        {
            f"{product}_{side}": words(getattr(shapes, side), rng)
            for product, shapes in products.items()
            for side in "ab"
        }
        for _ in range(400)
    ]
    gaps = [rng.choice([0, 0, 0, 1, 2, clocks, 3 * clocks]) for _ in operands]
    starts = [sum(clocks + gap for gap in gaps[:number]) for number in range(len(operands))]
    compared = 0

    async def bench(ctx) -> None:
        nonlocal compared
        noise = random.Random(1)
        due = {start + dut.latency + clock: number for number, start in enumerate(starts) for clock in range(clocks)}
        begin = {start: number for number, start in enumerate(starts)}
        since = clocks
        for clock in range(starts[-1] + dut.latency + clocks):
            number = begin.get(clock)
            ctx.set(dut.start, number is not None)
            since = 0 if number is not None else since + 1
            if number is not None:
                for port, value in operands[number].items():
                    ctx.set(getattr(dut, port), value)
            elif since >= clocks:
                # Between sets the operands are anything.
                for product, shapes in products.items():
                    for side in "ab":
                        ctx.set(getattr(dut, f"{product}_{side}"), words(getattr(shapes, side), noise))
            if clock in due:
                now = operands[due[clock]]
                for product, shapes in products.items():
                    exact = now[f"{product}_a"] * now[f"{product}_b"]
                    bits = shapes.result_bits
                    assert ctx.get(getattr(dut, f"{product}_p")) == (exact if bits is None else exact % (1 << bits))
                    compared += 1
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert compared == len(operands) * clocks * len(products)


@pytest.mark.parametrize(
    ("name", "clocks", "multipliers"),
    [("phase", 2, 3), ("phase", 4, 2), ("phase", 8, 1), ("correction", 2, 1), ("amplitude", 2, 2), ("amplitude", 4, 1)],
)
def test_it_takes_no_more_multipliers_than_tiles_by_clocks(name, clocks, multipliers) -> None:
    dut = SharedProducts(SETS[name], clocks=clocks)
    assert rtlil.convert(dut).count("cell $mul ") == dut.multipliers == multipliers
