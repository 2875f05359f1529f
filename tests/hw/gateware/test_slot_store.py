"""What a lookup sees around the clock in which a slot is committed."""

from typing import Any

import pytest
from amaranth.sim import Simulator
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
        ctx.set(store.granted, 1)
        while ctx.get(store.scanning):
            await ctx.tick()
        ctx.set(store.begin, 1)
        await ctx.tick()
        ctx.set(store.begin, 0)
        ctx.set(store.word_valid, 1)
        for word in slot_load_words(design, 1):
            ctx.set(store.word, word)
            await ctx.tick()
        ctx.set(store.word_valid, 0)
        ctx.set(store.slot, slot)
        ctx.set(store.lookup, 1)
        for clock in range(-4, 6):
            ctx.set(store.commit, clock == 0)
            # What comes out now was asked for so many clocks before. From the third clock on, the scan reads headers.
            seen[clock - store.latency] = ctx.get(store.header.layout)
            await ctx.tick()
            if clock == 2:
                break

    simulator = Simulator(store)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert {clock: seen[clock] for clock in (-2, -1, 0)} == {-2: 0, -1: 0, 0: 0}
