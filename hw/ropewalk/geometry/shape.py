"""The shape of a variant: which elements of a head are rotated, how they pair, and how many heads there are."""

from dataclasses import dataclass, fields
from typing import Literal

Pairing = Literal["half", "interleaved"]

PAIRINGS: tuple[Pairing, ...] = ("half", "interleaved")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """``rotary_dim`` of the ``head_dim`` elements of a head are rotated, from ``rotary_start`` on; all three are even.

    ``pairing`` is how the rotated elements pair as they come in, ``output_pairing`` as they go out. Every token has
    ``query_heads`` and ``key_heads`` heads.
    """

    head_dim: int
    rotary_dim: int
    rotary_start: int
    query_heads: int
    key_heads: int
    pairing: Pairing
    output_pairing: Pairing

    @property
    def pairs(self) -> int:
        """Rotated pairs of a head: the entries of a row."""
        return self.rotary_dim // 2

    @property
    def first_pair(self) -> int:
        """The pair of a head that is the first rotated one, counted over all elements of the head."""
        return self.rotary_start // 2

    @property
    def rotated(self) -> slice:
        """The rotated elements of a head."""
        return slice(self.rotary_start, self.rotary_start + self.rotary_dim)


SHAPE_KEYS: tuple[str, ...] = tuple(field.name for field in fields(Shape))
"""What a variant may have of its own."""
