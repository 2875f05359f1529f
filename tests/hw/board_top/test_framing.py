"""Frames in gateware, against the rules of COBS and zlib's CRC."""

import random
import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from ropewalk.board_top.crc import RESIDUE, Crc
from ropewalk.board_top.framing import Decoder, Encoder
from ropewalk.board_top.protocol import MOST_BYTES

# From the paper and the encyclopaedia: contents, and what COBS makes of them.
PAIRS = [
    (b"\x00", "01 01"),
    (b"\x00\x00", "01 01 01"),
    (b"\x00\x11\x00", "01 02 11 01"),
    (b"\x11\x22\x00\x33", "03 11 22 02 33"),
    (b"\x11\x22\x33\x44", "05 11 22 33 44"),
    (b"\x11\x00\x00\x00", "02 11 01 01 01"),
]
LONGEST = (
    bytes(1 + byte % 255 for byte in range(MOST_BYTES)),
    "f9" + bytes(1 + byte % 255 for byte in range(MOST_BYTES)).hex(),
)
PAIRS_AND_LONGEST = [(contents, bytes.fromhex(coded)) for contents, coded in [*PAIRS, LONGEST]]


@pytest.mark.parametrize("contents", [b"", b"123456789", b"\x00", bytes(range(256))])
def test_crc(simulate: Any, contents: bytes) -> None:
    dut = Crc()

    async def bench(ctx: Any) -> None:
        async def put(byte: int) -> None:
            ctx.set(dut.byte, byte)
            ctx.set(dut.taken, 1)
            await ctx.tick()
            ctx.set(dut.taken, 0)
            for _ in range(8):
                assert ctx.get(dut.busy)
                await ctx.tick()
            assert not ctx.get(dut.busy)

        for _ in range(2):
            for byte in contents:
                await put(byte)
            assert ctx.get(dut.register) ^ 0xFFFFFFFF == zlib.crc32(contents)
            for byte in zlib.crc32(contents).to_bytes(4, "little"):
                await put(byte)
            assert ctx.get(dut.register) == RESIDUE
            ctx.set(dut.clear, 1)
            await ctx.tick()
            ctx.set(dut.clear, 0)

    simulate(dut, [bench], 20 * len(contents) + 10_000)


def decoded(simulate: Any, line: Sequence[int | None]) -> list[bytes | None]:
    """What the decoder makes of bytes, None for a broken one: a frame each, or None for what was not whole."""
    dut = Decoder()
    frames = []

    async def bench(ctx: Any) -> None:
        frame = bytearray()
        for byte in line:
            ctx.set(dut.byte, byte or 0)
            ctx.set(dut.broken, byte is None)
            ctx.set(dut.taken, 1)
            if ctx.get(dut.given):
                frame.append(ctx.get(dut.contents))
            if ctx.get(dut.ended):
                if ctx.get(dut.whole):
                    assert ctx.get(dut.length) == len(frame)
                frames.append(bytes(frame) if ctx.get(dut.whole) else None)
                frame.clear()
            await ctx.tick()

    simulate(dut, [bench], len(line) + 10)
    return frames


def test_the_decoder_undoes_cobs(simulate: Any) -> None:
    line = [0]
    for _, coded in PAIRS_AND_LONGEST:
        line += [*coded, 0]
    # the first 0 ends nothing
    assert decoded(simulate, line) == [None, *(contents for contents, _ in PAIRS_AND_LONGEST)]


@pytest.mark.parametrize(
    "fault",
    [
        b"\x05\x11\x22\x33", b"\x05\x11\x22", b"\xff" + bytes([1] * 254), b"\x02" + LONGEST[0], b"",
        b"\xfe" + bytes([1] * 253), b"\x02\x07" * 200, None,
    ],
)  # fmt: skip
def test_a_damaged_frame_is_not_whole_and_the_next_one_is(simulate: Any, fault: bytes | None) -> None:
    damaged = [3, None, 17] if fault is None else [*fault]
    assert decoded(simulate, [0, *damaged, 0, 3, 1, 2, 0]) == [None, None, b"\x01\x02"]


def test_what_comes_before_the_first_zero_is_no_frame(simulate: Any) -> None:
    assert decoded(simulate, [2, 5, 0, 2, 6, 0]) == [None, b"\x06"]


def test_the_encoder_sends_cobs_between_zeros(simulate: Any) -> None:
    """With a receiver that is slow at random, and a memory that answers after two clocks."""
    dut = Encoder()
    draw = random.Random(1)
    memory = bytearray(256)
    sent = bytearray()

    async def bench(ctx: Any) -> None:
        for contents, coded in PAIRS_AND_LONGEST:
            memory[:] = draw.randbytes(256)
            memory[: len(contents)] = contents
            ctx.set(dut.length, len(contents))
            ctx.set(dut.start, 1)
            await ctx.tick()
            ctx.set(dut.start, 0)
            while ctx.get(dut.busy):
                ctx.set(dut.bytes.ready, draw.random() < 0.5)
                if ctx.get(dut.bytes.ready) and ctx.get(dut.bytes.valid):
                    sent.append(ctx.get(dut.bytes.payload))
                await ctx.tick()
            assert bytes(sent) == b"\0" + coded + b"\0"
            sent.clear()

    async def read(ctx: Any) -> None:
        before = 0
        while True:
            address = ctx.get(dut.address)
            await ctx.tick()
            ctx.set(dut.data, memory[before])
            before = address

    simulate(dut, [bench, read], 20_000)
