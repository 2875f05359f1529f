"""The top module at the levels of its board: lights, button and clock."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import Fragment
from amaranth.sim import Simulator
from ropewalk.board_top.files import board_files
from ropewalk.board_top.top import BoardTop
from ropewalk.boards.registry import BOARDS, Board, board_of
from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk_sim.board.signature import expected_signature

PLAIN = Board(name="bench", title="a simulated board", part="LFE5U-25F-6", pins="", clock_mhz=8, target_mhz=8)
ALL_LOW = frozenset({"reset_button", "led_pass", "led_fail"})


@pytest.mark.parametrize("inverted", [frozenset(), ALL_LOW, frozenset({"reset_button"})], ids=["high", "low", "button"])
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_lights_and_button_at_their_levels(
    make_design: Callable[..., Design], inverted: frozenset[str], right: bool
) -> None:
    """Dark, then one light; dark while the button is pressed, and then the same light again."""
    design = make_design(lanes=4, slots=2, registers=False)
    expected = expected_signature(design) ^ (not right)
    dut = BoardTop(design, replace(PLAIN, inverted=inverted), expected=expected, divisor=8)

    def lights(ctx: Any) -> tuple[bool, bool]:
        return tuple(ctx.get(getattr(dut, name)) != (name in inverted) for name in ("led_pass", "led_fail"))

    async def clocks(ctx: Any, count: int) -> None:
        for _ in range(count):
            for level in (1, 0):
                ctx.set(dut.clk, level)
                await ctx.delay(1e-9)

    async def judged(ctx: Any) -> tuple[bool, bool]:
        for _ in range(20_000):
            if any(lights(ctx)):
                return lights(ctx)
            await clocks(ctx, 1)
        raise TimeoutError("no light after 20,000 clocks")

    async def bench(ctx: Any) -> None:
        low = "reset_button" in inverted
        ctx.set(dut.uart_rx, 1)
        ctx.set(dut.reset_button, low)
        await clocks(ctx, 8)
        assert lights(ctx) == (False, False)
        assert await judged(ctx) == (right, not right)
        await clocks(ctx, 100)
        assert lights(ctx) == (right, not right)
        ctx.set(dut.reset_button, not low)
        await clocks(ctx, 8)
        for _ in range(20):
            await clocks(ctx, 10)
            assert lights(ctx) == (False, False)
        ctx.set(dut.reset_button, low)
        assert await judged(ctx) == (right, not right)

    simulator = Simulator(Fragment.get(dut, None))
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("name", ["ulx3s-12f", "icebreaker", "tang-nano-9k"])
def test_the_pll_alone_reads_the_clock_pin(make_design: Callable[..., Design], name: str) -> None:
    """On iCE40 nothing else may; and until it is locked the design is in reset."""
    design = make_design(lanes=1, slots=2, registers=False)
    text = board_files(design, BOARDS[name], expected=1)["ropewalk.v"]
    top = text[text.index("\nmodule ropewalk(") : text.index("endmodule", text.index("\nmodule ropewalk("))]
    assert [line.strip() for line in top.splitlines() if "(clk)" in line] == [".pin(clk)"]
    assert ".locked(locked)" in top.split("reset (")[1].split(");")[0]


def test_a_clock_that_no_pll_makes_is_refused() -> None:
    with pytest.raises(InputError, match="iCEBreaker has no clock of 25 MHz: the PLL of ice40 makes no 25 MHz from 12"):
        board_of("icebreaker").at(25)
    with pytest.raises(InputError, match="A7-35T has no clock of 50 MHz: nothing here makes 50 MHz from 100 MHz"):
        board_of("arty-a7-35t").at(50)
    assert board_of("ulx3s-85f").at(50).target_mhz == 50
    assert board_of("arty-a7-35t").at(100).target_mhz == 100
