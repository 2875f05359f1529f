"""The engines of the soak, one for each way elements are ordered, and what is loaded into their slots.

They are small, so that a beat costs little and everything happens often: heads of 16 elements, tokens of 2 to 56
beats. Everything else about them differs from one to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.geometry.shape import Pairing, Shape
from ropewalk.tables.slot_words import slot_load_words

HEAD_DIM = 16
SLOTS = 6
LOADED_SLOTS = 5
"""Loads go to slots below this one; the last slot stays empty."""

RESET_HEADS = (2, 1, 1)
"""Query, key and value heads after a reset."""

Axes = tuple[int, ...] | None


@dataclass(frozen=True)
class Content:
    """What a slot can hold: a slice with its order, a limit, an amplitude, and the axis of each pair."""

    rotary_dim: int
    rotary_start: int
    limit: int
    amplitude: float
    base: float
    pairing: Pairing = "interleaved"
    output_pairing: Pairing = "interleaved"
    axis: Axes = None

    @property
    def shape(self) -> Shape:
        """The slice, with the head counts of reset."""
        return Shape(
            head_dim=HEAD_DIM, rotary_dim=self.rotary_dim, rotary_start=self.rotary_start, query_heads=RESET_HEADS[0],
            key_heads=RESET_HEADS[1], pairing=self.pairing, output_pairing=self.output_pairing,
        )  # fmt: skip

    @property
    def variant(self) -> Variant:
        """The frequencies."""
        pairs = self.rotary_dim // 2
        return Variant(
            name=f"base{self.base:g}", inverse_frequency=tuple(self.base ** (-pair / pairs) for pair in range(pairs)),
            amplitude=self.amplitude, max_position=self.limit, axis=self.axis,
        )  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """An engine and its contents. The first two are in slots 0 and 1 from the start; the others are loaded.

    ``options`` are those of :class:`~ropewalk.design.Design`.
    """

    contents: tuple[Content, ...]
    options: tuple[tuple[str, Any], ...]

    @property
    def design(self) -> Design:
        """What is emitted."""
        return self.design_of(self.contents[:2], RESET_HEADS)

    def design_of(self, contents: Sequence[Content], heads: tuple[int, int, int]) -> Design:
        """The engine as it is while its first slots hold ``contents`` and its head counts are ``heads``."""
        shapes = [replace(one.shape, query_heads=heads[0], key_heads=heads[1]) for one in contents]
        top = shapes[0]
        geometry = RotaryGeometry(
            model_type="soak", head_dim=HEAD_DIM, rotary_dim=top.rotary_dim, rotary_start=top.rotary_start,
            query_heads=heads[0], key_heads=heads[1], pairing=top.pairing, output_pairing=top.output_pairing,
            layers=None, variants=tuple(replace(one.variant, name=str(slot)) for slot, one in enumerate(contents)),
        )  # fmt: skip
        options = dict(self.options)
        return Design(geometry=geometry.with_shapes(tuple(shapes)), slots=SLOTS, value_heads=heads[2], **options)


@lru_cache(maxsize=64)
def load_words(layout: Layout, content: Content) -> tuple[int, ...]:
    """The words that load ``content``."""
    return tuple(slot_load_words(layout.design_of([content], RESET_HEADS), 0))


def _layout(contents: Sequence[Content], **options: Any) -> Layout:
    return Layout(tuple(contents), tuple(options.items()))


_NATURAL = (
    Content(16, 0, 1 << 24, 1.0, 1e4),
    Content(8, 4, 1000, 1.3466, 1e6),
    Content(6, 2, 40, 0.75, 5e5),
    Content(12, 4, 1 << 20, 1.0, 1e2),
    Content(2, 14, 300, 1.1386, 1e4),
)
_APART = (
    Content(16, 0, 1 << 24, 1.0, 1e4),
    Content(8, 4, 1000, 1.3466, 1e6),
    Content(12, 2, 40, 0.75, 5e5),  # the slice starts in mid-beat
    Content(4, 10, 300, 1.1386, 1e4),
    Content(8, 0, 1 << 20, 1.0, 1e2),
)
_WIDE = (
    Content(16, 0, 1 << 24, 1.0, 1e4),
    Content(8, 8, 1000, 1.3466, 1e6),
    Content(8, 0, 40, 0.75, 5e5),
    Content(16, 0, 300, 1.1386, 1e2),
)


def _ordered(contents: Sequence[Content], pairing: Pairing, output_pairing: Pairing) -> list[Content]:
    return [replace(one, pairing=pairing, output_pairing=output_pairing) for one in contents]


LAYOUTS = {
    "interleaved": _layout(_NATURAL, lanes=2),
    "half": _layout(
        [replace(one, axis=axis) for one, axis in zip(
            _ordered(_APART, "half", "half"), (None, (0, 1, 1, 0), None, (1, 1), (0, 1, 0, 1)), strict=True
        )],
        lanes=2, data_width=12, input_pairing="half", output_pairing="half", position_axes=2,
    ),
    "interleaved-half": _layout(
        _ordered(_WIDE, "interleaved", "half"), lanes=4, data_width=8, coefficient_width=12,
        input_pairing="interleaved", output_pairing="half",
    ),
    "paired-half": _layout(
        _ordered(_NATURAL, "half", "half"), lanes=1, data_width=16, input_pairing="paired", output_pairing="half"
    ),
    "slow-rows": _layout(_NATURAL, lanes=2, clocks_per_pair=4),
    "both": _layout(
        [
            replace(_APART[0], pairing="half", output_pairing="half"),
            replace(_APART[1], axis=(0, 1, 2, 2)),
            replace(_APART[2], pairing="half", output_pairing="interleaved"),
            replace(_APART[3], output_pairing="half", axis=(2, 1)),
            replace(_APART[4], pairing="half", output_pairing="half", axis=(1, 2, 0, 1)),
            _NATURAL[2],
        ],
        lanes=2, input_pairing="both", output_pairing="both", position_axes=3,
    ),
}  # fmt: skip
"""By the name that ``scripts/soak --layout`` takes: what comes in, and what goes out where that differs."""
