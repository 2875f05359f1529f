"""What the learned and the sinusoidal unit have in common under the units' common interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.designs.sinusoidal import SinusoidalDesign

from .row_arrays import PackedRows, pack_rows, unpack_rows
from .rows import RowInput, RowOutput, descriptors_of, octets_of, whole_tokens
from .streams import UnitOutput

SHARE = 0.7
"""Of full scale, what the elements of plain tokens reach."""

AnyRowDesign = TypeVar("AnyRowDesign", LearnedDesign, SinusoidalDesign)


class RowUnit(Generic[AnyRowDesign]):
    """The unit of ``design`` in ``folder``. See :class:`~.unit.Unit`."""

    def __init__(self, design: AnyRowDesign, folder: Path) -> None:
        self.design, self._folder = design, folder

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedRows:
        """See the interface."""
        return pack_rows(self.design, arrays, scale=scale)

    def unpack(self, packed: Any, output: RowOutput) -> dict[str, np.ndarray]:
        """See the interface."""
        return unpack_rows(self.design, packed, output)

    def octets(self, output: RowOutput) -> UnitOutput:
        """See the interface."""
        return octets_of(self.design, output)

    def _plain(self, beats: int, seed: int, positions: int) -> RowInput:
        """About so many beats of sound tokens, at random ones of the first ``positions``."""
        design, random = self.design, np.random.default_rng(seed)
        tokens = max(1, beats // design.beats_per_token)
        top = int(SHARE * design.data.maximum)
        position = random.integers(0, positions, tokens)
        x = random.integers(-top, top, (tokens, design.dimension), endpoint=True)
        return whole_tokens(design, descriptors_of(position, tag=np.arange(tokens) & 0xFF), x)
