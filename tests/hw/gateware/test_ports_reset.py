"""Sentences of the port contract on reset, soft reset and flush."""

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Cat, ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk.gateware.register_map import register_map
from ropewalk.gateware.register_port import WRITE_CLOCKS
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.registers import Access, address_of, load_slot, read, read_crcs, wait, write

LAYOUTS = {
    "interleaved": {"lanes": 4},
    "half": {"pairings": ("half", "half")},
    "half in mid-beat": {"pairings": ("half", "half"), "rotary_dim": 4, "rotary_start": 6},
    "both, values": {"pairings": ("half", "interleaved"), "value_heads": 1},
    "table": {"source": "table", "positions": 20},
    "no registers": {"registers": False},
}
RNG = np.random.default_rng


def run(dut: Any, testbench: Any) -> None:
    done = []

    async def whole(ctx: Any) -> None:
        await testbench(ctx)
        done.append(True)

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(whole)
    simulator.run()
    assert done


async def accesses(ctx: Any, ports: Any, *wanted: Access) -> list[int]:
    host = Host(ports, 0.0, RNG(1))
    await host.run(ctx, wanted)
    assert all(not answer.refused for answer in host.answers), host.answers
    return [answer.value for answer in host.answers]


@pytest.mark.parametrize("name", ["interleaved", "both, values", "table", "no registers"])
def test_valids_and_stream_readies_are_low_in_reset_and_for_a_clock_after(name, make_design) -> None:
    """Everything is on offer, answers and results are waiting, then reset comes: from its first edge on all is low."""
    ports: Any = RotaryPorts(make_design(**LAYOUTS[name]))
    reset = Signal()
    valids = Cat(ports.m_axis_tvalid, ports.s_axil_bvalid, ports.s_axil_rvalid)
    readies = Cat(ports.s_axis_tready, ports.s_axis_token_tready)
    accessing = (ports.s_axil_awvalid, ports.s_axil_wvalid, ports.s_axil_arvalid)

    async def testbench(ctx: Any) -> None:
        for signal in (ports.s_axis_tvalid, ports.s_axis_token_tvalid, *accessing):
            ctx.set(signal, 1)
        await ctx.tick().repeat(200)
        assert ctx.get(valids) == 0b111, "nothing was under way"
        ctx.set(reset, 1)
        for _ in range(5):
            await ctx.tick()
            assert (ctx.get(valids), ctx.get(readies)) == (0, 0)
        for signal in accessing:
            ctx.set(signal, 0)
        ctx.set(reset, 0)
        # In the first clock out of reset nothing is taken yet.
        assert (ctx.get(valids), ctx.get(readies)) == (0, 0)
        for _ in range(3):
            await ctx.tick()
            assert not ctx.get(ports.m_axis_tvalid)
        assert ctx.get(ports.s_axis_token_tready)

    run(ResetInserter(reset)(ports), testbench)


@pytest.mark.parametrize("slots", [1, 3, 8, 64])
def test_after_configuration_descriptors_wait_two_clocks_for_each_slot(slots, make_design) -> None:
    """And no longer, and never again: a slot that a reset finds half set up is set up behind it."""
    ports: Any = RotaryPorts(make_design(slots=slots, bases=(1e4,), amplitudes=(1.0,)))
    reset = Signal()

    async def until_ready(ctx: Any) -> int:
        for clock in range(500):
            if ctx.get(ports.s_axis_token_tready):
                return clock
            await ctx.tick()
        raise AssertionError("no descriptor is ever taken")

    async def testbench(ctx: Any) -> None:
        await ctx.tick().repeat(slots)
        for value in (1, 0):
            ctx.set(reset, value)
            await ctx.tick()
        assert 2 * slots <= await until_ready(ctx) + slots + 2 <= 2 * slots + 6
        await accesses(ctx, ports, wait("load_state", 4, 0))
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert await until_ready(ctx) <= 3
        assert await accesses(ctx, ports, read("geometry_crc[0]")) == [slot_crc(ports._design, 0)]

    run(ResetInserter(reset)(ports), testbench)


