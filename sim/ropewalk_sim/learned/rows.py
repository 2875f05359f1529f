"""Which row a token reads: the rules of the families (TRUTH.md, section 3), and the unit's own on top of them."""

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.geometry.learned import LearnedGeometry


def token_positions(geometry: LearnedGeometry, mask: np.ndarray, past: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The position of every token of ``mask [batch, tokens]`` (1: a real token), and which tokens are masked.

    ``past`` tokens at the front of each sequence are in a cache: they count, and are left out of the result. Where the
    family ignores the mask positions run from 0 on; where it counts, a position is the number of real tokens before it,
    and masked tokens are marked (theirs is 0, and is not looked at).

    Returns
    -------
    tuple
        ``int64`` and ``bool``, both ``[batch, tokens - past]``.
    """
    real = np.asarray(mask).astype(bool)
    if geometry.mask == "ignored":
        position = np.broadcast_to(np.arange(real.shape[1]), real.shape)
        masked = np.zeros(real.shape, bool)
    else:
        position = np.where(real, np.cumsum(real, axis=1) - 1, 0)
        masked = ~real
    return position[:, past:].astype(np.int64), masked[:, past:]


def token_rows(
    design: LearnedDesign,
    position: np.ndarray,
    masked: np.ndarray,
    *,
    offset: int | None = None,
    masked_row: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The row of every token, and whether there is none: then the number means nothing.

    ``position`` holds integers of 32 bits without sign. ``offset`` and ``masked_row`` are the registers, by default as
    after reset.
    """
    geometry = design.geometry
    if masked_row is None:
        masked_row = 0xFFFFFFFF if geometry.masked_row is None else geometry.masked_row
    added = geometry.row_offset if offset is None else offset
    row = np.where(masked, masked_row, np.asarray(position, np.int64) + added)
    return row, (row < 0) | (row >= geometry.rows)
