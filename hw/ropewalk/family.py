"""The families of parts that an engine can be made for: their names, and what a design follows from them."""

from typing import Literal, get_args

from .errors import InputError

Family = Literal["generic", "ecp5", "ice40", "gowin", "xilinx"]

FAMILIES: tuple[Family, ...] = get_args(Family)

MULTIPLIER_BITS: dict[Family, int] = {"ice40": 16}
"""Bits of an operand of a family's multiplier, where those are fewer than 18."""

SIGNED_SUMS: frozenset[Family] = frozenset({"ecp5"})
"""Families whose carry chains complement both summands on the way in, at no cost."""


def check_family(family: object) -> None:
    """Refuse a ``family`` that is none."""
    if family not in FAMILIES:
        raise InputError(f"family must be {', '.join(FAMILIES[:-1])} or {FAMILIES[-1]}, not {family!r}")


def default_coefficient_width(family: Family) -> int:
    """Bits of |cos| and |sin| where nothing else is asked for: one operand of the family's multiplier."""
    return MULTIPLIER_BITS.get(family, 18)
