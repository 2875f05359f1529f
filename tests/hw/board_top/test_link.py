"""The board's end of the link, between a host that is written here and words that are kept here."""

import random
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from ropewalk.board_top.link import Link
from ropewalk_sim.board.frames import Unframer, framed

RESET, WRITE, READ = 0, 1, 2
MISSING = 0x0FFC
"""An address whose accesses are refused."""


class Host:
    """Puts bytes on a simulated line and collects what comes back; keeps every access that the board carried out."""

    def __init__(self, ctx: Any, dut: Link, accesses: list[tuple[int, int | None]]) -> None:
        self._ctx, self._dut = ctx, dut
        self._unframer = Unframer()
        self.accesses = accesses

    async def send(self, line: bytes) -> None:
        self._ctx.set(self._dut.bytes.ready, 0)
        for byte in line:
            self._ctx.set(self._dut.byte, byte)
            self._ctx.set(self._dut.taken, 1)
            await self._ctx.tick()
            self._ctx.set(self._dut.taken, 0)
            await self._ctx.tick().repeat(15)

    async def answers(self, clocks: int = 1500) -> list[bytes]:
        got = bytearray()
        out = self._dut.bytes
        self._ctx.set(out.ready, 1)
        quiet = 0
        while quiet < clocks:
            quiet += 1
            if self._ctx.get(out.valid):
                got.append(self._ctx.get(out.payload))
                quiet = clocks - 900
            await self._ctx.tick()
        return list(self._unframer.frames(bytes(got)))

    async def ask(self, contents: bytes) -> list[bytes]:
        await self.send(framed(contents))
        return await self.answers()


@pytest.fixture
def session(simulate: Any) -> Callable[[Callable[[Host], Any], int], None]:
    """Runs a host on a link whose words are a dictionary, where what was never written reads its own address."""

    def run(bench: Callable[[Host], Any], clocks: int = 100_000) -> None:
        dut = Link()
        accesses: list[tuple[int, int | None]] = []
        words: dict[int, int] = {}
        draw = random.Random(2)

        async def first(ctx: Any) -> None:
            await bench(Host(ctx, dut, accesses))

        async def bus(ctx: Any) -> None:
            while True:
                started = ctx.get(dut.start)
                await ctx.tick()
                if not started:
                    continue
                for _ in range(draw.randrange(8)):
                    await ctx.tick()
                address = ctx.get(dut.address)
                if ctx.get(dut.write):
                    words[address] = ctx.get(dut.word)
                accesses.append((address, words[address] if ctx.get(dut.write) else None))
                ctx.set(dut.value, words.get(address, address))
                ctx.set(dut.refused, address == MISSING)
                ctx.set(dut.done, 1)
                await ctx.tick()
                ctx.set(dut.done, 0)

        simulate(dut, [first, bus], clocks)

    return run


def words_of(*words: int) -> bytes:
    return b"".join(word.to_bytes(4, "little") for word in words)


def request(number: int, command: int, address: int, rest: bytes = b"") -> bytes:
    return bytes([number, command]) + address.to_bytes(2, "little") + rest


def test_words_are_written_and_read(session: Any) -> None:
    async def bench(host: Host) -> None:
        assert await host.ask(bytes([7, RESET]) + b"nonce") == [bytes([7, 0x80]) + b"nonce" + bytes([0, 0])]
        assert await host.ask(request(8, WRITE, 0x1014, words_of(1, 0, 0xFFFFFFFF))) == [bytes([8, 0x81, 3, 0])]
        assert host.accesses == [(0x1014, 1), (0x1014, 0), (0x1014, 0xFFFFFFFF)]
        answer = bytes([9, 0x82]) + words_of(0xFFFFFFFF, 0xFFFFFFFF) + bytes([2, 0])
        assert await host.ask(request(9, READ, 0x1014, b"\x02")) == [answer]
        assert await host.ask(request(10, READ, 0x0004, b"\x01")) == [bytes([10, 0x82]) + words_of(4) + bytes([1, 0])]

    session(bench)


def test_the_longest_request_and_answer(session: Any) -> None:
    words = [0x01020300 + index for index in range(60)]

    async def bench(host: Host) -> None:
        await host.ask(bytes([255, RESET]))
        assert await host.ask(request(0, WRITE, 0x10, words_of(*words))) == [bytes([0, 0x81, 60, 0])]
        assert host.accesses == [(0x10, word) for word in words]
        answer = bytes([1, 0x82]) + words_of(*[words[-1]] * 60) + bytes([60, 0])
        await host.send(framed(request(1, READ, 0x10, bytes([60]))))
        assert await host.answers(6000) == [answer]

    session(bench)


