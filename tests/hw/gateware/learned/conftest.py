"""Small learned-table adders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ropewalk.designs.learned import LearnedDesign, learned_design
from ropewalk.geometry.learned import LearnedGeometry

Make = Callable[..., tuple[LearnedDesign, np.ndarray]]


@pytest.fixture
def make() -> Make:
    """A design of an OPT-like table, and its words: 21 rows of 10 elements, unless told otherwise."""

    def make(*, rows: int = 21, dimension: int = 10, row_offset: int = 2, **options: Any) -> Any:
        geometry = LearnedGeometry(
            model_type="test", rows=rows, row_offset=row_offset, dimension=dimension, mask="counted", masked_row=1
        )
        return learned_design(geometry, np.random.default_rng(5).normal(size=(rows, dimension)), **options)

    return make
