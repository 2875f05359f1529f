"""The serial line, against bits that are laid out here."""

from typing import Any

import pytest
from ropewalk.board_top.uart import Receiver, Transmitter, clocks_per_bit
from ropewalk.errors import InputError

MESSAGE = bytes([0x00, 0xFF, 0x55, 0xAA, 0x01, 0x80, 0x7E])


def bits_of(byte: int, stop: int = 1) -> list[int]:
    return [0, *(byte >> place & 1 for place in range(8)), stop]


def received(simulate: Any, levels: list[int]) -> list[tuple[int, int]]:
    """What the receiver makes of a level per clock: bytes, and whether each was broken."""
    dut = Receiver(8)
    got = []

    async def bench(ctx: Any) -> None:
        for level in [1] * 4 + levels + [1] * 40:
            ctx.set(dut.line, level)
            if ctx.get(dut.taken):
                got.append((ctx.get(dut.byte), ctx.get(dut.broken)))
            await ctx.tick()

    simulate(dut, [bench], len(levels) + 100)
    return got


@pytest.mark.parametrize("period", [7.75, 8.0, 8.25])
def test_bytes_arrive_from_a_side_whose_clock_is_off(simulate: Any, period: float) -> None:
    bits = [bit for byte in MESSAGE for bit in bits_of(byte)]
    levels = [bits[int(clock / period)] for clock in range(int(len(bits) * period))]
    assert received(simulate, levels) == [(byte, 0) for byte in MESSAGE]


def test_a_byte_without_its_stop_bit_is_broken_and_the_next_one_arrives(simulate: Any) -> None:
    bits = bits_of(0x31, stop=0) + [0, 0, 1] + bits_of(0x32)
    assert received(simulate, [bit for bit in bits for _ in range(8)]) == [(0x31, 1), (0x32, 0)]


def test_a_pulse_shorter_than_half_a_bit_is_no_byte(simulate: Any) -> None:
    levels = [0] * 3 + [1] * 60 + [bit for bit in bits_of(0x44) for _ in range(8)]
    assert received(simulate, levels) == [(0x44, 0)]


def test_the_transmitter_sends_every_bit_for_its_clocks(simulate: Any) -> None:
    dut = Transmitter(8)
    levels = []

    async def send(ctx: Any) -> None:
        for byte in MESSAGE:
            ctx.set(dut.bytes.payload, byte)
            ctx.set(dut.bytes.valid, 1)
            await ctx.tick().until(dut.bytes.ready)
        ctx.set(dut.bytes.valid, 0)
        await ctx.tick().repeat(100)

    async def watch(ctx: Any) -> None:
        while True:
            levels.append(ctx.get(dut.line))
            await ctx.tick()

    simulate(dut, [send, watch], 1000)
    assert levels[0] == 1
    at = 0
    for byte in MESSAGE:
        at = levels.index(0, at)
        assert levels[at : at + 80] == [bit for bit in bits_of(byte) for _ in range(8)]
        at += 80
    assert set(levels[at:]) == {1}


def test_a_rate_that_the_clock_does_not_give_is_refused() -> None:
    assert clocks_per_bit(24e6, 115200) == 208
    assert clocks_per_bit(25e6, 1_000_000) == 25
    for clock, baud, why in (
        (5e6, 1_000_000, "at most 625000 baud"),
        (12.5e6, 1_000_000, "within 1.5 %"),
        (24e6, 2_000_000, "300 to"),
    ):
        with pytest.raises(InputError, match=why):
            clocks_per_bit(clock, baud)
