"""What the tests of the boards' gateware share."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator

Simulate = Callable[[Any, Sequence[Callable[[Any], Any]], int], None]


@pytest.fixture
def simulate() -> Simulate:
    """Runs testbenches on a component: the first one to its end, within so many clocks."""

    def run(dut: Any, testbenches: Sequence[Callable[[Any], Any]], clocks: int) -> None:
        async def limit(ctx: Any) -> None:
            for _ in range(clocks):
                await ctx.tick()
            raise TimeoutError(f"not at its end after {clocks} clocks")

        simulator = Simulator(dut)
        simulator.add_clock(1e-8)
        # Those in the background come first in each clock, so that the first one sees what they set.
        for testbench in (limit, *testbenches[1:]):
            simulator.add_testbench(testbench, background=True)
        simulator.add_testbench(testbenches[0])
        simulator.run()

    return run
