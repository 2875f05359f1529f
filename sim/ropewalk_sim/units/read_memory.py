"""A memory outside, behind the AXI4 read master of a unit: what is in it, and how it answers."""

from dataclasses import dataclass

import numpy as np

PAGE_BYTES = 4096
"""No burst crosses a multiple of this."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadMemory:
    """Octets from an address on. Reads are answered in order; what lies outside the octets answers SLVERR.

    Parameters
    ----------
    base
        The address of the first octet.
    image
        ``uint8 [octets]``: whole beats of the bus.
    unreadable
        ``bool [beats]``: beats of the bus that answer SLVERR.
    latency
        Clocks from a read that was taken to its first beat: lowest and highest, drawn anew for each.
    stall
        The share of the clocks in which it takes no read, and that in which it begins no answer.
    """

    base: int
    image: np.ndarray
    unreadable: np.ndarray
    latency: tuple[int, int] = (1, 1)
    stall: float = 0.0
