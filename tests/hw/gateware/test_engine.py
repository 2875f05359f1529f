"""The engine as a whole in Amaranth's simulator: what its parts promise each other."""

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Cat
from amaranth.sim import Simulator
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_crc, slot_load_words
from ropewalk_sim import registers
from ropewalk_sim.beats import Script, Stalls, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.stream_model import run_model

DESIGNS = {
    "rows limit": {"lanes": 4},
    "data limit": {"lanes": 1, "heads": (3, 1)},
    "slice in mid-beat": {"lanes": 4, "rotary_dim": 6, "rotary_start": 2},
    "one pair": {"head_dim": 8, "rotary_dim": 2, "lanes": 2, "heads": (1, 1)},
    "table": {"lanes": 4, "source": "table", "positions": 20},
    "wide": {"lanes": 2, "data_width": 32, "coefficient_width": 24},
    "narrow": {"lanes": 2, "data_width": 6, "coefficient_width": 8, "phase_bits": 16},
    "values": {"lanes": 2, "value_heads": 2, "slots": 2},
    "2 clocks per pair": {"lanes": 4, "clocks_per_pair": 2},
    "2 clocks, one pair": {"head_dim": 8, "rotary_dim": 2, "lanes": 2, "heads": (1, 1), "clocks_per_pair": 2},
    "4 clocks per pair": {"lanes": 1, "heads": (3, 1), "clocks_per_pair": 4, "pairings": ("half", "half")},
    "4 clocks, wide": {"lanes": 2, "data_width": 32, "coefficient_width": 24, "clocks_per_pair": 4},
    "8 clocks per pair": {"lanes": 2, "coefficient_width": 16, "clocks_per_pair": 8},
    "8 clocks, one pair": {"head_dim": 8, "rotary_dim": 2, "lanes": 2, "heads": (1, 1), "clocks_per_pair": 8},
    "8 clocks, narrow": {"lanes": 2, "data_width": 6, "coefficient_width": 8, "phase_bits": 16, "clocks_per_pair": 8},
    "8 clocks, no registers": {
        "lanes": 4,
        "registers": False,
        "coefficients": "q15",
        "coefficient_width": 16,
        "clocks_per_pair": 8,
    },
}
SETTLED = registers.wait("load_state", 6, 0)
SHARED = [name for name, options in DESIGNS.items() if "clocks_per_pair" in options]


def random_stream(design, tokens: int, seed: int):
    source = np.random.default_rng(seed)
    limits = np.array([*design.limits, 1])
    slot = source.integers(0, len(limits), tokens)
    # Some just past the limit, some repeated.
    position = np.where(source.random(tokens) < 0.1, limits[slot], source.integers(0, limits[slot]))
    position[1::5] = position[::5][: len(position[1::5])]
    slot[1::5] = slot[::5][: len(slot[1::5])]
    words = source.integers(
        design.data.minimum, design.data.maximum + 1, (tokens, sum(design.heads), design.geometry.head_dim)
    )
    flags = source.choice([0, 0, 0, 1, 2, 4, 5], tokens)
    flags[1::5] = flags[::5][: len(flags[1::5])]
    return whole_tokens(
        design, descriptor_words(slot, position, flags=flags, tag=source.integers(0, 256, tokens)), words
    )


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("stalls", [None, Stalls(seed=7, data=0.4, token=0.2, output=0.4)], ids=["free", "stalled"])
def test_every_bit_is_the_models(name, stalls, make_design) -> None:
    design = make_design(**DESIGNS[name])
    stream = random_stream(design, 60, seed=11)
    expected, got = run_model(design, stream), simulate(RotaryPorts(design), design, stream, stalls)
    for field in ("data", "tid", "last", "user"):
        np.testing.assert_array_equal(getattr(got, field), getattr(expected, field), err_msg=field)


@pytest.mark.parametrize(
    "name", ["rows limit", "data limit", "slice in mid-beat", "one pair", "table", "wide", *SHARED]
)
def test_the_first_beat_takes_the_stated_latency(name, make_design) -> None:
    design = make_design(**DESIGNS[name])
    ports = RotaryPorts(design)
    stream = random_stream(design, 1, seed=1)
    stream.descriptors[:] = [[0, 3]]
    latency, taken, seen = ports.latency, [], []

    async def testbench(ctx: Any) -> None:
        ctx.set(ports.s_axis_token_tdata, 3 << 32)
        ctx.set(ports.s_axis_token_tvalid, 1)
        ctx.set(ports.s_axis_tvalid, 1)
        # After a reset the slots are set up before a descriptor is taken.
        for clock in range(latency + 100):
            _, _, token, out = await ctx.tick().sample(ports.s_axis_token_tready, ports.m_axis_tvalid)
            if token and not taken:
                taken.append(clock)
                ctx.set(ports.s_axis_token_tvalid, 0)
            if out:
                seen.append(clock)
                break

    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen[0] - taken[0] == latency
    assert ports._engine._output.depth >= ports._engine.core_latency + 2


