"""The registers and the loading of slots, in Amaranth's simulator."""

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk.gateware.axi_lite import OKAY, SLVERR
from ropewalk.gateware.register_map import register_map
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_crc, slot_load_words
from ropewalk_sim.beats import descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.stream_model import run_model

ADDRESS = {name: register.address for name, register in register_map().items()}


class Host:
    """Reads and writes registers of ``ports``."""

    def __init__(self, ctx: Any, ports: Any) -> None:
        self.ctx = ctx
        self.ports = ports

    async def until(self, signal: Any, *samples: Any) -> list[int]:
        """What ``samples`` are in the first clock in which ``signal`` is high; a limit, so that nothing hangs."""
        for _ in range(100):
            _, _, high, *values = await self.ctx.tick().sample(signal, *samples)
            if high:
                return values
        raise AssertionError("the port does not answer")

    async def write(self, register: str | int, value: int, strobes: int = 15) -> int:
        ctx, ports = self.ctx, self.ports
        ctx.set(ports.s_axil_awaddr, ADDRESS[register] if isinstance(register, str) else register)
        ctx.set(ports.s_axil_wdata, value)
        ctx.set(ports.s_axil_wstrb, strobes)
        ctx.set(ports.s_axil_awvalid, 1)
        ctx.set(ports.s_axil_wvalid, 1)
        ctx.set(ports.s_axil_bready, 1)
        await self.until(ports.s_axil_awready)
        ctx.set(ports.s_axil_awvalid, 0)
        ctx.set(ports.s_axil_wvalid, 0)
        (answer,) = await self.until(ports.s_axil_bvalid, ports.s_axil_bresp)
        return answer

    async def read(self, register: str | int) -> tuple[int, int]:
        ctx, ports = self.ctx, self.ports
        ctx.set(ports.s_axil_araddr, ADDRESS[register] if isinstance(register, str) else register)
        ctx.set(ports.s_axil_arvalid, 1)
        ctx.set(ports.s_axil_rready, 1)
        await self.until(ports.s_axil_arready)
        ctx.set(ports.s_axil_arvalid, 0)
        value, answer = await self.until(ports.s_axil_rvalid, ports.s_axil_rdata, ports.s_axil_rresp)
        return value, answer

    async def value(self, register: str | int) -> int:
        value, answer = await self.read(register)
        assert answer == OKAY, register
        return value

    async def load(self, slot: int, words: list[int]) -> int:
        assert await self.write("load_begin", slot) == OKAY
        for word in words:
            assert await self.write("load_data", word) == OKAY
        return await self.write("load_commit", 0)

    async def settle(self) -> None:
        """Wait until no CRC is being computed."""
        for _ in range(2_000):
            if not await self.value("load_state") & 4:
                return
        raise AssertionError("the scan of the slots never ends")


def hosted(design: Any, script: Callable[[Host], Any]) -> None:
    ports = RotaryPorts(design)
    done = []

    async def testbench(ctx: Any) -> None:
        await script(Host(ctx, ports))
        done.append(True)

    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert done


def test_what_it_is(make_design) -> None:
    design = make_design(lanes=4, coefficient_width=16, data_width=12, slots=5)

    async def script(host: Host) -> None:
        assert (await host.value("identity")).to_bytes(4, "little") == b"ROPE"
        assert await host.value("widths") == 4 | 12 << 8 | 16 << 16 | 48 << 24
        assert (await host.value("shape")) & 0xFFFF == 16
        assert await host.value("features") == 5 | 1 << 8 | 1 << 12
        assert [await host.value(name) for name in ("query_heads", "key_heads", "value_heads")] == [2, 1, 0]

    hosted(design, script)


@pytest.mark.parametrize("source", ["synth", "table"])
def test_the_crc_of_slots_that_were_there_from_the_start(source, make_design) -> None:
    design = make_design(source=source, positions=20, slots=4)

    async def script(host: Host) -> None:
        await host.settle()
        crcs = [await host.value(f"geometry_crc[{slot}]") for slot in range(4)]
        assert crcs == [slot_crc(design, slot) for slot in range(4)]
        assert crcs[0] == zlib.crc32(b"".join(word.to_bytes(4, "little") for word in slot_load_words(design, 0)))
        assert crcs[2:] == [0, 0]
        assert (await host.read("geometry_crc[4]"))[1] == SLVERR

    hosted(design, script)


