"""Sentences of the port contract on slot loads, counters and status, in Amaranth's simulator."""

from typing import Any

import numpy as np
import pytest
from amaranth.lib.memory import Memory
from amaranth.sim import Simulator
from ropewalk.gateware import counters as counters_module
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_crc, slot_load_words
from ropewalk_sim.beats import Script, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.registers import Access, fields, load_words, read, read_counters, wait, write

OKAY, SLVERR = 0, 2
BUSY, NO_SLOT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(1, 6)
SETTLED = wait("load_state", 6, 0)
FULL = (1 << 32) - 1


def run(ports: Any, testbench: Any) -> None:
    done = []

    async def whole(ctx: Any) -> None:
        await testbench(ctx, Host(ports, 0.0, np.random.default_rng(1)))
        done.append(True)

    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(whole)
    simulator.run()
    assert done


async def answers(ctx: Any, host: Host, *accesses: Access) -> list[tuple[int, int]]:
    host.answers.clear()
    await host.run(ctx, accesses)
    return [(answer.value, answer.response) for answer in host.answers]


async def reason(ctx: Any, host: Host, *accesses: Access) -> int:
    """Why the last of ``accesses`` was refused; 0 if it was not."""
    *_, (_, response), (state, _) = await answers(ctx, host, *accesses, read("load_state"))
    assert (response == SLVERR) == (fields("load_state", state)["refused"] != 0)
    return fields("load_state", state)["refused"]


def changed(words: list[int], index: int, value: int) -> list[int]:
    return [*words[:index], value, *words[index + 1 :]]


def test_commit_takes_exactly_the_words_and_values_in_range(make_design) -> None:
    """Both ends of each range, and what lies behind them; the CRC tells whether the slot holds what was loaded."""
    design = make_design(slots=2, phase_bits=40, head_dim=8)
    words = slot_load_words(design, 0)
    assert len(words) == 4 + 2 * 4
    taken = [
        changed(words, 2, 1), changed(words, 2, 1 << 24), changed(words, 3, 1), changed(words, 3, (1 << 18) - 1),
        changed(words, 5, 0xFF), [1 << 16, *words[1:6]], [3 | 1 << 16, *words[1:6]], changed(words, 0, 4 << 16),
    ]  # fmt: skip
    refused = {
        # Amplitude above 0 and at most 2 - 2^-17, which is 2^18 - 1 of its LSB.
        OUT_OF_RANGE: [
            changed(words, 2, 0), changed(words, 2, (1 << 24) + 1), changed(words, 2, 1 << 31),
            changed(words, 3, 0), changed(words, 3, 1 << 18), changed(words, 3, 1 << 31),
            changed(words, 5, 0x100), changed(words, 5, 1 << 29), changed(words, 5, 1 << 30),
            changed(words, 5, 1 << 31),
            changed(words, 1, 1), changed(words, 1, 2), changed(words, 1, 4), changed(words, 1, 1 << 31),
            [0, *words[1:4]], [4 | 1 << 16, *words[1:6]], [5 << 16, *words[1:], 0, 0], [1 | 4 << 16, *words[1:]],
        ],
        WRONG_COUNT: [words[:-1], [*words, 0], words[:4], words[:1], [], [*words, *words], [3 << 16, *words[1:]]],
    }  # fmt: skip
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any, host: Host) -> None:
        for content in taken:
            await answers(ctx, host, SETTLED)
            assert await reason(ctx, host, *load_words(1, content)[1:]) == 0, content
        await answers(ctx, host, SETTLED)
        before = await answers(ctx, host, read("geometry_crc[1]"))
        assert before == [(slot_crc(design, 0), OKAY)]
        for expected, contents in refused.items():
            for content in contents:
                # After a refused commit the load is over and the slot is as it was.
                assert await reason(ctx, host, *load_words(1, content)[1:]) == expected, content
                assert await reason(ctx, host, write("load_commit", 0)) == NOT_BEGUN
        assert await answers(ctx, host, read("geometry_crc[1]")) == before

    run(ports, testbench)