def test_registers_have_their_documented_values_after_reset_and_slots_their_content(make_design) -> None:
    """What ``docs/registers.md`` says (it is made of the register map), and for head counts the design's numbers."""
    design = make_design(slots=3, value_heads=1)
    ports: Any = RotaryPorts(design)
    reset = Signal()
    written = [
        *load_slot(2, design, 1), write("query_heads", 5), write("key_heads", 0), write("value_heads", 7),
        write("offset[0]", -4), write("load_begin", 0), write("load_data", 3),
    ]  # fmt: skip
    fixed = ("identity", "version", "widths", "shape", "features")

    async def testbench(ctx: Any) -> None:
        ctx.set(reset, 0)
        await accesses(ctx, ports, wait("load_state", 4, 0))
        identity = await accesses(ctx, ports, *map(read, fixed))
        await accesses(ctx, ports, *written[:-2], wait("load_state", 6, 0), *written[-2:])
        # An error, counted and sticky.
        ctx.set(ports.s_axis_token_tdata, 9)
        ctx.set(ports.s_axis_token_tvalid, 1)
        await ctx.tick().repeat(2)
        ctx.set(ports.s_axis_token_tvalid, 0)
        await ctx.tick().repeat(4)
        assert await accesses(ctx, ports, read("status"), write("control", 2), read("slot_errors")) == [2, 0, 2]
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        heads = dict(zip(("query_heads", "key_heads", "value_heads"), design.heads, strict=True))
        for name, register in register_map().items():
            axis = name.startswith("offset") and name != "offset[0]"
            if register.readable and not axis and name not in fixed and not name.startswith("geometry_crc"):
                documented = sum(field.reset << field.low for field in register.fields.values())
                assert await accesses(ctx, ports, read(name)) == [heads.get(name, documented)], name
        assert await accesses(ctx, ports, *map(read, fixed)) == identity
        _, *crcs = await accesses(ctx, ports, *read_crcs(range(3)))
        assert crcs == [slot_crc(design, 0), slot_crc(design, 1), slot_crc(design, 1)]

    run(ResetInserter(reset)(ports), testbench)


@pytest.mark.parametrize("bit", [1, 8], ids=["soft reset", "flush"])
def test_head_counts_offsets_counters_and_status_stay_and_an_unfinished_load_does_not(bit, make_design) -> None:
    design = make_design(slots=3)
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any) -> None:
        await accesses(ctx, ports, wait("load_state", 4, 0), write("query_heads", 5), write("offset[0]", -4))
        ctx.set(ports.s_axis_token_tdata, 9)
        ctx.set(ports.s_axis_token_tvalid, 1)
        await ctx.tick().repeat(2)
        ctx.set(ports.s_axis_token_tvalid, 0)
        await accesses(ctx, ports, write("load_begin", 0), write("load_data", 3))
        assert await accesses(ctx, ports, read("load_state")) == [1 | 1 << 16]
        await accesses(ctx, ports, write("control", bit))
        kept = await accesses(
            ctx, ports, read("query_heads"), read("key_heads"), read("offset[0]"), read("status"),
            write("control", 2), read("slot_errors"),
        )  # fmt: skip
        assert kept == [5, 1, 0xFFFFFFFC, 2, 0, 2]
        assert [value & 1 for value in await accesses(ctx, ports, read("load_state"))] == [0]

    run(ports, testbench)


