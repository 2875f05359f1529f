"""What a design with a table holds: the one source of its rows for gateware and model."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..design import Design
from .angle_models import software_entries
from .limits import clip_entries
from .rows import rows_at


def source_rows(design: Design, slot: int, positions: ArrayLike) -> NDArray[np.int64]:
    """The rows of the variant in ``slot`` at ``positions``, int64 ``[n, pairs, 3]``: quadrant, cos, sin.

    They follow the design's angle model and are clipped as its coefficients are.
    """
    variant = design.variants[slot]
    if design.angle_model == "exact":
        rows = rows_at(variant.inverse_frequency, variant.amplitude, positions, design.coefficient_width)
    else:
        rows = software_entries(variant, design.angle_model, positions, design.coefficient_width)
    return clip_entries(design, rows)