def test_addresses_that_are_none(make_design) -> None:
    async def script(host: Host) -> None:
        for address in (0x014, 0x01C, 0x060, 0x0A0, 0x7FC, 0x001, 0x002, 0x033, 0x044, 0xFFC):
            assert (await host.read(address)) == (0, SLVERR), hex(address)
            assert await host.write(address, 1) == SLVERR, hex(address)
        assert await host.write("identity", 0) == SLVERR
        assert (await host.read("load_data"))[1] == SLVERR

    hosted(make_design(), script)


def test_byte_strobes_and_full_words(make_design) -> None:
    async def script(host: Host) -> None:
        assert await host.write("query_heads", 0x0105, strobes=0b0010) == OKAY
        assert await host.value("query_heads") == 2
        assert await host.write("query_heads", 0x0105, strobes=0b0001) == OKAY
        assert await host.value("query_heads") == 5
        assert await host.write("offset[0]", 7, strobes=0b0111) == SLVERR
        assert await host.value("offset[0]") == 0
        assert await host.write("offset[0]", 0xFFFFFFF9) == OKAY
        assert await host.value("offset[0]") == 0xFFFFFFF9
        assert await host.write("query_heads", 0) == OKAY
        assert await host.write("key_heads", 0) == SLVERR
        assert await host.value("key_heads") == 1

    hosted(make_design(), script)


def test_a_load_gives_the_slot_its_content_and_crc(make_design) -> None:
    design = make_design(slots=3)
    other = make_design(slots=3, bases=(5e5, 5e4), amplitudes=(1.1386, 1.0), positions=999)

    async def script(host: Host) -> None:
        await host.settle()
        assert await host.load(2, slot_load_words(other, 0)) == OKAY
        assert await host.load(0, slot_load_words(other, 1)) == SLVERR
        assert (await host.value("load_state")) >> 8 & 7 == 3
        await host.settle()
        assert await host.load(0, slot_load_words(other, 1)) == OKAY
        await host.settle()
        crcs = [await host.value(f"geometry_crc[{slot}]") for slot in range(3)]
        assert crcs == [slot_crc(other, 1), slot_crc(design, 1), slot_crc(other, 0)]

    async def busy(host: Host) -> None:
        await host.settle()
        assert await host.load(2, slot_load_words(other, 0)) == OKAY
        assert await host.write("load_begin", 0) == SLVERR
        state = await host.value("load_state")
        assert state & 2 and state >> 8 & 7 == 1

    hosted(design, busy)

    async def patient(host: Host) -> None:
        await host.settle()
        for slot, which in ((2, 0), (0, 1)):
            assert await host.load(slot, slot_load_words(other, which)) == OKAY
            await host.settle()
        crcs = [await host.value(f"geometry_crc[{slot}]") for slot in range(3)]
        assert crcs == [slot_crc(other, 1), slot_crc(design, 1), slot_crc(other, 0)]

    hosted(design, patient)


def changed(words: list[int], index: int, value: int) -> list[int]:
    return [*words[:index], value, *words[index + 1 :]]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda words: words[:-1], 4),
        (lambda words: [*words, 0], 4),
        (lambda words: words + [0] * 200, 4),
        (lambda words: words[:3], 4),
        (lambda words: changed(words, 0, 0), 4),
        (lambda words: changed(words, 0, words[0] + 1), 5),
        (lambda words: changed(words, 1, 4), 5),
        (lambda words: changed(words, 2, 0), 5),
        (lambda words: changed(words, 2, (1 << 24) + 1), 5),
        (lambda words: changed(words, 3, 0), 5),
        (lambda words: changed(words, 3, 1 << 18), 5),
        (lambda words: changed(words, 5, 1 << 30), 5),
        (lambda words: changed(words, 5, 1 << 16), 5),
    ],
)
def test_a_spoilt_load_changes_nothing(spoil, reason, make_design) -> None:
    design = make_design(slots=2)

    async def script(host: Host) -> None:
        await host.settle()
        before = await host.value("geometry_crc[1]")
        assert await host.load(1, spoil(slot_load_words(design, 0))) == SLVERR
        assert (await host.value("load_state")) >> 8 & 7 == reason
        assert await host.value("status") & 16
        assert await host.write("status", 16) == OKAY
        assert await host.value("status") == 0
        assert await host.value("geometry_crc[1]") == before == slot_crc(design, 1)
        assert await host.write("load_data", 1) == SLVERR
        assert await host.write("load_commit", 1) == SLVERR
        assert await host.load(1, slot_load_words(design, 0)) == OKAY
        await host.settle()
        assert await host.value("geometry_crc[1]") == slot_crc(design, 0)

    hosted(design, script)


