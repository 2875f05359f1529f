"""Counters against sums of the events that went in: stopping, snapshots of one moment, clearing."""

import numpy as np
import pytest
from amaranth.lib.memory import Memory
from amaranth.sim import Simulator
from ropewalk.gateware import counters as counters_module
from ropewalk.gateware.counters import Counters

MOST = (1 << 32) - 1
WAIT = 200


@pytest.fixture
def totals(monkeypatch):
    """The memories that counters keep their totals in."""
    made = []

    def memory(**options):
        made.append(Memory(**options))
        return made[-1]

    monkeypatch.setattr(counters_module, "Memory", memory)
    return made


class Bench:
    """Drives ``dut``; ``counted`` are the sums of what went in, clock by clock."""

    def __init__(self, ctx, dut, seed):
        self.ctx, self.dut = ctx, dut
        self.random = np.random.default_rng(seed)
        self.bits = {name: field.width for name, field in dut.steps.shape()}
        self.counted = [np.zeros(len(self.bits), np.int64)]

    async def tick(self):
        steps = [int(self.random.integers(1 << bits)) for bits in self.bits.values()]
        for name, step in zip(self.bits, steps, strict=True):
            self.ctx.set(self.dut.steps[name], step)
        self.counted.append(self.counted[-1] + steps)
        await self.ctx.tick()

    async def ask(self, *, snapshot=0, clear=0):
        """Ask for either or both, and wait; how many clocks that took."""
        self.ctx.set(self.dut.snapshot, snapshot)
        self.ctx.set(self.dut.clear, clear)
        await self.tick()
        self.ctx.set(self.dut.snapshot, 0)
        self.ctx.set(self.dut.clear, 0)
        for clock in range(WAIT):
            if not self.ctx.get(self.dut.waiting):
                return clock
            await self.tick()
        raise AssertionError("it never ends")

    async def shown(self):
        """What the counters show."""
        values = []
        for place in range(len(self.bits)):
            self.ctx.set(self.dut.index, place)
            await self.tick()
            await self.tick()
            values.append(self.ctx.get(self.dut.shown))
        return values


def run(dut, script, seed=1):
    async def testbench(ctx):
        await script(Bench(ctx, dut, seed))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("steps", [[1], [1, 4, 1], [1, 1, 1, 1, 4, 1, 1, 1], [1] * 8 + [3]], ids=len)
def test_a_snapshot_is_all_of_one_moment_and_loses_nothing(steps):
    dut = Counters({f"counter_{place}": bits for place, bits in enumerate(steps)})
    round_clocks = 2 << max(1, (len(steps) - 1).bit_length())

    async def script(bench):
        assert await bench.shown() == [0] * len(steps)
        # What clears have dropped so far; of a clear without a snapshot, all that fits its moment.
        dropped = {(0,) * len(steps)}
        for turn in range(40):
            for _ in range(bench.random.integers(3 * round_clocks)):
                await bench.tick()
            before = await bench.shown()
            asked = len(bench.counted)
            snapshot, clear = turn % 8 != 7, turn % 4 == 3
            assert await bench.ask(snapshot=snapshot, clear=clear) <= 2 * round_clocks + 4
            moments = bench.counted[asked - 2 : asked + round_clocks + 1]
            shown = await bench.shown()
            if snapshot:
                dropped = {one for one in dropped if any(list(moment - one) == shown for moment in moments)}
                assert dropped
            else:
                assert shown == before
            if clear:
                dropped = {tuple(shown + np.array(one)) for one in dropped} if snapshot else set(map(tuple, moments))

    run(dut, script)


def test_a_counter_stops_at_its_largest_value(totals):
    dut = Counters({"one": 1, "many": 4})

    async def script(bench):
        await bench.ask(clear=1)
        for _ in range(4):  # a round, since a total may be on its way back to the memory
            bench.ctx.set(totals[0].data[0], MOST - 20)
            bench.ctx.set(totals[0].data[1], MOST - 100)
            await bench.tick()
        values = []
        for _ in range(20):
            await bench.ask(snapshot=1)
            values.append(await bench.shown())
        for place in range(2):
            rising = [value[place] for value in values]
            assert rising == sorted(rising) and rising[0] >= MOST - 100
            assert rising[-1] == MOST and rising.count(MOST) > 3
        await bench.ask(clear=1)
        await bench.ask(snapshot=1)
        assert max(await bench.shown()) < WAIT * 15

    run(dut, script)