@pytest.mark.parametrize("name", ["rows limit", "one pair", "table", "data limit", *SHARED])
def test_no_word_of_the_row_memory_is_read_while_it_is_written(name, make_design) -> None:
    """What reads and writes at once is undefined in a block RAM, so it must not happen where it counts."""
    design = make_design(**DESIGNS[name])
    ports = RotaryPorts(design)
    memory = ports._engine._memory
    rams = [*memory._rams, memory._quadrants]
    writes = [Cat(ram.write_enable, ram.write_address) for ram in rams]
    reads = [ram.address for ram in rams]
    enter = ports._engine._entry.enter & memory.asks[0].needed
    collisions, together = [], 0

    async def watch(ctx: Any) -> None:
        nonlocal together
        async for _, _, entering, *words in ctx.tick().sample(enter, *writes, *reads):
            for write, read in zip(words[: len(rams)], words[len(rams) :], strict=True):
                together += entering and write & 1
                if entering and write == read << 1 | 1:
                    collisions.append(read)

    stream = random_stream(design, 150, seed=4)
    simulate(ports, design, stream, Stalls(seed=2, data=0.2, output=0.2), processes=[watch])
    # Where rows are slow, the reader is seldom at work while one is written.
    assert together > (10 if design.clocks_per_pair == 1 else 0)
    assert not collisions


async def wait(ctx: Any) -> None:
    """Let the CRCs of the slots be computed, which takes turns with the making of rows."""
    await ctx.tick().repeat(800)


@pytest.mark.parametrize("clocks_per_pair", [1, 2, 4, 8])
def test_rows_go_through_at_the_stated_rate(clocks_per_pair, make_design) -> None:
    """Short rows are where a pipeline longer than a row would show."""
    for options in (
        {"lanes": 4}, {"lanes": 1}, {"lanes": 2, "heads": (1, 1)}, {"lanes": 1, "head_dim": 8},
        {"lanes": 4, "rotary_dim": 2, "heads": (4, 2)}, {"lanes": 4, "rotary_dim": 2, "heads": (1, 1)},
    ):  # fmt: skip
        design = make_design(**options, clocks_per_pair=clocks_per_pair)
        source = np.random.default_rng(3)
        words = source.integers(-100, 100, (120, sum(design.heads), design.geometry.head_dim))
        descriptors = descriptor_words(np.arange(120) % 2, np.arange(120) * 3)
        stream = whole_tokens(design, descriptors, words)
        output = simulate(RotaryPorts(design), design, stream, prelude=wait)
        assert output.beats_per_clock == pytest.approx(design.beats_per_clock, rel=0.01)


@pytest.mark.parametrize("clocks_per_pair", [2, 8])
def test_slots_are_loaded_and_scanned_while_slow_rows_are_made(clocks_per_pair, make_design) -> None:
    """What was in slot 1 goes to slot 0; the tokens are of slot 1, and rows limit them all the time."""
    design = make_design(lanes=4, slots=2, heads=(1, 1), clocks_per_pair=clocks_per_pair)
    source = np.random.default_rng(5)
    tokens = 2400 // (8 * clocks_per_pair)
    words = source.integers(-30000, 30000, (tokens, 2, 16))
    stream = whole_tokens(design, descriptor_words(1, source.integers(0, 1 << 20, tokens)), words)
    crc = registers.read("geometry_crc[0]")
    script = Script(meanwhile=(SETTLED, crc, *registers.load_words(0, slot_load_words(design, 1)), SETTLED, crc))
    output = simulate(RotaryPorts(design), design, stream, script=script)
    np.testing.assert_array_equal(output.data, run_model(design, stream).data)
    values = [answer.value for answer in output.answers]
    assert (values[1], values[-1]) == (slot_crc(design, 0), slot_crc(design, 1))
    assert output.answers[-1].clock < output.last_output_clock
