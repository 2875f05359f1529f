"""A beat goes when one of each list of alternatives has been there, and there is room; the next one right behind it."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.entrance import Entrance

BEATS = 250
CONDITIONS = [[1, 2], [1]]
"""Signal 0, or 1 and 2 together; and signal 3."""


@pytest.mark.parametrize("pace", [1.0, 0.5])
def test_beats_go_in_order_as_soon_as_they_may(pace) -> None:
    """What a beat waits for is there from a clock on that is drawn for it, whatever else happens."""
    dut: Any = Entrance(16, conditions=CONDITIONS)
    source = np.random.default_rng(4)
    there_from = np.sort(source.integers(0, 500, (BEATS, 3)), axis=0)
    there_from[::3, 0] = 10_000  # an alternative that never comes
    came: list[int] = []
    went: list[tuple[int, int]] = []
    rooms: list[bool] = []

    def is_there(beat: int, clock: int) -> int:
        first, second, other = (clock >= there_from[beat]).tolist()
        # The second alternative may go when the first is there; without it, either of its signals may be there alone.
        second = second and not (first and (beat + clock) % 2)
        alone = (0, 2, 4)[(beat + clock) % 3]
        return first + (6 if second else alone) + 8 * other

    async def testbench(ctx: Any) -> None:
        for clock in range(1200):
            beat = len(came)
            offered = beat < BEATS and source.random() < pace
            ctx.set(dut.arrival.valid, int(offered))
            ctx.set(dut.arrival.payload, beat)
            ctx.set(dut.there, is_there(beat, clock) if offered else int(source.integers(16)))
            waits = len(came) > len(went)
            ctx.set(dut.head_there, is_there(len(went), clock) if waits else int(source.integers(16)))
            rooms.append(bool(source.random() < pace))
            ctx.set(dut.room, int(rooms[-1]))
            if ctx.get(dut.enter):
                assert ctx.get(dut.head) == len(went)
                went.append((clock, len(went)))
            if offered and ctx.get(dut.arrival.ready):
                came.append(clock)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert [beat for _, beat in went] == list(range(BEATS))
    before = -1
    for clock, beat in went:
        met = max(min(there_from[beat, :2]), there_from[beat, 2])
        earliest = max(came[beat] + dut.latency, met + 1, before + 1)
        assert clock == next(later for later in range(earliest, 1200) if rooms[later]), beat
        before = clock