def test_load_begin_takes_a_slot_that_there_is_and_starts_again(make_design) -> None:
    design = make_design(slots=3, head_dim=8)
    words = slot_load_words(design, 1)
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any, host: Host) -> None:
        await answers(ctx, host, SETTLED)
        for slot in (3, 4, 255):
            assert await reason(ctx, host, write("load_begin", slot)) == NO_SLOT
        assert await reason(ctx, host, write("load_data", 0)) == NOT_BEGUN
        assert await reason(ctx, host, write("load_commit", 0)) == NOT_BEGUN
        # Full words only; a write that is refused for its strobes does nothing.
        for register in ("load_begin", "load_data", "load_commit"):
            for strobes in (0, 1, 7, 14):
                assert await answers(ctx, host, write(register, 0, strobes=strobes)) == [(0, SLVERR)]
        assert await reason(ctx, host, write("load_begin", 0), *(write("load_data", 9) for _ in range(5))) == 0
        assert await reason(ctx, host, *load_words(2, words)[1:]) == 0
        await answers(ctx, host, SETTLED)
        crcs = await answers(ctx, host, *(read(f"geometry_crc[{slot}]") for slot in range(3)))
        assert [value for value, _ in crcs] == [slot_crc(design, 0), slot_crc(design, 1), slot_crc(design, 1)]

    run(ports, testbench)


def test_the_slots_of_a_table_cannot_be_loaded(make_design) -> None:
    ports: Any = RotaryPorts(make_design(source="table", positions=4, head_dim=8))

    async def testbench(ctx: Any, host: Host) -> None:
        assert await reason(ctx, host, write("load_begin", 0)) == NO_SLOT
        assert await reason(ctx, host, write("load_data", 0)) == NOT_BEGUN
        assert await reason(ctx, host, write("load_commit", 0)) == NOT_BEGUN
        assert await answers(ctx, host, read("status")) == [(16, OKAY)]

    run(ports, testbench)


def test_a_crc_reads_0_until_it_is_known(make_design) -> None:
    design = make_design(slots=2, head_dim=8)
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any, host: Host) -> None:
        (crc, _), (state, _) = await answers(ctx, host, read("geometry_crc[0]"), read("load_state"))
        assert (crc, fields("load_state", state)["scanning"]) == (0, 1)
        await answers(ctx, host, SETTLED)
        assert await answers(ctx, host, read("geometry_crc[0]")) == [(slot_crc(design, 0), OKAY)]
        await answers(ctx, host, *load_words(0, slot_load_words(design, 1)))
        assert await answers(ctx, host, read("geometry_crc[0]")) == [(0, OKAY)]
        await answers(ctx, host, SETTLED)
        assert await answers(ctx, host, read("geometry_crc[0]")) == [(slot_crc(design, 1), OKAY)]

    run(ports, testbench)


def test_load_begin_answers_busy_while_a_token_still_uses_the_spare(make_design) -> None:
    """Tokens of slot 0 wait for data. After a commit to it, its old content is the spare, and they still need it."""
    design = make_design(lanes=2, slots=2, head_dim=8)
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any, host: Host) -> None:
        await answers(ctx, host, SETTLED)
        ctx.set(ports.s_axis_token_tvalid, 1)
        for position in range(200):
            ctx.set(ports.s_axis_token_tdata, position << 32)
            await ctx.tick()
        assert not ctx.get(ports.s_axis_token_tready), "the queue is not full"
        ctx.set(ports.s_axis_token_tvalid, 0)
        assert await reason(ctx, host, *load_words(0, slot_load_words(design, 1))[1:]) == 0
        await answers(ctx, host, wait("load_state", 4, 0))
        for _ in range(20):
            assert await reason(ctx, host, write("load_begin", 1)) == BUSY
        assert fields("load_state", (await answers(ctx, host, read("load_state")))[0][0])["busy"]
        # Their data come.
        ctx.set(ports.m_axis_tready, 1)
        ctx.set(ports.s_axis_tvalid, 1)
        ctx.set(ports.s_axis_tlast, 1)
        await ctx.tick().repeat(300)
        assert await reason(ctx, host, write("load_begin", 1)) == 0

    run(ports, testbench)


