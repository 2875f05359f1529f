"""The reorder buffers and the engine in every order, in Amaranth's simulator."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.completer import Completer
from ropewalk.gateware.input_buffer import ReorderedInput
from ropewalk.gateware.output_buffer import ReorderedOutput
from ropewalk.gateware.top import RotaryPorts
from ropewalk.order import working_chunks
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Stalls
from ropewalk_sim.compare import compare
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.stream_model import run_model

SHAPES = {
    "whole": {"head_dim": 24},
    "first": {"head_dim": 24, "rotary_dim": 16},
    "odd": {"head_dim": 24, "rotary_dim": 12, "rotary_start": 6},
    "last": {"head_dim": 16, "rotary_dim": 8, "rotary_start": 8, "lanes": 4},
    "one beat": {"head_dim": 8, "lanes": 4},
    "one lane": {"head_dim": 8, "rotary_dim": 4, "rotary_start": 2, "lanes": 1},
}
ORDERS = [
    ("half", "half"),
    ("half", "interleaved"),
    ("interleaved", "half"),
    ("paired", "half"),
    ("paired", "interleaved"),
    ("half", "paired"),
    ("interleaved", "paired"),
    ("paired", "paired"),
    ("both", "both"),
]


def simulate_for(dut: Any, clocks: int, *testbenches: Any) -> None:
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    for testbench in testbenches:
        simulator.add_testbench(testbench, background=True)

    async def limit(ctx: Any) -> None:
        await ctx.tick().repeat(clocks)

    simulator.add_testbench(limit)
    simulator.run()


def order_fields(design: Any, rotated: bool = True) -> dict[str, int]:
    order = design.orders[0]
    fields = {"split_in": int(order.split_in), "split_out": int(order.split_out)}
    return fields | (
        {"first": order.first, "pairs": order.pairs, "odd": int(order.odd)}
        if rotated
        else {"first": 0, "pairs": 0, "odd": 0}
    )


def is_crossed(design: Any, order: dict[str, int], beat: int) -> bool:
    """Whether the chunks of a beat that comes lie in each other's banks."""
    first, count = order["first"] // design.lanes, order["pairs"] // design.lanes
    return bool(order["split_in"]) and count % 2 == 0 and first + count // 2 <= beat < first + count


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("stalled", [False, True], ids=["free", "stalled"])
def test_the_input_buffer_makes_pair_beats(name, stalled, make_design) -> None:
    """Every third head is not rotated and keeps its order; no word is read in the clock in which it is written."""
    design = make_design(pairings=("half", "half"), **SHAPES[name])
    dut = ReorderedInput(design)
    rng = np.random.default_rng(5)
    lanes, beats, heads = design.lanes, design.beats_per_head, 40
    words = rng.integers(-(1 << 15), 1 << 15, (heads, design.geometry.head_dim))
    chunks = working_chunks(design.orders[0], lanes, beats, split=True)
    expected = []
    for number, head in enumerate(words):
        parts = head.reshape(-1, lanes)
        for low, high in chunks if number % 3 else [(2 * beat, 2 * beat + 1) for beat in range(beats)]:
            expected.append([value for pair in zip(parts[low], parts[high], strict=True) for value in pair])
    found, clashes = [], []

    async def source(ctx: Any) -> None:
        for number, head in enumerate(words):
            for beat, elements in enumerate(head.reshape(beats, -1).tolist()):
                while stalled and rng.random() < 0.3:
                    await ctx.tick()
                order = order_fields(design, number % 3 != 0)
                payload = {
                    "ask": {"word": beat, "bank": number % 4}, "turned": int(number % 3 != 0), "order": order,
                    "crossed": int(is_crossed(design, order, beat)), "absent": 0,
                }  # fmt: skip
                ctx.set(dut.beat.payload, payload)
                ctx.set(dut.beat.valid, 1)
                await ctx.tick().until(dut.beat.ready)
                ctx.set(dut.beat.valid, 0)
                # They come a clock after they have been fetched.
                ctx.set(dut.arriving, elements)

    async def sink(ctx: Any) -> None:
        pipeline: list[bool] = [False] * dut.latency
        ctx.set(dut.available, [1, 1])
        while True:
            ctx.set(dut.room, int(not stalled or rng.random() < 0.7))
            enter = ctx.get(dut.enter)
            if pipeline[-1]:
                found.append([ctx.get(dut.elements[index]) for index in range(2 * lanes)])
            pipeline = [bool(enter), *pipeline[:-1]]
            for ram in dut._banks:
                if ctx.get(ram.write_enable) and enter:
                    clashes.append(ctx.get(ram.write_address) == ctx.get(ram.address))
            await ctx.tick()

    simulate_for(dut, heads * beats * (3 if stalled else 1) + 60, source, sink)
    assert len(found) == heads * beats
    assert found == expected
    assert clashes
    assert not any(clashes)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("stalled", [False, True], ids=["free", "stalled"])
