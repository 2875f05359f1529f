"""What the gateware's tests share: small designs, and a way to drive a pipeline of fixed latency."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.geometry.shape import Pairing

Drive = Callable[[Any, Sequence[dict[str, Any]], Sequence[str], int], list[tuple[int, ...]]]


@pytest.fixture
def drive() -> Drive:
    """Feeds one set of inputs per clock to a component; gives the outputs ``latency`` clocks after each."""

    def run(dut: Any, inputs: Sequence[dict[str, Any]], outputs: Sequence[str], latency: int) -> list[tuple[int, ...]]:
        seen: list[tuple[int, ...]] = []

        async def testbench(ctx: Any) -> None:
            for clock in range(len(inputs) + latency):
                for name, value in inputs[min(clock, len(inputs) - 1)].items():
                    ctx.set(getattr(dut, name), value)
                if clock >= latency:
                    seen.append(tuple(ctx.get(getattr(dut, name)) for name in outputs))
                await ctx.tick()

        simulator = Simulator(dut)
        simulator.add_clock(1e-8)
        simulator.add_testbench(testbench)
        simulator.run()
        return seen

    return run


@pytest.fixture
def make_design() -> Callable[..., Design]:
    """A small design: head_dim 16 with two variants, unless told otherwise."""

    def make(
        *, head_dim: int = 16, rotary_dim: int | None = None, rotary_start: int = 0, heads: tuple[int, int] = (2, 1),
        bases: tuple[float, ...] = (1e4, 1e6), amplitudes: tuple[float, ...] = (1.0, 1.25), positions: int = 1 << 20,
        lanes: int = 2, pairings: tuple[Pairing, Pairing] = ("interleaved", "interleaved"), **options: Any,
    ) -> Design:  # fmt: skip
        rotary_dim = head_dim if rotary_dim is None else rotary_dim
        variants = tuple(
            Variant(
                name=f"base{base:g}",
                inverse_frequency=tuple(base ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2)),
                amplitude=amplitude,
                max_position=positions,
                pairing=pairing,
                output_pairing=pairing,
            )
            for base, amplitude, pairing in zip(bases, amplitudes, pairings, strict=False)
        )
        geometry = RotaryGeometry(
            model_type="test", head_dim=head_dim, rotary_dim=rotary_dim, rotary_start=rotary_start,
            query_heads=heads[0], key_heads=heads[1], pairing=pairings[0], output_pairing=pairings[0],
            layers=None, variants=variants,
        )  # fmt: skip
        return Design(geometry=geometry, lanes=lanes, **options)

    return make
