"""The row generator of several clocks per pair: the rows of the model, in time, while a scan reads between pairs."""

import random
from typing import Any

import numpy as np
import pytest
from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
from amaranth.sim import Simulator
from ropewalk.gateware.contents import step_contents
from ropewalk.gateware.row_issue import SCAN_SHARE
from ropewalk.gateware.row_source import row_source
from ropewalk.gateware.shared_generator import SharedRowGenerator
from ropewalk.tables.steps import amplitude_word
from ropewalk_sim.model import rows


@pytest.mark.parametrize(("clocks", "multipliers"), [(2, 6), (4, 4), (8, 3)])
@pytest.mark.parametrize("coefficient_width", [16, 18])
def test_multipliers_are_shared(coefficient_width, clocks, multipliers, make_design) -> None:
    source = row_source(make_design(coefficient_width=coefficient_width, clocks_per_pair=clocks))
    assert isinstance(source, SharedRowGenerator)
    assert rtlil.convert(source).count("cell $mul ") == source.multipliers == multipliers


@pytest.mark.parametrize("scanned", [False, True])
@pytest.mark.parametrize("options", [{}, {"rotary_dim": 2, "head_dim": 8}, {"registers": False}])
@pytest.mark.parametrize("clocks", [2, 4, 8])
def test_rows_are_the_models_and_so_is_what_a_scan_reads(clocks, options, scanned, make_design) -> None:
    design = make_design(clocks_per_pair=clocks, **options)
    source: Any = row_source(design)
    rng = random.Random(f"{clocks} {options}")
    wanted = [(rng.randrange(len(design.variants)), rng.randrange(1 << 20)) for _ in range(30)]
    # Close on each other, and then with gaps.
    gaps = [0] * 15 + [rng.choice([0, 1, clocks, 3 * clocks + 1]) for _ in range(15)]
    pairs = design.shapes[0].pairs
    steps = step_contents(design).words
    made: list[tuple[int, ...]] = []
    written: list[int] = []
    asked: list[int] = []
    grants: list[int] = []
    finished: list[bool] = []

    def offer(ctx: Any, number: int) -> None:
        slot, position = wanted[min(number, len(wanted) - 1)]
        row = source.row.payload
        ctx.set(row.place, slot)
        ctx.set(row.start, design.shapes[slot].first_pair)
        ctx.set(row.amplitude, amplitude_word(design.variants[slot].amplitude))
        ctx.set(row.position[0], position)

    async def requests(ctx: Any) -> None:
        clock = 0
        ctx.set(source.request.payload, {"pairs": pairs, "single": pairs == 1})
        for gap in gaps:
            clock += gap
            await ctx.tick().repeat(gap) if gap else None
            ctx.set(source.request.valid, 1)
            ready = 0
            while not ready:
                _, _, ready = await ctx.tick().sample(source.request.ready)
                clock += 1
            asked.append(clock - 1)
            ctx.set(source.request.valid, 0)
        await ctx.tick().repeat(source.latency + (pairs + 2) * clocks)
        finished.append(True)

    async def row_queue(ctx: Any) -> None:
        number = 0
        offer(ctx, number)
        while True:
            _, _, taken = await ctx.tick().sample(source.row.ready)
            number += taken
            offer(ctx, number)

    async def watch(ctx: Any) -> None:
        clock = 0
        async for _, _, write, entry, place, last in ctx.tick().sample(
            source.write, source.entry, source.place, source.last
        ):
            if write:
                made.append((place, last, entry.quadrant, entry.cosine, entry.sine))
                written.append(clock)
            clock += 1

    async def scan(ctx: Any) -> None:
        while not finished:
            place, pair = rng.randrange(len(design.variants)), rng.randrange(pairs)
            address = place * (design.geometry.head_dim // 2) + pair
            ctx.set(source.read_address, address)
            ctx.set(source.read, 1)
            granted = waiting = 0
            while not granted:
                _, _, granted = await ctx.tick().sample(source.granted)
                waiting += 1
            assert waiting <= SCAN_SHARE + clocks + 3
            grants.append(waiting)
            ctx.set(source.read, 0)
            await ctx.tick()
            assert ctx.get(source.read_data) == steps[address]
            await ctx.tick().repeat(rng.randrange(1, 20))

    simulator = Simulator(source)
    simulator.add_clock(1e-8)
    simulator.add_testbench(requests)
    simulator.add_testbench(row_queue, background=True)
    simulator.add_testbench(watch, background=True)
    if scanned:
        simulator.add_testbench(scan)
    simulator.run()

    expected = [
        (design.shapes[slot].first_pair + pair, pair == pairs - 1, *entry)
        for slot, position in wanted
        for pair, entry in enumerate(np.asarray(rows(design, slot, [position]))[0].tolist())
    ]
    assert made == expected
    if scanned:
        assert len(grants) > 5
    else:
        # Each row begins as soon as it can, and takes its clocks.
        begins = written[::pairs]
        assert [late - early for early, late in zip(written, written[1:], strict=False)][: 15 * pairs - 1] == [
            clocks
        ] * (15 * pairs - 1)
        assert begins[0] == asked[0] + source.latency
        assert begins[-1] == asked[-1] + source.latency or gaps[-1] == 0
