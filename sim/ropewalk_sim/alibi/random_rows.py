"""Rows of scores at random, of every kind that the unit treats differently: what it is tried with."""

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk_sim.units.streams import UnitInput

from .streams import MOST_KEYS as TOP
from .streams import row_descriptors, whole_rows


def random_rows(design: AlibiDesign, rows: int, *, seed: int, most: int = 40, errors: bool = True) -> UnitInput:
    """Rows near the query, near 0 and anywhere; half of them of a beat or two; with ``errors``, one in five in error.

    Half of the rows have scores of the whole range, the others small ones; half are causal; tags are random. The same
    seed gives the same rows.
    """
    random = np.random.default_rng(seed)
    query = random.integers(0, TOP, rows)
    query[::3] = random.integers(0, 60, len(query[::3]))
    kind = random.integers(0, 3, rows)
    first = np.select(
        [kind == 0, kind == 1],
        [query - random.integers(-3, 40, rows), random.integers(-8, 8, rows)],
        random.integers(-TOP, TOP, rows),
    )
    first = np.clip(first, -TOP, TOP - 1)
    count = random.integers(1, most, rows)
    count[::2] = random.integers(1, 2 * design.lanes + 1, len(count[::2]))
    length = np.where(random.integers(0, 2, rows) == 0, np.clip(first + count, 1, TOP), random.integers(1, TOP, rows))
    head = random.integers(0, design.geometry.heads, rows)
    if errors:
        bad = random.integers(0, 30, rows)
        head = np.where(bad == 0, random.integers(design.geometry.heads, 256, rows), head)
        query = np.select([bad == 1, bad == 2], [TOP, (1 << 32) - 1], query)
        first = np.select([bad == 3, bad == 4], [TOP, -TOP - 1], first)
        length = np.select([bad == 5, bad == 6], [0, TOP + 1], length)
    descriptors = row_descriptors(
        head=head, query=query, first=first, count=count, length=length, causal=random.integers(0, 2, rows),
        tag=random.integers(0, 256, rows),
    )  # fmt: skip
    low, high = design.data.minimum, design.data.maximum
    scores = [random.integers(low, high + 1, n) if random.integers(0, 2) else random.integers(-3, 4, n) for n in count]
    return whole_rows(design, descriptors, scores)
