"""Queues, relays and what is set aside: items come out in their order, none is lost, one goes per clock."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.aside import Aside
from ropewalk.gateware.queue import Queue
from ropewalk.gateware.relay import Relay

ITEMS = 300


def simulate(dut: Any, testbench: Any) -> None:
    done = []

    async def whole(ctx: Any) -> None:
        await testbench(ctx)
        done.append(True)

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(whole)
    simulator.run()
    assert done


def taken(given: list[tuple[int, int]], latency: int, ready: np.ndarray) -> list[tuple[int, int]]:
    """What leaves, and when, of items that come at given clocks: one is on offer ``latency`` clocks after it came."""
    waiting, left = deque(given), []
    for clock, is_ready in enumerate(ready):
        if is_ready and waiting and waiting[0][0] + latency <= clock:
            left.append((clock, waiting.popleft()[1]))
    return left


@pytest.mark.parametrize("pace", [(1.0, 1.0), (0.5, 0.6), (0.9, 0.5)], ids=["free", "slow", "full"])
@pytest.mark.parametrize("depth", [2, 16])
def test_a_queue_keeps_order_and_a_stated_latency(depth, pace) -> None:
    """The second part of an item comes later than the first, and the item is offered later still."""
    dut: Any = Queue({"early": (8, 4 * depth), "late": (8, depth)})
    source = np.random.default_rng(1)
    clocks = 1200
    ready = source.random(clocks) < pace[1]
    offered: list[tuple[int, int]] = []
    left: list[tuple[int, int]] = []

    async def testbench(ctx: Any) -> None:
        early = late = 0
        for clock in range(clocks):
            # Up to a queue of both parts, and as many of the first as its RAM has places.
            comes_early = early < ITEMS and early - len(left) < 3 * depth and source.random() < pace[0]
            comes_late = late < early and late - len(left) < depth and source.random() < pace[0]
            ctx.set(dut.write_early, int(comes_early))
            ctx.set(dut.in_early, early % 251)
            ctx.set(dut.write_late, int(comes_late))
            ctx.set(dut.offer, int(comes_late))
            ctx.set(dut.in_late, late % 241)
            ctx.set(dut.output.ready, int(ready[clock]))
            if comes_late:
                offered.append((clock, late))
            early, late = early + comes_early, late + comes_late
            if ctx.get(dut.output.valid) and ready[clock]:
                number = len(left)
                item = ctx.get(dut.output.payload)
                assert (item.early, item.late) == (number % 251, number % 241)
                left.append((clock, number))
            await ctx.tick()

    simulate(dut, testbench)
    assert len(left) == ITEMS
    assert left == taken(offered, dut.latency, ready)


@pytest.mark.parametrize("pace", [(1.0, 1.0), (0.5, 0.6), (0.9, 0.5)], ids=["free", "slow", "full"])
def test_a_relay_passes_everything_on_and_its_ready_follows_nothing(pace) -> None:
    dut: Any = Relay(16)
    source = np.random.default_rng(2)
    given: list[tuple[int, int]] = []
    left: list[tuple[int, int]] = []
    readies: list[bool] = []

    async def testbench(ctx: Any) -> None:
        for clock in range(1200):
            ctx.set(dut.arrival.valid, int(len(given) < ITEMS and source.random() < pace[0]))
            ctx.set(dut.arrival.payload, len(given))
            before = ctx.get(dut.arrival.ready)
            readies.append(bool(source.random() < pace[1]))
            ctx.set(dut.output.ready, int(readies[-1]))
            assert ctx.get(dut.arrival.ready) == before
            if ctx.get(dut.output.valid) and readies[-1]:
                left.append((clock, ctx.get(dut.output.payload)))
            if before and ctx.get(dut.arrival.valid):
                given.append((clock, len(given)))
            await ctx.tick()

    simulate(dut, testbench)
    assert len(left) == ITEMS
    assert left == taken(given, dut.latency, np.array(readies))
    if pace == (1.0, 1.0):
        assert [clock for clock, _ in left] == list(range(dut.latency, ITEMS + dut.latency))


def test_what_is_set_aside_is_there_a_clock_after_it_was_fetched() -> None:
    dut: Any = Aside(12, 8)
    source = np.random.default_rng(3)
    seen = []

    async def testbench(ctx: Any) -> None:
        stored = fetched = newest = 0
        asked = None
        for _ in range(600):
            if asked is not None:
                seen.append((ctx.get(dut.fetched), asked * 7))
            comes = stored - fetched < 8 and source.random() < 0.6
            # Not the one that has only just come.
            goes = fetched < stored - newest and source.random() < 0.6
            ctx.set(dut.write, int(comes))
            ctx.set(dut.stored, stored * 7)
            ctx.set(dut.fetch, int(goes))
            asked = fetched if goes else None
            stored, fetched, newest = stored + comes, fetched + goes, int(comes)
            await ctx.tick()

    simulate(dut, testbench)
    assert len(seen) > 200
    assert all(got == expected % 4096 for got, expected in seen)
