"""How many tokens a unit takes ahead of their data."""

from ..design import Design

CAPACITY = 4
"""Descriptors that are taken before any data (PORTS.md asks for 4)."""


def token_places(design: Design) -> int:
    """Tokens of a rotary engine that there is room for: those whose rows are made ahead, and those on their way."""
    return max(4 * CAPACITY, 2 * design.row_banks)