def test_the_output_buffer_takes_pair_beats_apart(name, stalled, make_design) -> None:
    design = make_design(pairings=("half", "half"), **SHAPES[name])
    core = 9
    dut = ReorderedOutput(design, core, 0)
    rng = np.random.default_rng(6)
    lanes, beats, heads = design.lanes, design.beats_per_head, 40
    words = rng.integers(-(1 << 15), 1 << 15, (heads, design.geometry.head_dim))
    chunks = working_chunks(design.orders[0], lanes, beats, split=True)
    given = []
    for number, head in enumerate(words):
        parts = head.reshape(-1, lanes)
        for low, high in chunks if number % 3 else [(2 * beat, 2 * beat + 1) for beat in range(beats)]:
            given.append([int(value) for pair in zip(parts[low], parts[high], strict=True) for value in pair])
    found, clashes = [], []

    async def source(ctx: Any) -> None:
        pipeline: list[int | None] = [None] * core
        beat = 0
        while True:
            # What goes with a beat comes a clock after it has entered.
            entered = pipeline[0]
            ctx.set(dut.came, int(entered is not None))
            if entered is not None:
                ctx.set(dut.order, order_fields(design, entered // beats % 3 != 0))
                ctx.set(dut.word, entered % beats)
            here = pipeline[-1]
            ctx.set(dut.valid, int(here is not None))
            if here is not None:
                ctx.set(dut.elements, given[here])
            enter = beat < len(given) and ctx.get(dut.room) and not (stalled and rng.random() < 0.3)
            ctx.set(dut.enter, int(enter))
            pipeline = [beat if enter else None, *pipeline[:-1]]
            beat += bool(enter)
            for ram in dut._banks:
                clashes.append(ctx.get(ram.write_enable) and ctx.get(ram.write_address) == ctx.get(ram.address))
            await ctx.tick()

    async def sink(ctx: Any) -> None:
        while True:
            ctx.set(dut.result.ready, int(not stalled or rng.random() < 0.7))
            if ctx.get(dut.result.valid) and ctx.get(dut.result.ready):
                found.append([ctx.get(dut.result.payload.elements[index]) for index in range(2 * lanes)])
            await ctx.tick()

    simulate_for(dut, heads * beats * (3 if stalled else 1) + 100, source, sink)
    assert len(found) == heads * beats
    np.testing.assert_array_equal(np.array(found).reshape(words.shape), words)


def test_a_short_head_is_completed_with_absent_beats(make_design) -> None:
    design = make_design(pairings=("half", "half"), head_dim=32, lanes=2)
    dut = Completer(design)
    sent = [(word, int(word == 7)) for word in range(8)] + [(0, 0), (1, 0), (2, 1), (0, 0), (1, 1), (0, 0)]
    found = []

    async def source(ctx: Any) -> None:
        for word, last in sent:
            cut = last and word != design.beats_per_head - 1
            ctx.set(dut.arrival.payload, {"ask": {"word": word, "needed": 1}, "turned": 1, "cut": int(cut)})
            ctx.set(dut.arrival.valid, 1)
            await ctx.tick().until(dut.arrival.ready)
        ctx.set(dut.arrival.valid, 0)

    async def sink(ctx: Any) -> None:
        ctx.set(dut.beat.ready, 1)
        while True:
            *_, valid, beat = await ctx.tick().sample(dut.beat.valid, dut.beat.payload)
            if valid:
                found.append((beat.ask.word, beat.absent, beat.ask.needed, beat.turned))

    simulate_for(dut, 40, source, sink)
    there = [(word, 0, 1, 1) for word in range(8)]
    absent = [(word, 1, 0, 1) for word in range(8)]
    assert found == there + there[:3] + absent[3:] + there[:2] + absent[2:] + there[:1]


@pytest.mark.parametrize("orders", ORDERS, ids=" to ".join)
@pytest.mark.parametrize("name", ["first", "odd", "one lane"])
def test_every_bit_is_the_models_in_every_order(name, orders, make_design) -> None:
    design = make_design(
        input_pairing=orders[0], output_pairing=orders[1], pairings=("half", "interleaved"), heads=(1, 1),
        value_heads=1, **SHAPES[name],
    )  # fmt: skip
    for make in (scenarios.everything, scenarios.broken_packets):
        stream = make(design, seed=2, tokens=10)
        output = simulate(RotaryPorts(design), design, stream, Stalls(seed=3, data=0.2, token=0.1, output=0.2))
        comparison = compare(design, run_model(design, stream), output, stream)
        assert not comparison.differing_bits, str(comparison)


@pytest.mark.parametrize("orders", ORDERS, ids=" to ".join)
@pytest.mark.parametrize("name", SHAPES)
def test_the_first_rotated_beat_takes_the_stated_latency(name, orders, make_design) -> None:
    design = make_design(input_pairing=orders[0], output_pairing=orders[1], **SHAPES[name])
    ports = RotaryPorts(design)
    taken, seen = [], []

    async def testbench(ctx: Any) -> None:
        ctx.set(ports.s_axis_token_tdata, 3 << 32)
        for name in ("s_axis_token_tvalid", "s_axis_tvalid", "m_axis_tready"):
            ctx.set(getattr(ports, name), 1)
        # After a reset the slots are set up before a descriptor is taken.
        for clock in range(ports.latency + 100):
            _, _, token, out = await ctx.tick().sample(ports.s_axis_token_tready, ports.m_axis_tvalid)
            if token and not taken:
                taken.append(clock)
                ctx.set(ports.s_axis_token_tvalid, 0)
            if out:
                seen.append(clock)

    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen[design.orders[0].first // design.lanes] - taken[0] == ports.latency
