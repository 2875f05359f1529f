"""Slope times distance, in a pipeline, for every shape of slope."""

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.alibi.product import SlopeProduct


@pytest.mark.parametrize(("bits", "multipliers"), [(30, 4), (36, 4), (37, 4), (38, 4), (39, 6), (54, 6)])
def test_products_are_exact(bits, multipliers):
    dut = SlopeProduct(bits, 26)
    assert dut.multipliers == multipliers
    random = np.random.default_rng(bits)
    low, high = -(1 << 25), (1 << 25) - 1
    corners = [(s, d) for s in (0, 1, (1 << bits) - 1, 1 << bits - 1) for d in (0, 1, -1, low, high, 1 << 18, -1 << 18)]
    pairs = corners + [(int(random.integers(0, 1 << bits)), int(random.integers(low, high))) for _ in range(200)]
    seen = []

    async def testbench(ctx):
        for clock in range(len(pairs) + dut.latency):
            if clock >= dut.latency:
                seen.append(ctx.get(dut.product))
            slope, distance = pairs[min(clock, len(pairs) - 1)]
            ctx.set(dut.slope, slope)
            ctx.set(dut.distance, distance)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen == [slope * distance for slope, distance in pairs]
