"""What a rotary model's configuration means: which elements pair, at which frequency, with which amplitude.

Plain numbers only. The formulas that fill these in are in :mod:`ropewalk.geometry.frequencies`; the readers of
configurations are in :mod:`ropewalk.models`.
"""

from dataclasses import dataclass
from typing import Literal

Pairing = Literal["half", "interleaved"]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One set of frequencies: what one slot of the engine holds.

    ``inverse_frequency`` has one double per pair, in radians per position; the doubles are correctly rounded
    from multiple precision and are the exact truth from which every integer follows.
    ``max_position`` is exclusive: the number of positions.
    """

    name: str
    inverse_frequency: tuple[float, ...]
    amplitude: float
    max_position: int
    axis: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class RotaryGeometry:
    """The rotary part of a model. Field names are those of ``ropewalk geometry --json``."""

    model_type: str
    head_dim: int
    rotary_dim: int
    rotary_start: int
    query_heads: int
    key_heads: int
    pairing: Pairing
    output_pairing: Pairing
    layers: tuple[str | None, ...] | None
    variants: tuple[Variant, ...]
    attention_scale: float | str | None = None
    notes: tuple[str, ...] = ()
