"""A folder with an emitted learned-table adder, and the real table of an encoder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ropewalk.designs.learned import LearnedDesign, learned_design
from ropewalk.emit.learned import learned_files
from ropewalk.geometry.learned import LearnedGeometry

DATA = Path(__file__).parents[2] / "data"
BERT = LearnedGeometry(model_type="bert", rows=512, row_offset=0, dimension=384)


@pytest.fixture(scope="session")
def minilm() -> dict[str, np.ndarray]:
    """``position_table [512, 384]`` and ``token_rows [9, 384]``, float32 (from float16)."""
    with np.load(DATA / "minilm_positions.npz") as arrays:
        return {name: arrays[name].astype(np.float32) for name in ("position_table", "token_rows")}


@pytest.fixture(scope="session")
def emit(tmp_path_factory) -> Callable[..., tuple[LearnedDesign, np.ndarray, Path]]:
    """Emits a design, once for each set of options."""
    made: dict[Any, tuple[LearnedDesign, np.ndarray, Path]] = {}

    def emit(geometry: LearnedGeometry, table: np.ndarray, **options: Any) -> tuple[LearnedDesign, np.ndarray, Path]:
        key = geometry, table.tobytes(), tuple(options.items())
        if key not in made:
            design, words = learned_design(geometry, table, **options)
            folder = tmp_path_factory.mktemp("learned")
            for name, text in learned_files(design, words).items():
                (folder / name).write_text(text)
            made[key] = design, words, folder
        return made[key]

    return emit
