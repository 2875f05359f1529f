"""The adder, exhaustively at small widths, against fractions."""

from fractions import Fraction
from math import floor
from typing import Any

import pytest
from amaranth.hdl import Cat
from amaranth.sim import Simulator
from ropewalk.designs.learned import LearnedDesign
from ropewalk.gateware.learned.adder import TableAdder
from ropewalk.geometry.learned import LearnedGeometry

GEOMETRY = LearnedGeometry(model_type="test", rows=1, row_offset=0, dimension=1)


def design_of(data_width: int, table_width: int, dropped: int) -> LearnedDesign:
    return LearnedDesign(
        geometry=GEOMETRY, lanes=1, data_width=data_width, fraction_bits=8, table_width=table_width,
        table_fraction_bits=8 + dropped, table_digest="0" * 64,
    )  # fmt: skip


@pytest.mark.parametrize("data_width", [4, 5])
@pytest.mark.parametrize("dropped", [-3, -1, 0, 1, 2, 3, 4])
def test_every_element_and_word_of_small_widths(data_width, dropped) -> None:
    design = design_of(data_width, 4, dropped)
    dut = TableAdder(design)
    low, high = -(1 << data_width - 1), (1 << data_width - 1) - 1
    pairs = [(x, t, add) for x in range(low, high + 1) for t in range(-8, 8) for add in (0, 1)]
    seen: list[tuple[int, int]] = []

    async def testbench(ctx: Any) -> None:
        for clock in range(len(pairs) + dut.latency):
            x, t, add = pairs[min(clock, len(pairs) - 1)]
            ctx.set(Cat(dut.elements.as_value(), dut.words.as_value(), dut.add), pack(x, t, add))
            if clock >= dut.latency:
                seen.append((ctx.get(dut.out[0]), ctx.get(dut.saturated)))
            await ctx.tick()

    def pack(x: int, t: int, add: int) -> int:
        return x & (1 << data_width) - 1 | (t & 15) << data_width | add << data_width + 4

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    for (x, t, add), (out, saturated) in zip(pairs, seen, strict=True):
        exact = x + floor(Fraction(t) / Fraction(2) ** dropped + Fraction(1, 2)) * add
        assert (out, saturated) == (min(max(exact, low), high), not low <= exact <= high), (x, t, add)