def test_loading_while_streaming_disturbs_no_beat(make_design) -> None:
    """A slot is loaded over and over while tokens use the other ones: every bit stays the model's."""
    design = make_design(lanes=4, slots=3)
    other = make_design(lanes=4, slots=3, bases=(5e5, 5e4), amplitudes=(1.1386, 1.0))
    ports = RotaryPorts(design)
    commits = []

    async def loader(ctx: Any) -> None:
        host = Host(ctx, ports)
        await ctx.tick().repeat(4)  # the reset
        for turn in range(4):
            await host.settle()
            assert await host.load(2, slot_load_words(other, turn % 2)) == OKAY
            commits.append(turn)
        await host.settle()
        assert await host.value("geometry_crc[2]") == slot_crc(other, 1)

    tokens = 500
    source = np.random.default_rng(2)
    words = source.integers(-32768, 32768, (tokens, 3, 16))
    stream = whole_tokens(design, descriptor_words(np.arange(tokens) % 2, source.integers(0, 1 << 20, tokens)), words)
    got = simulate(ports, design, stream, testbenches=[loader])
    expected = run_model(design, stream)
    np.testing.assert_array_equal(got.data, expected.data)
    np.testing.assert_array_equal(got.user, expected.user)
    assert len(commits) == 4


def test_a_commit_between_two_tokens_takes_effect_at_once_and_as_a_whole(make_design) -> None:
    """Tokens taken before the commit see the old content to their last pair, those after it the new one."""
    old = make_design(lanes=2, slots=1, bases=(1e4,), amplitudes=(1.0,), head_dim=64)
    new = make_design(lanes=2, slots=1, bases=(7e5,), amplitudes=(1.25,), head_dim=64)
    ports = RotaryPorts(old)
    accepted: list[int] = []
    moments: list[int] = []
    clock = [0]

    async def count(ctx: Any) -> None:
        taken = ports.s_axis_token_tvalid & ports.s_axis_token_tready
        async for _, _, token in ctx.tick().sample(taken):
            clock[0] += 1
            if token:
                accepted.append(clock[0])

    async def loader(ctx: Any) -> None:
        host = Host(ctx, ports)
        await ctx.tick().repeat(4)  # the reset
        await host.settle()
        assert await host.load(0, slot_load_words(new, 0)) == OKAY
        moments.append(clock[0])

    tokens = 80
    source = np.random.default_rng(5)
    words = source.integers(-20000, 20000, (tokens, 3, 64))
    descriptors = descriptor_words(0, source.integers(0, 1 << 20, tokens))
    stream = whole_tokens(old, descriptors, words)
    got = simulate(ports, old, stream, testbenches=[loader], processes=[count])
    beats = old.beats_per_token
    before, after = run_model(old, stream), run_model(new, stream)
    which = []
    for token in range(tokens):
        part = slice(token * beats, (token + 1) * beats)
        which.append(
            (np.array_equal(got.data[part], before.data[part]), np.array_equal(got.data[part], after.data[part]))
        )
    first_new = which.index((False, True))
    assert 0 < first_new < tokens
    assert which == [(True, False)] * first_new + [(False, True)] * (tokens - first_new)
    # The commit was answered a clock or two after it happened.
    assert sum(moment < moments[0] - 4 for moment in accepted) <= first_new <= sum(m <= moments[0] for m in accepted)


def test_counters_and_status(make_design) -> None:
    design = make_design(lanes=2, slots=3, positions=100)
    ports = RotaryPorts(design)
    words = np.full((6, 3, 16), -32768)
    descriptors = descriptor_words([0, 1, 2, 0, 1, 0], np.array([1, 100, 5, 3, 4, 1 << 31]))
    stream = whole_tokens(design, descriptors, words)
    stream.tid[stream.beats - 2] = 9
    got: dict[str, int] = {}

    async def reader(ctx: Any) -> None:
        host = Host(ctx, ports)
        for _ in range(400):
            await ctx.tick()
        await host.write("control", 2)
        for name in ("tokens", "beats", "position_errors", "slot_errors", "framing_errors", "saturations"):
            got[name] = await host.value(name)
        got["status"] = await host.value("status")
        await host.write("control", 4)
        await host.write("control", 2)
        got["cleared"] = await host.value("beats")

    output = simulate(ports, design, stream, testbenches=[reader])
    assert got["beats"] == output.beats == stream.beats - 1
    assert (got["position_errors"], got["slot_errors"], got["framing_errors"]) == (2, 1, 1)
    assert got["tokens"] == int(output.last.sum())
    x, y = -32768.0, -32768.0
    saturated = 0
    for token, slot in ((0, 0), (3, 0), (4, 1)):
        position = int(descriptors[token, 1])
        for frequency in design.variants[slot].inverse_frequency:
            cos, sin = np.cos(position * frequency), np.sin(position * frequency)
            amplitude = design.variants[slot].amplitude
            for value in (amplitude * (x * cos - y * sin), amplitude * (x * sin + y * cos)):
                saturated += 3 * (value > 32767.5 or value < -32768.5)
    assert got["saturations"] == saturated > 0
    assert got["status"] == 0b01111
    assert got["cleared"] == 0