@pytest.mark.parametrize("close", [0, 5])
def test_every_counter_saturates_at_32_bits(close, make_design, monkeypatch) -> None:
    """The counters start ``close`` below their largest value, which they reach and keep."""
    design = make_design(lanes=4, slots=2, positions=100)

    totals: list[Any] = []

    def memory(**options: Any) -> Memory:
        totals.append(Memory(**options))
        return totals[-1]

    async def start(ctx: Any) -> None:
        await ctx.tick().repeat(50)  # since reset makes them 0
        for _ in range(16):  # a round, since a total may be on its way back to the memory
            for row in range(8):
                ctx.set(totals[0].data[row], FULL - close)
            await ctx.tick()

    monkeypatch.setattr(counters_module, "Memory", memory)
    words = np.full((9, 3, 16), -32768)
    descriptors = descriptor_words([0, 1, 0, 1, 7, 7, 7, 7, 7], np.array([3, 5, 100, 101, 0, 0, 0, 0, 0]))
    stream = whole_tokens(design, descriptors, words)
    stream.last[:] = False
    stream.last[5::6] = [False, True] * 4 + [True]
    # Every second packet ends late and takes the next one with it: five tokens come out.
    script = Script(
        registers=(wait("load_state", 4, 0),),
        meanwhile=(*read_counters(start=900), write("control", 4), *read_counters()),
    )
    ports: Any = RotaryPorts(design)
    output = simulate(ports, design, stream, script=script, testbenches=[start])
    shown = [answer.value for answer in output.answers[2:10]]
    events = {
        "tokens": 5, "beats": output.beats, "input_stalls": output.data_waits, "output_stalls": output.output_waits,
        "position_errors": 2, "slot_errors": 5, "framing_errors": 4,
    }  # fmt: skip
    assert shown[0] == min(FULL, FULL - close + events["tokens"])
    assert (shown[1], shown[2]) == (FULL, FULL)
    assert shown[3] == min(FULL, FULL - close + (output.output_waits or 0))
    assert shown[4] == FULL
    assert shown[5:] == [min(FULL, FULL - close + events[name]) for name in
                         ("position_errors", "slot_errors", "framing_errors")]  # fmt: skip
    assert [answer.value for answer in output.answers[-8:]] == [0] * 8


def test_each_error_has_a_sticky_bit_which_an_event_in_the_same_clock_keeps(make_design) -> None:
    """A descriptor in error is taken in every clock while its bit is cleared: it reads 1; afterwards it clears."""
    ports: Any = RotaryPorts(make_design(lanes=4, positions=100, registers=True))

    async def testbench(ctx: Any, host: Host) -> None:
        await answers(ctx, host, SETTLED)
        # Empty slots, whose packets are of one beat and end early: slot and framing errors, beat for beat.
        ctx.set(ports.s_axis_token_tdata, 9)
        for signal in (ports.s_axis_token_tvalid, ports.s_axis_tvalid, ports.s_axis_tlast, ports.m_axis_tready):
            ctx.set(signal, 1)
        await ctx.tick().repeat(60)
        for _ in range(5):
            assert await answers(ctx, host, write("status", 31), read("status")) == [(0, OKAY), (6, OKAY)]
        ctx.set(ports.s_axis_token_tvalid, 0)
        await ctx.tick().repeat(60)
        # A bit of 0 and a byte without its strobe clear nothing; a 1 clears its own bit only.
        assert (await answers(ctx, host, write("status", 0), write("status", 31, strobes=14), read("status")))[-1] == (
            6,
            0,
        )
        assert (await answers(ctx, host, write("status", 2), read("status")))[-1] == (4, OKAY)
        assert (await answers(ctx, host, write("status", 4), read("status")))[-1] == (0, OKAY)
        # The strobe of control's first byte, too.
        assert (await answers(ctx, host, write("control", 2, strobes=14), read("slot_errors")))[-1] == (0, OKAY)
        assert (await answers(ctx, host, write("control", 2, strobes=1), read("slot_errors")))[-1][0] > 20

    run(ports, testbench)
