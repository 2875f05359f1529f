"""The sine generator of several clocks: at every phase of a small width the bits of the model."""

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.shared_sine import SharedSine
from ropewalk.sine_format import SineFormat
from ropewalk_sim.model import magnitudes


@pytest.mark.parametrize("clocks", [2, 4, 8])
@pytest.mark.parametrize(
    ("coefficient_width", "phase_bits", "stride"),
    [(8, 12, 1), (16, 48, 1 << 18), (18, 48, 1 << 20), (24, 16, 257)],
)
def test_every_phase(coefficient_width, phase_bits, stride, clocks) -> None:
    fmt = SineFormat(coefficient_width=coefficient_width, phase_bits=phase_bits)
    turns = 1 << fmt.reduced_phase_bits
    eighths = [(k * turns // 8 + d) % turns for k in range(8) for d in (-1, 0, 1)]
    phases = [*range(0, turns, stride), *eighths]
    wanted = np.array(phases, np.uint64) << np.uint64(phase_bits - fmt.reduced_phase_bits)
    expected = np.stack(magnitudes(fmt, wanted), axis=1)
    dut = SharedSine(fmt, clocks=clocks, stands=clocks)
    seen = []

    async def testbench(ctx) -> None:
        # One phase after the other, and then a clock more between them.
        for gap in (0, 1):
            for number in range(len(phases) if gap == 0 else 50):
                ctx.set(dut.phase, phases[number])
                for clock in range(clocks + gap):
                    ctx.set(dut.start, clock == 0)
                    await ctx.tick()
        ctx.set(dut.start, 0)
        await ctx.tick().repeat(dut.latency)

    async def watch(ctx) -> None:
        begun = []
        clock = 0
        async for _, _, start, *now in ctx.tick().sample(dut.start, dut.quadrant, dut.cosine, dut.sine):
            begun += [clock] * bool(start)
            # What stands is looked at in the last of its clocks.
            if begun and clock == begun[0] + dut.latency + clocks - 1:
                seen.append(now)
                begun.pop(0)
            clock += 1

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.add_process(watch)
    simulator.run()
    np.testing.assert_array_equal(seen[: len(phases)], expected)
    np.testing.assert_array_equal(seen[len(phases) :], expected[: len(seen) - len(phases)])
    assert len(seen) > len(phases) + 40
