"""The spare place of the slots is kept while any token that was taken before a swap may need it."""

from typing import Any

import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.capacity import token_places
from ropewalk.gateware.spare_guard import SpareGuard


@pytest.mark.parametrize("tokens", [1, 16, 63, 64, 128])
def test_the_spare_is_needed_until_the_last_token_from_before_the_swap_has_left(tokens) -> None:
    """As many tokens as there can be are on their way when the slot is swapped."""
    dut: Any = SpareGuard(tokens)
    needed = []

    async def testbench(ctx: Any) -> None:
        ctx.set(dut.rows_idle, 1)
        ctx.set(dut.taken, 1)
        await ctx.tick().repeat(tokens)
        ctx.set(dut.taken, 0)
        ctx.set(dut.swapped, 1)
        await ctx.tick()
        ctx.set(dut.swapped, 0)
        for _ in range(tokens):
            await ctx.tick().repeat(8)
            needed.append(ctx.get(dut.needed))
            ctx.set(dut.retired, 1)
            await ctx.tick()
            ctx.set(dut.retired, 0)
        await ctx.tick().repeat(8)
        assert not ctx.get(dut.needed)

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert needed == [1] * tokens


def test_short_tokens_have_more_places_than_others(make_design) -> None:
    """Heads of one beat take the most rows ahead, and so the most tokens."""
    assert token_places(make_design(head_dim=8, lanes=4)) > 64
