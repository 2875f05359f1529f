"""Places are never given out twice, and none is lost."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.credits import Credits


@pytest.mark.parametrize(("places", "under_way"), [(1, 0), (3, 0), (16, 0), (16, 1), (16, 2), (4, 3)])
@pytest.mark.parametrize("pace", [0.2, 0.5, 0.9])
def test_a_place_is_free_when_one_is(places, under_way, pace) -> None:
    """What is let in takes its place ``under_way`` clocks later; there is always one, and all of them get used."""
    dut: Any = Credits(places, under_way=under_way)
    source = np.random.default_rng(places)
    used = []

    async def testbench(ctx: Any) -> None:
        assert not ctx.get(dut.free), "nothing is let in in reset"
        held, on_the_way = 0, [False] * under_way
        for clock in range(2000):
            # Counted are all takes and gives before this clock.
            assert ctx.get(dut.free) == (clock > 0 and held < places - under_way)
            let_in = bool(ctx.get(dut.free)) and source.random() < 0.95
            on_the_way = [let_in, *on_the_way]
            take, give = on_the_way.pop(), held > 0 and source.random() < pace
            ctx.set(dut.take, int(take))
            ctx.set(dut.give, int(give))
            held += take - give
            assert held <= places
            used.append(held)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    if pace < 0.5:
        assert max(used) == places


def test_nothing_is_free_in_the_clock_after_it_was_stopped() -> None:
    dut: Any = Credits(4)
    seen = []

    async def testbench(ctx: Any) -> None:
        for clock in range(8):
            ctx.set(dut.stop, int(clock in (3, 5)))
            seen.append(ctx.get(dut.free))
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen == [0, 1, 1, 1, 0, 1, 0, 1]
