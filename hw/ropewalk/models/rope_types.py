"""What a kind of rotary frequencies (``rope_type``) is given and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..geometry.recipe import Recipe
from ..geometry.rotary import MAX_POSITIONS
from ..strict_json import Keys

Follow = Literal["hf", "llama.cpp", "vllm"]

FACTOR_LIMIT = float(1 << 20)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a rope type is asked for, beside its own keys.

    Parameters
    ----------
    base
        ``rope_theta``, at least 1.
    width
        The rotary dimension as the formulas see it (may be odd).
    max_position
        ``max_position_embeddings``.
    original
        ``original_max_position_embeddings`` beside the rope parameters, which wins over the one inside.
    latent
        A model with multi-head latent attention.
    nested
        The parameters stand in an object per layer type.
    follow
        The software whose reading of doubtful keys is followed.
    note
        Takes a sentence that the user should see.
    sequence_length
        The length at which a choice by length is frozen, or ``None``.
    model_type
        The family, where a type is read differently in one.
    fraction
        The share of a head that turns, for the types that do not shorten the width by it.
    """

    base: float
    width: int
    max_position: int
    original: int | None
    latent: bool
    nested: bool
    follow: Follow
    note: Callable[[str], None]
    sequence_length: int | None = None
    model_type: str = ""
    fraction: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Scaled:
    """One set of frequencies.

    ``name`` replaces the variant's name where a rope type makes several sets, of which one is ``in_force``: the one
    that a layer uses at the length that was asked for. ``recipe`` is ``None`` where no software's single-precision
    steps are known.
    """

    inverse_frequency: tuple[float, ...]
    amplitude: float
    max_position: int
    score_scale: float | None = None
    name: str | None = None
    in_force: bool = True
    recipe: Recipe | None = None


@dataclass(frozen=True)
class RopeType:
    """How a rope type is made, and the keys that it understands beside the general ones."""

    make: Callable[[Keys, Request], list[Scaled]]
    keys: frozenset[str] = frozenset()


def original_length(keys: Keys, request: Request, least: int = 1) -> int:
    """The length that a model was trained at: beside the rope parameters, else in them, else the model's."""
    inside = keys.integer("original_max_position_embeddings", least, MAX_POSITIONS)
    return request.original or inside or request.max_position


def required_factor(keys: Keys, key: str = "factor") -> float:
    """A factor that must be given."""
    return keys.required_number(key, 1 / FACTOR_LIMIT, FACTOR_LIMIT)


def ratio_of_lengths(keys: Keys, request: Request, original: int) -> float:
    """The factor that is meant where none is given: ``max_position_embeddings`` / o."""
    factor = request.max_position / original
    if not 1 / FACTOR_LIMIT <= factor <= FACTOR_LIMIT:
        raise keys.refuse(f"max_position_embeddings / original must be at most {FACTOR_LIMIT:g}, not {factor:g}")
    return factor
