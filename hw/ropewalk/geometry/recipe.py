"""What the software makes a variant's frequencies from, and its JSON form in ``design.json``."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from ..errors import InputError
from ..strict_json import Keys, show

RopeKind = Literal["default", "linear", "dynamic", "llama3", "yarn", "longrope", "proportional"]

ROPE_KINDS: tuple[RopeKind, ...] = get_args(RopeKind)

LOW_BASE, HIGH_BASE = 1.0, 1e30
FACTOR_LIMIT = float(1 << 20)
HIGH_DIVISOR = 1.1e30
"""llama.cpp's files divide by 1e30 what does not turn."""
MAX_LENGTH = 1 << 40


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The start of a software stack's own computation of a variant's frequencies.

    Parameters
    ----------
    kind
        The rope type, as Hugging Face names them. What is only of some types is ``None`` for the others.
    base, width
        ``rope_theta``, and the rotary dimension as the formulas see it (for ``proportional`` the head's).
    factor
        The scaling factor.
    original
        The original number of positions (dynamic, llama3, yarn).
    beta_fast, beta_slow, truncate
        YaRN's range.
    low_freq_factor, high_freq_factor
        llama3's range.
    divisors
        What the frequencies are divided by, one per pair (longrope; llama.cpp's files may have some beside the types
        default, linear and yarn).
    rotated
        Pairs that turn at all (proportional).
    length
        The sequence length that a dynamic variant is frozen at.
    """

    kind: RopeKind
    base: float
    width: int
    factor: float = 1.0
    original: int | None = None
    beta_fast: float | None = None
    beta_slow: float | None = None
    truncate: bool | None = None
    low_freq_factor: float | None = None
    high_freq_factor: float | None = None
    divisors: tuple[float, ...] | None = None
    rotated: int | None = None
    length: int | None = None

    @property
    def pairs(self) -> int:
        """Pairs of the variant."""
        return (self.width + 1) // 2


_OWN: Mapping[RopeKind, frozenset[str]] = {
    "default": frozenset(),
    "linear": frozenset(),
    "dynamic": frozenset(["original", "length"]),
    "llama3": frozenset(["original", "low_freq_factor", "high_freq_factor"]),
    "yarn": frozenset(["original", "beta_fast", "beta_slow", "truncate"]),
    "longrope": frozenset(["divisors"]),
    "proportional": frozenset(["rotated"]),
}
"""What each type needs beside kind, base, width and factor."""

_DIVISIBLE = ("default", "linear", "yarn")


def recipe_to_json(recipe: Recipe) -> dict[str, Any]:
    """``recipe`` as plain values in a fixed order, without what is ``None``."""
    values = {field.name: getattr(recipe, field.name) for field in fields(recipe)}
    return {
        key: list(value) if isinstance(value, tuple) else value for key, value in values.items() if value is not None
    }


def recipe_from_json(values: object, where: str, prefix: str, pairs: int) -> Recipe:
    """The recipe that :func:`recipe_to_json` made ``values`` from, of a variant of ``pairs`` pairs.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, of no use to the type, of another kind, or out of range.
    """
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: {prefix.rstrip('.')} must be an object, not {show(values)}")
    keys = Keys(values, where, prefix)
    kind = keys.required_choice("kind", ROPE_KINDS)
    own = _OWN[kind]
    for key in values:
        if key not in own | {"kind", "base", "width", "factor"} and not (key == "divisors" and kind in _DIVISIBLE):
            raise InputError(f"{where}: {prefix}{show(key)} is not a key of a recipe of the type {kind}")
    recipe = Recipe(
        kind=kind,
        base=keys.required_number("base", LOW_BASE, HIGH_BASE),
        width=keys.required_integer("width", 3 if kind == "dynamic" else 1, 1 << 17),
        factor=keys.required_number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT),
        original=keys.integer("original", 1, MAX_LENGTH),
        beta_fast=keys.number("beta_fast", 0.0, 1e9),
        beta_slow=keys.number("beta_slow", 0.0, 1e9),
        truncate=keys.flag("truncate"),
        low_freq_factor=keys.number("low_freq_factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT),
        high_freq_factor=keys.number("high_freq_factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT),
        divisors=keys.required_numbers("divisors", pairs, 1 / FACTOR_LIMIT, HIGH_DIVISOR)
        if "divisors" in keys
        else None,
        rotated=keys.integer("rotated", 0, pairs),
        length=keys.integer("length", 1, MAX_LENGTH),
    )
    for key in sorted(own):
        if getattr(recipe, key) is None:
            raise keys.error(key, "given")
    if recipe.pairs != pairs:
        raise keys.error("width", f"that of {pairs} pairs")
    if kind == "yarn" and (recipe.base == 1 or recipe.width % 2):
        raise keys.refuse(f"{prefix}base must be above 1 and width even for YaRN")
    return recipe
