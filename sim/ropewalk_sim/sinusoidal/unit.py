"""The sinusoidal adder under the units' common interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.units.streams import UnitOutput

from .engines import run_engine, to_unit
from .exact import exact_elements
from .scenarios import faulty, mixed_tokens
from .stream import (
    PackedSinusoidal,
    SinusoidalInput,
    SinusoidalOutput,
    descriptors_of,
    pack_sinusoidal,
    unpack_sinusoidal,
    whole_tokens,
)

CHUNK_TOKENS = 256
"""Tokens whose exact rows are made at once, which bounds the memory."""


class SinusoidalUnit:
    """The unit of ``design`` in ``folder``. See :class:`ropewalk_sim.units.unit.Unit`."""

    def __init__(self, design: SinusoidalDesign, folder: Path) -> None:
        self.design, self._folder = design, folder

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedSinusoidal:
        """See the interface."""
        return pack_sinusoidal(self.design, arrays, scale=scale)

    def unpack(self, packed: Any, output: SinusoidalOutput) -> dict[str, np.ndarray]:
        """See the interface."""
        return unpack_sinusoidal(self.design, packed, output)

    def run(
        self, engine: str, stream: SinusoidalInput, *, stalls: Stalls | None = None, progress: Progress | None = None
    ) -> SinusoidalOutput:
        """See the interface."""
        return run_engine(engine, self._folder, self.design, stream, stalls, progress=progress)

    def octets(self, output: SinusoidalOutput) -> UnitOutput:
        """See the interface."""
        sent = to_unit(self.design, SinusoidalInput(descriptors=np.zeros((0, 2), np.uint32), **beats_of(output)))
        return UnitOutput(
            data=sent.data,
            keep=sent.keep,
            tid=output.tid,
            user=output.error.astype(np.uint8),
            last=output.last,
            first_output_clock=output.first_output_clock,
            last_output_clock=output.last_output_clock,
        )

    def plain(self, beats: int, seed: int) -> SinusoidalInput:
        """See the interface. Words to 70 % of full scale."""
        design, random = self.design, np.random.default_rng(seed)
        tokens = max(1, beats // design.beats_per_token)
        top = int(0.7 * design.data.maximum)
        position = random.integers(0, design.limit, tokens)
        x = random.integers(-top, top, (tokens, design.dimension), endpoint=True)
        return whole_tokens(design, descriptors_of(position, tag=np.arange(tokens) & 0xFF), x)

    def corners(self, beats: int, seed: int) -> SinusoidalInput:
        """See the interface. Only what cocotbext-axi's source can send."""
        tokens = max(1, beats // self.design.beats_per_token)
        return faulty(mixed_tokens(self.design, tokens, seed), self.design, seed + 1, sendable=True)

    def errors(self, stream: SinusoidalInput, output: SinusoidalOutput) -> tuple[int, ErrorStatistics]:
        """See the interface."""
        design, geometry = self.design, self.design.geometry
        frequencies = [mpmath.mpf(frequency) for frequency in geometry.inverse_frequency]
        shape = (stream.tokens, design.beats_per_token * design.lanes)
        before, after = (data.reshape(shape)[:, : design.dimension] for data in (stream.data, output.data))
        (sound,) = np.nonzero(~output.error.reshape(stream.tokens, -1).any(axis=1))
        rows = stream.descriptors[:, 1].astype(np.int64) + geometry.row_offset
        total = ErrorStatistics()
        for first in range(0, len(sound), CHUNK_TOKENS):
            chosen = sound[first : first + CHUNK_TOKENS]
            made = exact_elements(frequencies, design.dimension, half=design.half, rows=rows[chosen])
            made[rows[chosen] == (-1 if geometry.zero_row is None else geometry.zero_row)] = 0
            exact = before[chosen] + np.ldexp(design.amplitude * made, design.fraction_bits)
            total += error_statistics(after[chosen], exact, design.data)
        return len(sound), total


def beats_of(output: SinusoidalOutput) -> dict[str, np.ndarray]:
    """What a beat is made of, coming in and going out."""
    return {name: getattr(output, name) for name in ("data", "tid", "last", "keep")}
