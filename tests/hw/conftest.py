"""What the tests of gateware share: small designs."""

from collections.abc import Callable
from typing import Any

import pytest
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.geometry.shape import Pairing


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
