"""Which axis of a position each pair follows, in models whose positions have several (time, height, width)."""

from collections.abc import Sequence
from typing import Literal

Layout = Literal["contiguous", "interleaved", "height-width"]
"""How the sections of the axes share the pairs; independent of which elements pair."""

AXES = 3


def section_axes(sections: Sequence[int], layout: Layout) -> tuple[int, ...]:
    """The axis of each pair: ``sum(sections)`` of 0 (time), 1 (height) and 2 (width).

    Parameters
    ----------
    sections
        How many pairs follow each axis; 1 to 3 of them.
    layout
        ``contiguous`` (Qwen2-VL): the pairs of axis 0, then of 1, then of 2. ``interleaved`` (Qwen3-VL): pair i follows
        axis 1 where i mod 3 is 1 and i < 3 x its section, axis 2 where i mod 3 is 2 and i < 3 x its section, else
        axis 0. ``height-width`` (ERNIE 4.5 VL, sections in the order height, width, time): axes 1 and 2 in turn, then
        axis 0.

    Sources: transformers 5.24, ``recomposition_frequencies`` of each family.
    """
    pairs = sum(sections)
    if layout == "contiguous":
        return tuple(axis for axis, section in enumerate(sections) for _ in range(section))
    if layout == "height-width":
        turning = sections[0] + sections[1]
        return tuple(1 + pair % 2 if pair < turning else 0 for pair in range(pairs))
    ends = [3 * section for section in sections]
    return tuple(pair % 3 if 0 < pair % 3 < len(ends) and pair < ends[pair % 3] else 0 for pair in range(pairs))
