"""The rotator between two streams: no beat lost or changed, whatever either side does, and one a clock."""

import random

from amaranth.sim import Simulator
from ropewalk.gateware.streamed_rotator import StreamedRotator


def rotated(x, y, quadrant, cosine, sine, inverse, width, fraction):
    """Turn by whole quarters, then by the rest; one rounding (half up), then saturation."""
    cos = (cosine, -sine, -cosine, sine)[quadrant]
    sin = (sine, cosine, -sine, -cosine)[quadrant]
    if inverse:
        sin = -sin
    half, low, high = 1 << fraction - 1, -(1 << width - 1), (1 << width - 1) - 1
    return [max(low, min(high, value + half >> fraction)) for value in (x * cos - y * sin, x * sin + y * cos)]


WAKING = 4
"""Clocks after a reset in which nothing is offered."""


def stream(dut, beats, *, rest):
    """Send ``beats``, either side resting with the chance ``rest``; gives what came out, and at which clocks.

    Clock 0 is the one in which the first is offered, some time after the reset.
    """
    seen, clocks, chance = [], [], random.Random(5)

    async def source(ctx):
        await ctx.tick().repeat(WAKING)
        for beat in beats:
            while chance.random() < rest:
                await ctx.tick()
            ctx.set(dut.beat.payload, beat)
            ctx.set(dut.beat.valid, 1)
            await ctx.tick().until(dut.beat.ready)
            ctx.set(dut.beat.valid, 0)

    async def sink(ctx):
        clock = -WAKING
        while len(seen) < len(beats) and clock < 20 * len(beats):
            ctx.set(dut.result.ready, chance.random() >= rest)
            _, _, valid, ready, payload = await ctx.tick().sample(
                dut.result.valid, dut.result.ready, dut.result.payload
            )
            if valid and ready:
                seen.append([payload[0], payload[1]])
                clocks.append(clock)
            clock += 1

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(source)
    simulator.add_testbench(sink)
    simulator.run()
    return seen, clocks


def cases(count):
    chance = random.Random(3)
    for _ in range(count):
        yield (
            chance.randrange(-(1 << 15), 1 << 15), chance.randrange(-(1 << 15), 1 << 15), chance.randrange(4),
            chance.randrange(1 << 18), chance.randrange(1 << 18), chance.randrange(2),
        )  # fmt: skip


def beat(x, y, quadrant, cosine, sine, inverse):
    entry = {"quadrant": quadrant, "cosine": cosine, "sine": sine}
    return {"elements": [x, y], "entries": [entry], "rotated": 1, "inverse": inverse}


def test_every_beat_comes_out_rotated_with_rests_on_both_sides(make_design) -> None:
    words = list(cases(300))
    seen, _ = stream(StreamedRotator(make_design(lanes=1)), [beat(*case) for case in words], rest=0.4)
    assert seen == [rotated(*case, 16, 17) for case in words]


def test_one_beat_a_clock_where_nobody_rests(make_design) -> None:
    words = list(cases(100))
    dut = StreamedRotator(make_design(lanes=1))
    seen, clocks = stream(dut, [beat(*case) for case in words], rest=0)
    assert seen == [rotated(*case, 16, 17) for case in words]
    assert clocks == list(range(dut.latency, dut.latency + 100))
