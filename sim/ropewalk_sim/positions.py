"""Which row of a position table each token reads: the host's part of learned and sinusoidal positions.

The offset is added once, here or in the unit, never in both: :func:`row_numbers` gives rows of the table,
:func:`token_positions` the positions that they are an offset away from.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from ropewalk.errors import InputError
from ropewalk.geometry import LearnedGeometry, SinusoidalGeometry

TableGeometry = LearnedGeometry | SinusoidalGeometry

MAX_TOKENS = 1 << 24


class RowNumbers(NamedTuple):
    """``rows`` int64 and ``error`` bool, both ``[..., tokens]``: the row of each token, and whether there is none."""

    rows: npt.NDArray[np.int64]
    error: npt.NDArray[np.bool_]


def token_positions(geometry: TableGeometry, mask: npt.ArrayLike, *, past: int = 0) -> npt.NDArray[np.int64]:
    """The position of each token after the first ``past``, int64 ``[..., tokens - past]``; -1 for a masked one.

    Parameters
    ----------
    geometry
        Its ``mask`` says whether masked tokens count: where they do not matter, position i is token i's, masked or not.
    mask
        0 and 1, or false and true, ``[..., tokens]``: whether a token is a real one, for all tokens from the first one
        of the text on, those in the cache too. (For models whose code compares token numbers with the padding token's,
        ``ids != pad``.)
    past
        Tokens that were handled before and are in the cache.

    Raises
    ------
    InputError
        If ``mask`` holds anything but 0 and 1, is empty, or has less than ``past`` tokens.
    """
    given = np.asarray(mask)
    if given.ndim == 0 or given.dtype.kind not in "biu" or not ((given == 0) | (given == 1)).all():
        raise InputError("a mask must be an array of 0 and 1 with one entry per token")
    if not 1 <= given.shape[-1] <= MAX_TOKENS:
        raise InputError(f"a mask must have 1 to {MAX_TOKENS} tokens, not {given.shape[-1]}")
    if not 0 <= past <= given.shape[-1]:
        raise InputError(f"past must be from 0 to the {given.shape[-1]} tokens of the mask, not {past}")
    real = given.astype(np.int64)
    if geometry.mask == "ignored":
        positions = np.broadcast_to(np.arange(given.shape[-1], dtype=np.int64), given.shape)
    else:
        positions = np.cumsum(real, axis=-1) * real - 1
    return positions[..., past:].copy()


def row_numbers(geometry: TableGeometry, mask: npt.ArrayLike, *, past: int = 0) -> RowNumbers:
    """The row of the table that each token after the first ``past`` reads. Parameters as :func:`token_positions`.

    A token at or past ``max_position`` has no row: its ``error`` is true, and its number is what the rule would give.
    (Software differs here: most of it stops, Whisper's decoder silently returns fewer rows.)
    """
    positions = token_positions(geometry, mask, past=past)
    rows = positions + geometry.row_offset
    masked = geometry.masked_row if isinstance(geometry, LearnedGeometry) else geometry.zero_row
    if geometry.mask == "counted" and masked is not None:
        rows[positions < 0] = masked
    return RowNumbers(rows, positions >= geometry.max_position)