@pytest.mark.parametrize("bit", [1, 8], ids=["soft reset", "flush"])
def test_soft_reset_and_flush_empty_the_streams(bit, make_design) -> None:
    """After either, a new stream runs as in a fresh engine; slots and head counts stay."""
    design = make_design(lanes=2, slots=3)
    other = make_design(lanes=2, slots=3, bases=(5e5, 5e4), amplitudes=(1.1386, 1.0))
    loaded = replace(
        design, geometry=replace(design.geometry, variants=(*design.variants, replace(other.variants[0], name="third")))
    )
    ports = RotaryPorts(design)
    tokens = 20
    words = np.random.default_rng(1).integers(-30000, 30000, (tokens, 3, 16))
    stream = whole_tokens(design, descriptor_words(2, np.arange(tokens) * 31), words)
    interrupted = []

    async def prelude(ctx: Any) -> None:
        host = Host(ctx, ports)
        await host.settle()
        assert await host.load(2, slot_load_words(other, 0)) == OKAY
        # Half a token goes in, and three descriptors that never get data.
        ctx.set(ports.m_axis_tready, 0)
        ctx.set(ports.s_axis_token_tdata, 5 << 32)
        ctx.set(ports.s_axis_token_tvalid, 1)
        ctx.set(ports.s_axis_tvalid, 1)
        for _ in range(60):
            await ctx.tick()
        ctx.set(ports.s_axis_token_tvalid, 0)
        ctx.set(ports.s_axis_tvalid, 0)
        assert ctx.get(ports.m_axis_tvalid)
        await host.write("control", bit)
        for _ in range(5):
            await ctx.tick()
        interrupted.append(ctx.get(ports.m_axis_tvalid))
        ctx.set(ports.m_axis_tready, 1)
        for _ in range(5):
            await ctx.tick()
        assert not ctx.get(ports.m_axis_tvalid)

    output = simulate(ports, design, stream, prelude=prelude, reset_clocks=0)
    # A flush lets the beat on offer be taken; a reset does not.
    assert interrupted == [bit == 8]
    np.testing.assert_array_equal(output.data, run_model(loaded, stream).data)


def test_slots_survive_reset_and_an_unfinished_load_does_not(make_design) -> None:
    design = make_design(slots=2)
    reset = Signal()
    ports = RotaryPorts(design)

    async def testbench(ctx: Any) -> None:
        host = Host(ctx, ports)
        await host.settle()
        assert await host.load(1, slot_load_words(design, 0)) == OKAY
        await host.settle()
        assert await host.write("load_begin", 0) == OKAY
        assert await host.write("load_data", 1) == OKAY
        assert await host.value("load_state") & 1
        assert await host.write("query_heads", 7) == OKAY
        ctx.set(reset, 1)
        await ctx.tick().repeat(2)
        ctx.set(reset, 0)
        assert not await host.value("load_state") & 1
        assert await host.value("query_heads") == 2
        crcs = [await host.value(f"geometry_crc[{slot}]") for slot in range(2)]
        assert crcs == [slot_crc(design, 0)] * 2

    simulator = Simulator(ResetInserter(reset)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def test_offset_and_head_counts_are_sampled_with_the_descriptor(make_design) -> None:
    design = make_design(lanes=2, heads=(2, 1))
    ports = RotaryPorts(design)

    async def prelude(ctx: Any) -> None:
        host = Host(ctx, ports)
        assert await host.write("offset[0]", 0xFFFFFFFF) == OKAY
        assert await host.write("key_heads", 2) == OKAY
        assert await host.write("value_heads", 1) == OKAY

    grouped = make_design(lanes=2, heads=(2, 2), value_heads=1)
    tokens = 12
    words = np.random.default_rng(1).integers(-30000, 30000, (tokens, 5, 16))
    stream = whole_tokens(grouped, descriptor_words(0, np.arange(tokens)), words)
    shifted = whole_tokens(grouped, descriptor_words(0, np.arange(tokens) - 1), words)
    output = simulate(ports, grouped, stream, prelude=prelude, reset_clocks=0)
    expected = run_model(grouped, shifted)
    for field in ("data", "user", "last", "tid"):
        np.testing.assert_array_equal(getattr(output, field), getattr(expected, field))