def test_a_repeated_request_is_answered_again_and_not_carried_out_again(session: Any) -> None:
    async def bench(host: Host) -> None:
        await host.ask(bytes([1, RESET]))
        once = request(2, WRITE, 0x20, words_of(5))
        first = await host.ask(once)
        assert await host.ask(once) == first == [bytes([2, 0x81, 1, 0])]
        assert await host.ask(once) == first
        assert host.accesses == [(0x20, 5)]

    session(bench)


def test_only_the_next_number_is_carried_out(session: Any) -> None:
    """So that an older frame that turns up again does no harm, and none before the first reset."""

    async def bench(host: Host) -> None:
        assert await host.ask(request(2, WRITE, 0x20, words_of(5))) == []
        await host.ask(bytes([1, RESET]))
        for number in (3, 0, 255, 129):
            assert await host.ask(request(number, WRITE, 0x20, words_of(5))) == []
        assert host.accesses == []
        assert len(await host.ask(request(2, WRITE, 0x20, words_of(6)))) == 1

    session(bench)


def test_an_access_that_is_refused_ends_the_request(session: Any) -> None:
    async def bench(host: Host) -> None:
        await host.ask(bytes([1, RESET]))
        assert await host.ask(request(2, WRITE, MISSING, words_of(5, 6))) == [bytes([2, 0x81, 0, 2])]
        assert await host.ask(request(3, READ, MISSING, b"\x04")) == [bytes([3, 0x82, 0, 2])]
        assert await host.ask(request(4, READ, 0x2000 + 4, b"\x01")) == [bytes([4, 0x82, 0, 2])]
        assert [address for address, _ in host.accesses] == [MISSING, MISSING]

    session(bench)


@pytest.mark.parametrize(
    "contents",
    [
        bytes([2, 3, 4, 0, 1]), bytes([2, WRITE, 4]), bytes([2, READ, 4, 0]), bytes([2, READ, 4, 0, 61]),
        bytes([2, WRITE, 4, 0, 1, 2, 3]), bytes([2, WRITE]), bytes([2, 0x7F]),
    ],
)  # fmt: skip
def test_a_malformed_request_is_answered_so(session: Any, contents: bytes) -> None:
    async def bench(host: Host) -> None:
        await host.ask(bytes([1, RESET]))
        assert await host.ask(contents) == [bytes([2, 0x80 | contents[1], 0, 1])]
        assert host.accesses == []
        assert len(await host.ask(request(3, READ, 4, b"\x01"))) == 1

    session(bench)


def test_damaged_frames_are_dropped_in_silence(session: Any) -> None:
    """Every kind of damage at places drawn at random: nothing is carried out, and the frame sent again is."""
    draw = random.Random(3)

    async def bench(host: Host) -> None:
        await host.ask(bytes([0, RESET]))
        for number in range(1, 13):
            line = framed(request(number, WRITE, 0x30, words_of(number, 0, 0x11223344)))
            place = draw.randrange(1, len(line) - 1)
            damaged = bytearray(line)
            kind = number % 3
            if kind == 0:
                damaged[place] ^= 1 << draw.randrange(8)
            elif kind == 1:
                del damaged[place]
            else:
                damaged.insert(place, damaged[place])
            host.accesses.clear()
            await host.send(bytes(damaged))
            assert (await host.answers(400), host.accesses) == ([], [])
            await host.send(line)
            assert await host.answers() == [bytes([number, 0x81, 3, 0])]
            assert host.accesses == [(0x30, number), (0x30, 0), (0x30, 0x11223344)]

    session(bench, 300_000)


def test_what_comes_while_a_request_is_answered_is_left_out(session: Any) -> None:
    async def bench(host: Host) -> None:
        await host.ask(bytes([1, RESET]))
        two = framed(request(2, WRITE, 0x40, words_of(1))) + framed(request(3, WRITE, 0x40, words_of(2)))
        assert await host.ask(b"") == []
        await host.send(two)  # the answer to the first waits for the line meanwhile
        assert await host.answers() == [bytes([2, 0x81, 1, 0])]
        assert host.accesses == [(0x40, 1)]
        assert len(await host.ask(request(3, WRITE, 0x40, words_of(2)))) == 1

    session(bench)


def test_the_crc_is_that_of_zip(session: Any) -> None:
    """The frames above use one function on both ends; this one is laid out by hand."""

    async def bench(host: Host) -> None:
        body = bytes([9, RESET, 0x55])
        crc = zlib.crc32(body).to_bytes(4, "little")
        assert 0 not in crc
        await host.send(b"\0" + bytes([2, 9, 6, 0x55]) + crc + b"\0")
        assert await host.answers() == [bytes([9, 0x80, 0x55, 0, 0])]

    session(bench)
