"""Parts of the sinusoidal adder by themselves: how rows lie in words, the adder, the ROMs, the memory they take."""

import json
import re

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.designs.sinusoidal import GENERATORS, LANES
from ropewalk.emit.sinusoidal import sinusoidal_files, sinusoidal_memory_files
from ropewalk.gateware.sinusoidal.assembler import Assembler, Plan
from ropewalk.gateware.units.adder import RowAdder
from ropewalk_sim.sinusoidal.scenarios import design_of


def plans(n, cosines, lanes, group):
    """The plans of both layouts, as a list of (kind, plan)."""
    start = n % lanes
    yield "pairs", Plan(size=lanes // 2, group=group, start=0, count=n, wanted=-(-n // (lanes // 2)))
    yield "sines", Plan(size=lanes, group=group, start=0, count=n, wanted=-(-n // lanes))
    yield "cosines", Plan(size=lanes, group=group, start=start, count=n, wanted=-(-(start + cosines) // lanes))


def laid_out(plan):
    """The words of a row as a person would fill them: item numbers, None where nothing falls."""
    places = [None] * plan.start + list(range(plan.count))
    places += [None] * (-len(places) % plan.size)
    words = [places[first : first + plan.size] for first in range(0, len(places), plan.size)]
    return words[: plan.wanted]


def test_no_group_ends_two_words_in_any_shape():
    checked = 0
    for lanes in LANES:
        for group in GENERATORS:
            if 2 * group > lanes:
                continue
            for n in range(1, 150):
                for cosines in {n, n - 1} - {0}:
                    for _, plan in plans(n, cosines, lanes, group):
                        assert sum(plan.ended) - plan.wanted in (0, 1)
                        checked += 1
    assert checked > 10_000
    with pytest.raises(ValueError, match="one word"):
        Plan(size=4, group=2, start=3, count=6, wanted=2)


@pytest.mark.parametrize(
    ("n", "cosines", "lanes", "group"),
    [(5, 4, 8, 4), (6, 5, 4, 2), (7, 7, 8, 4), (3, 3, 2, 1), (13, 13, 16, 4), (1, 1, 4, 1)],
)
def test_items_land_where_the_row_wants_them(n, cosines, lanes, group):
    for kind, plan in plans(n, cosines, lanes, group):
        if kind == "pairs":
            continue
        dut = Assembler(8, plan)
        words = []

        async def bench(ctx, dut=dut, plan=plan, words=words):
            rng = np.random.default_rng(n)
            groups = -(-plan.count // plan.group)
            for row in range(5):
                for number in range(groups):
                    while rng.random() < 0.3:  # a gap
                        ctx.set(dut.valid, 0)
                        await ctx.tick()
                        if ctx.get(dut.done):
                            words.append([int(ctx.get(dut.word[place])) for place in range(plan.size)])
                    for place in range(plan.group):
                        item = number * plan.group + place
                        ctx.set(dut.items[place], row * 40 + item if item < plan.count else 255)
                    ctx.set(dut.valid, 1)
                    ctx.set(dut.last, number == groups - 1)
                    await ctx.tick()
                    if ctx.get(dut.done):
                        words.append([int(ctx.get(dut.word[place])) for place in range(plan.size)])

        simulator = Simulator(dut)
        simulator.add_clock(1e-8)
        simulator.add_testbench(bench)
        simulator.run()
        wanted = [
            [item if item is None else row * 40 + item for item in word] for row in range(5) for word in laid_out(plan)
        ]
        assert len(words) == len(wanted)
        for got, want in zip(words, wanted, strict=True):
            assert [item if place is not None else None for item, place in zip(got, want, strict=True)] == want


def test_every_sum_of_a_small_adder():
    """4-bit elements, all of them, with all encodings of 2 fraction bits: one saturates at each end, none wraps."""
    design = design_of("paper", 8, lanes=8, data_width=4, fraction_bits=2, amplitude=1.5)
    dut = RowAdder(design, design.encoding.shape)
    cases = [(x, e) for x in range(-8, 8) for e in range(-7, 8)]
    beats = [cases[first : first + 8] for first in range(0, len(cases), 8)]
    seen = []

    async def bench(ctx):
        for clock in range(len(beats) + dut.latency):
            if clock < len(beats):
                for place, (x, e) in enumerate(beats[clock]):
                    ctx.set(dut.elements[place], x)
                    ctx.set(dut.addends[place], e)
            if clock >= dut.latency:
                saturated = ctx.get(dut.saturated)
                seen.extend((ctx.get(dut.out[place]), saturated >> place & 1) for place in range(8))
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(cases) == 240
    assert seen == [(min(max(x + e, -8), 7), int(not -8 <= x + e <= 7)) for x, e in cases]


def memory_bits(verilog):
    """Bits of every memory of the Verilog by name, from its declarations."""
    found = re.findall(r"^\s*reg \[(\d+):0\] (\w+) \[(\d+):(\d+)\];", verilog, re.MULTILINE)
    return [((int(width) + 1), abs(int(first) - int(last)) + 1) for width, _, first, last in found]


@pytest.mark.parametrize(
    ("form", "lanes", "generators", "amplitude"),
    [("paper", 4, 2, 1.0), ("marian", 8, 2, 0.5), ("tensor2tensor", 2, 1, 1.0)],
)
def test_memory_is_what_the_page_says(form, lanes, generators, amplitude):
    """docs/sinusoidal.md, "Memory": steps, sines, and the queues of encodings; nothing that the positions multiply."""
    design = design_of(form, 48, lanes=lanes, generators=generators, amplitude=amplitude)
    files = sinusoidal_files(design)
    found = memory_bits(files["ropewalk.v"])
    groups = -(-design.pairs // generators)
    steps = [(48, 2 * 2 ** max(1, (groups - 1).bit_length()))] * generators
    sines = [(design.sine.word_bits, 2**design.sine.index_bits)]  # declared once, placed once per generator
    for memory in steps + sines:
        assert memory in found
        found.remove(memory)
    # the rounded encodings of half a row of sines and a whole one of cosines, and of what is on the way
    waiting = design.cosines + design.pairs / 2 if design.half else 0
    bits = design.encoding.width
    queues = [memory for memory in found if memory[0] == lanes * bits]
    latency = 40 * 2 * generators
    assert sum(width * depth for width, depth in queues) <= (waiting + 2 * (latency + 4 * lanes)) * bits
    # a queue's first word stands in a register
    assert (
        sum(width * (depth + 1) for width, depth in queues) == json.loads(files["design.json"])["derived"]["queue_bits"]
    )
    other = [memory for memory in found if memory not in queues]
    assert sum(width * depth for width, depth in other) < 32 * (lanes * 24 + 80)
    if form != "marian":
        return
    again = design_of(form, 48, lanes=lanes, generators=generators, amplitude=amplitude, max_position=1 << 24)
    assert sorted(memory_bits(sinusoidal_files(again)["ropewalk.v"])) == sorted(memory_bits(files["ropewalk.v"]))


def test_files_are_reproducible_and_hold_their_words():
    design = design_of("marian", 10, lanes=4, generators=2)
    files = sinusoidal_files(design)
    assert files == sinusoidal_files(design)
    assert {name: files[name] for name in files if name.endswith(".hex")} == sinusoidal_memory_files(design)
    assert set(files) == {
        "ropewalk.v",
        "steps_0.hex",
        "steps_1.hex",
        "sine.hex",
        "registers.h",
        "design.json",
        "README.md",
    }
