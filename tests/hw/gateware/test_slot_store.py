"""What a lookup sees around the clock in which a slot is committed."""

from typing import Any

import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.slot_loader import CLOCKS_BETWEEN
from ropewalk.gateware.slot_store import SlotStore
from ropewalk.tables.slot_words import slot_load_words

EMPTY = 5


@pytest.mark.parametrize("slot", [0, EMPTY], ids=["the slot", "an empty slot"])
def test_a_lookup_sees_what_there_is_in_its_own_clock(slot, make_design) -> None:
    """Also a token without a slot, which goes in the order of slot 0: it has no other before the commit is over."""
    design = make_design(pairings=("interleaved", "half"), input_pairing="both", output_pairing="both")
    store = SlotStore(design)
    seen: dict[int, int] = {}

    async def testbench(ctx: Any) -> None:
        async def write(strobe: Any) -> None:
            await ctx.tick().repeat(CLOCKS_BETWEEN - 3)
            ctx.set(strobe, 1)
            await ctx.tick()
            ctx.set(strobe, 0)
            await ctx.tick().repeat(2)

        ctx.set(store.granted, 1)
        while ctx.get(store.scanning):
            await ctx.tick()
        await write(store.begin)
        for word in slot_load_words(design, 1):
            ctx.set(store.word, word)
            await write(store.word_valid)
        await ctx.tick().repeat(CLOCKS_BETWEEN)
        ctx.set(store.slot, slot)
        ctx.set(store.lookup, 1)
        for clock in range(-4, 6):
            ctx.set(store.commit, clock == 0)
            assert ctx.get(store.changed) == (clock == 0)
            # What comes out now was asked for so many clocks before, unless the scan reads headers.
            held = ctx.get(store.hold)
            seen[clock - store.latency] = ctx.get(store.header.layout)
            await ctx.tick()
            if held:
                break
        else:
            raise AssertionError("no scan")

    simulator = Simulator(store)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert {clock: seen[clock] for clock in (-2, -1, 0)} == {-2: 0, -1: 0, 0: 0}