@pytest.mark.parametrize("bit", [1, 8], ids=["soft reset", "flush"])
@pytest.mark.parametrize("name", ["interleaved", "half"])
def test_what_is_offered_meanwhile_counts_as_the_first_of_the_new_stream(bit, name, make_design) -> None:
    """Descriptors and beats stand on offer all the time. Those taken before are gone, the first one after is first."""
    design = make_design(**LAYOUTS[name])
    ports: Any = RotaryPorts(design)
    beats = design.beats_per_token
    streams = []

    async def one(ctx: Any, moment: int) -> None:
        """Write the bit after ``moment`` clocks of a stream whose beats all say its number at position 0."""
        acts = moment + WRITE_CLOCKS
        beat = number = 0
        first = None
        out = []
        flags = Cat(ports.s_axis_tready, ports.m_axis_tvalid & ports.m_axis_tready)
        result = Cat(ports.m_axis_tlast, ports.m_axis_tuser[0], ports.m_axis_tdata[:16])
        while len(out) < 2 * beats:
            ctx.set(ports.s_axis_tdata, sum((beat & 0x7FFF) << 16 * place for place in range(design.elements)))
            ctx.set(ports.s_axis_tlast, (beat - (first or 0)) % beats == beats - 1)
            # A stall of the output, over the moment of the write, in every other stream.
            ctx.set(ports.m_axis_tready, moment % 2 or not acts - 20 < number < acts + 10)
            for signal in (ports.s_axil_awvalid, ports.s_axil_wvalid):
                ctx.set(signal, number == moment)
            _, _, seen, now = await ctx.tick().sample(flags, result)
            # In the clock in which the write acts the engine still takes, and what it takes is lost with the rest.
            if first is None and number > acts:
                first = beat
            beat += seen & 1
            if seen & 2 and number > acts and (out or now >> 2 == first):
                out.append((now >> 2, now & 1, now >> 1 & 1))
            elif seen & 2 and number > acts + 1:
                # What was on offer when a flush was asked for may go out, one beat; nothing else of the old stream.
                streams.append(("left", moment))
            number += 1
            assert number < 500
        streams.append([(value - first, last, error) for value, last, error in out])

    async def testbench(ctx: Any) -> None:
        await accesses(ctx, ports, wait("load_state", 4, 0))
        for signal, value in (
            (ports.s_axis_tvalid, 1), (ports.s_axis_token_tvalid, 1), (ports.s_axil_bready, 1), (ports.s_axil_wstrb, 1),
            (ports.s_axil_awaddr, address_of("control")), (ports.s_axil_wdata, bit),
        ):  # fmt: skip
            ctx.set(signal, value)
        for moment in range(20, 80, 11):
            await one(ctx, moment)

    run(ports, testbench)
    left = [entry for entry in streams if isinstance(entry, tuple)]
    assert len(left) <= (6 if bit == 8 else 0)
    expected = [(place, int(place % beats == beats - 1), 0) for place in range(2 * beats)]
    assert [entry for entry in streams if isinstance(entry, list)] == [expected] * 6


def test_an_input_beat_that_waits_for_a_flush_is_counted_as_stalled(make_design) -> None:
    """A beat is offered in every clock after a reset; the flush waits for a receiver that rests."""
    ports: Any = RotaryPorts(make_design(lanes=4))
    waited = 0

    async def count(ctx: Any, clocks: int) -> None:
        nonlocal waited
        for _ in range(clocks):
            _, _, ready = await ctx.tick().sample(ports.s_axis_tready)
            waited += not ready

    async def testbench(ctx: Any) -> None:
        for signal, value in (
            (ports.s_axis_tvalid, 1), (ports.s_axis_token_tvalid, 1), (ports.s_axil_wstrb, 15),
            (ports.s_axil_awaddr, address_of("control")), (ports.s_axil_wdata, 8), (ports.s_axil_bready, 1),
        ):  # fmt: skip
            ctx.set(signal, value)
        await count(ctx, 100)
        assert ctx.get(ports.m_axis_tvalid)
        for value in (1, 0):
            ctx.set(ports.s_axil_awvalid, value)
            ctx.set(ports.s_axil_wvalid, value)
            await count(ctx, 1)
        await count(ctx, 50)
        ctx.set(ports.m_axis_tready, 1)
        await count(ctx, 20)
        ctx.set(ports.s_axis_tvalid, 0)
        assert await accesses(ctx, ports, write("control", 2), read("input_stalls")) == [0, waited]
        assert waited > 80

    run(ports, testbench)


def test_awprot_and_arprot_are_not_looked_at(make_design) -> None:
    ports: Any = RotaryPorts(make_design())

    async def testbench(ctx: Any) -> None:
        for protection in range(8):
            ctx.set(ports.s_axil_awprot, protection)
            ctx.set(ports.s_axil_arprot, protection ^ 7)
            assert await accesses(ctx, ports, write("query_heads", 9 + protection), read("query_heads")) == [
                0,
                9 + protection,
            ]

    run(ports, testbench)
