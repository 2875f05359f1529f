"""What the gateware's tests share: a way to drive a pipeline of fixed latency."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator

Drive = Callable[[Any, Sequence[dict[str, Any]], Sequence[str], int], list[tuple[int, ...]]]


@pytest.fixture
def drive() -> Drive:
    """Feeds one set of inputs per clock to a component; gives the outputs ``latency`` clocks after each."""

    def run(dut: Any, inputs: Sequence[dict[str, Any]], outputs: Sequence[str], latency: int) -> list[tuple[int, ...]]:
        seen: list[tuple[int, ...]] = []

        async def testbench(ctx: Any) -> None:
            for clock in range(len(inputs) + latency):
                for name, value in inputs[min(clock, len(inputs) - 1)].items():
                    ctx.set(getattr(dut, name), value)
                if clock >= latency:
                    seen.append(tuple(ctx.get(getattr(dut, name)) for name in outputs))
                await ctx.tick()

        simulator = Simulator(dut)
        simulator.add_clock(1e-8)
        simulator.add_testbench(testbench)
        simulator.run()
        return seen

    return run
