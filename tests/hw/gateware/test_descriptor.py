"""What a descriptor is taken with."""

from typing import Any

import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.descriptor import DescriptorPort


@pytest.mark.parametrize("clocks_before", [0, 1, 2])
def test_heads_and_offset_are_those_of_the_clock_in_which_it_is_taken(clocks_before, make_design) -> None:
    """They were written ``clocks_before`` clocks before that one, and change in the next."""
    port: Any = DescriptorPort(make_design(), places=16)
    seen = []

    async def testbench(ctx: Any) -> None:
        ctx.set(port.known, 1)
        ctx.set(port.header, {"pairs": 8, "limit": 1 << 20, "amplitude": 1 << 17})
        while not ctx.get(port.descriptor.ready):
            await ctx.tick()
        ctx.set(port.offset[0], -7)
        ctx.set(port.heads, [3, 2, 1])
        for _ in range(clocks_before):
            await ctx.tick()
        ctx.set(port.descriptor.payload, {"position": [1000]})
        ctx.set(port.descriptor.valid, 1)
        await ctx.tick()
        ctx.set(port.descriptor.valid, 0)
        ctx.set(port.offset[0], 500)
        ctx.set(port.heads, [9, 9, 9])
        for _ in range(10):
            if ctx.get(port.valid):
                token = ctx.get(port.token)
                seen.append((token.row.position[0], list(token.heads.kinds), list(token.heads.following)))
                break
            await ctx.tick()

    simulator = Simulator(port)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    # Of each kind, one less than the heads that follow its first one.
    assert seen == [(993, [0, 1, 2], [1, 0, -1])]
