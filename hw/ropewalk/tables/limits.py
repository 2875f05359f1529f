"""The largest magnitudes that a row entry may hold: what saturation clips to, for every source of rows."""

import numpy as np
from numpy.typing import NDArray

from ..design import Design


def clip_entries(design: Design, entries: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clip the magnitudes of row entries ``[..., 3]`` in place to ``design.magnitude_limits`` of their quadrant."""
    limits = np.array(design.magnitude_limits, np.int64)
    np.minimum(entries[..., 1:], limits[entries[..., 0]], out=entries[..., 1:])
    return entries
