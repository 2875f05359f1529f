"""The memory in which results wait for the host."""

import random
from typing import Any

from ropewalk.board_top.bridge import RESULT_WORDS, Results


def test_words_come_out_in_order_whatever_stalls_and_not_more_than_there_is_room_for(simulate: Any) -> None:
    """Filled to the brim first, then random on both sides, three times around the memory."""
    dut = Results()
    rng = random.Random(5)
    halves = [rng.getrandbits(16) for _ in range(6 * RESULT_WORDS)]
    put: list[int] = []
    taken: list[int] = []

    async def writer(ctx: Any) -> None:
        while len(put) < len(halves):
            room = ctx.get(dut.room)
            waiting = len(put) - 2 * len(taken)
            # One half more than the memory has, for the first is read ahead.
            assert waiting <= 2 * RESULT_WORDS + 1
            assert room or waiting >= 2 * RESULT_WORDS - 1
            now = room and (len(put) < 2 * RESULT_WORDS or rng.random() < 0.4)
            ctx.set(dut.put, now)
            ctx.set(dut.half, halves[len(put)])
            await ctx.tick()
            if now:
                put.append(halves[len(put)])
        ctx.set(dut.put, 0)

    async def reader(ctx: Any) -> None:
        while len(put) < 2 * RESULT_WORDS or ctx.get(dut.room):
            await ctx.tick()
        for _ in range(20):
            await ctx.tick()
            assert not ctx.get(dut.room)
        while len(taken) < len(halves) // 2:
            ready = rng.random() < 0.3
            ctx.set(dut.words.ready, ready)
            _, _, valid, word = await ctx.tick().sample(dut.words.valid, dut.words.payload)
            if valid and ready:
                taken.append(word)
        ctx.set(dut.words.ready, 0)

    simulate(dut, [reader, writer], 20_000)
    assert taken == [low | high << 16 for low, high in zip(halves[::2], halves[1::2], strict=True)]
