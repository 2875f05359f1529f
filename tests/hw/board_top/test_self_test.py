"""The whole top of a board: its self-test against the model's signature, and its link through the serial line."""

from collections.abc import Callable
from typing import Any

import pytest
from ropewalk.board_top.top import BoardPorts
from ropewalk.design import Design
from ropewalk_sim.board.signature import expected_signature

DIVISOR = 8


async def judged(ctx: Any, dut: BoardPorts) -> tuple[int, int]:
    while not (ctx.get(dut.led_pass) or ctx.get(dut.led_fail)):
        await ctx.tick()
    return ctx.get(dut.led_pass), ctx.get(dut.led_fail)


def run_top(simulate: Any, design: Design, expected: int, bench: Callable[[Any, BoardPorts], Any], clocks: int) -> None:
    dut = BoardPorts(design, expected=expected, divisor=DIVISOR)

    async def first(ctx: Any) -> None:
        ctx.set(dut.uart_rx, 1)
        await bench(ctx, dut)

    simulate(dut, [first], clocks)


@pytest.mark.parametrize("lanes", [1, 4])
def test_green_where_every_bit_is_right(simulate: Any, make_design: Callable[..., Design], lanes: int) -> None:
    design = make_design(lanes=lanes)

    async def bench(ctx: Any, dut: BoardPorts) -> None:
        assert await judged(ctx, dut) == (1, 0)

    run_top(simulate, design, expected_signature(design), bench, 20_000)
