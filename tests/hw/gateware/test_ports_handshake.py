"""Sentences of the port contract on handshakes: what readies and valids follow, where stalls act, when answers come."""

import itertools
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Cat
from amaranth.sim import Simulator
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.registers import address_of
from ropewalk_sim.scenarios import plain

LAYOUTS = {
    "interleaved": {"lanes": 4},
    "half in mid-beat": {"pairings": ("half", "half"), "rotary_dim": 4, "rotary_start": 6},
    "both, values": {"pairings": ("half", "interleaved"), "value_heads": 1},
    "no registers": {"registers": False},
}


def run(ports: Any, testbench: Any) -> None:
    done = []

    async def whole(ctx: Any) -> None:
        await testbench(ctx)
        done.append(True)

    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(whole)
    simulator.run()
    assert done


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_path_leads_from_a_ready_or_a_valid_to_a_ready_or_a_valid(name, make_design) -> None:
    """In random clocks of a random stream, all combinations of what comes from outside are tried within the clock."""
    design = make_design(**LAYOUTS[name])
    ports: Any = RotaryPorts(design)
    inputs = (ports.s_axis_tvalid, ports.s_axis_token_tvalid, ports.m_axis_tready)
    outputs = Cat(ports.s_axis_tready, ports.s_axis_token_tready, ports.m_axis_tvalid)
    source = np.random.default_rng(5)
    seen: set[int] = set()

    async def testbench(ctx: Any) -> None:
        beat = 0
        offered = [0, 0]
        for clock in range(200):
            for index in range(2):
                offered[index] |= int(source.random() < 0.7)
            values = [*offered, int(source.random() < 0.6)]
            ctx.set(ports.s_axis_token_tdata, int(source.integers(0, 12)) << 32)
            ctx.set(ports.s_axis_tlast, beat % design.beats_per_token == design.beats_per_token - 1)
            if clock % 3 == 0:
                found = set()
                for tried in itertools.product((0, 1), repeat=3):
                    for signal, value in zip(inputs, tried, strict=True):
                        ctx.set(signal, value)
                    found.add(ctx.get(outputs))
                assert len(found) == 1, clock
            for signal, value in zip(inputs, values, strict=True):
                ctx.set(signal, value)
            _, _, now = await ctx.tick().sample(outputs)
            seen.add(now)
            if offered[0] and now & 1:
                offered[0], beat = 0, beat + 1
            if offered[1] and now & 2:
                offered[1] = 0

    run(ports, testbench)
    assert len(seen) >= 5


def test_a_stall_of_the_output_stops_beats_at_the_entrance_and_never_inside(make_design) -> None:
    """Every beat that enters the rotator leaves it after the same number of clocks, whatever the output does."""
    design = make_design(lanes=2)
    ports: Any = RotaryPorts(design)
    engine = ports._engine
    entered: list[int] = []
    left: list[int] = []

    async def watch(ctx: Any) -> None:
        clock = 0
        async for _, _, enter, leave in ctx.tick().sample(engine._output.enter, engine._output.valid):
            clock += 1
            if enter:
                entered.append(clock)
            if leave:
                left.append(clock)

    stream = plain(design, seed=1, tokens=16)
    output = simulate(ports, design, stream, Stalls(seed=2, output=0.6), processes=[watch])
    assert output.beats == len(entered) == len(left) == 16 * design.beats_per_token
    assert left == [clock + engine.core_latency for clock in entered]
    assert output.output_waits is not None and output.output_waits > 100
    assert max(b - a for a, b in itertools.pairwise(entered)) > 4, "the entrance never waited"


def test_a_write_and_a_read_at_once_are_both_answered_after_five_clocks(make_design) -> None:
    ports: Any = RotaryPorts(make_design())
    seen = []

    async def testbench(ctx: Any) -> None:
        await ctx.tick().repeat(40)  # the counters are made 0 after reset
        ctx.set(ports.s_axil_awaddr, address_of("query_heads"))
        ctx.set(ports.s_axil_wdata, 3)
        for signal in (ports.s_axil_awvalid, ports.s_axil_wvalid, ports.s_axil_arvalid):
            ctx.set(signal, 1)
        for _ in range(8):
            flags = Cat(ports.s_axil_awready & ports.s_axil_wready, ports.s_axil_arready)
            _, _, taken, written, found = await ctx.tick().sample(flags, ports.s_axil_bvalid, ports.s_axil_rvalid)
            seen.append((taken, written, found))

    run(ports, testbench)
    # Taken in the first clock; while the answers are not taken, nothing more is.
    assert seen == [(3, 0, 0), *[(0, 0, 0)] * 4, *[(0, 1, 1)] * 3]
