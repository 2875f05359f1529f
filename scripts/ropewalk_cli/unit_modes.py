"""The modes of the units beside the rotary engine in which :mod:`.unit_trials` runs them, each a small design."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.any_design import AnyDesign
from ropewalk.designs.learned import Storage, learned_design
from ropewalk.geometry.alibi import MODES as ALIBI_MODES
from ropewalk.geometry.alibi import AlibiGeometry, AlibiMode, alibi_slopes
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.tables.learned import Words
from ropewalk_sim.alibi.streams import CAUSAL
from ropewalk_sim.alibi.unit import AlibiUnit
from ropewalk_sim.learned.stream import Memory
from ropewalk_sim.learned.unit import LearnedUnit
from ropewalk_sim.sinusoidal.scenarios import design_of
from ropewalk_sim.sinusoidal.unit import SinusoidalUnit
from ropewalk_sim.units.unit import Unit

SLOW_MEMORY = Memory(latency=(1, 64), stall=0.05, unreadable=((9, 2), (30, 0)))
"""The memory outside: a latency of its own for each read, rests on both channels, and beats that fail."""


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A design, the words of its table where it has one, the unit of a folder, and what becomes of its streams."""

    design: AnyDesign
    words: Words | None = None
    unit: Callable[[Path], Unit]
    change: Callable[[Any], Any] = lambda stream: stream


def all_modes() -> dict[str, Mode]:
    """Every mode by name; the first word is the unit's."""
    modes: dict[str, Mode] = {}
    for mode in ALIBI_MODES:
        modes[f"alibi-{mode}"] = _alibi(mode, causal=False)
        modes[f"alibi-{mode}-causal"] = _alibi(mode, causal=True)
        modes[f"alibi-{mode}-8-bit"] = _alibi(mode, lanes=1, data_width=8, fraction_bits=3)
        modes[f"alibi-{mode}-32-bit"] = _alibi(mode, lanes=8, data_width=32)
    for storage in ("block-ram", "external"):
        modes[f"learned-{storage}"] = _learned(storage, 24)
        modes[f"learned-{storage}-tkeep"] = _learned(storage, 22)
    # The published forms (docs/geometry.md), each in another shape: one element to eight of them, with and without
    # TKEEP, at the full rate and below it, with an amplitude, with the row offset and the row of zeros of a padding.
    modes["sinusoidal-interleaved"] = _sinusoidal("paper", 24, lanes=4, generators=2)
    modes["sinusoidal-interleaved-odd"] = _sinusoidal("paper", 23, lanes=4)
    modes["sinusoidal-half-marian"] = _sinusoidal("marian", 24, lanes=2, amplitude=24**-0.5)
    modes["sinusoidal-half-marian-odd"] = _sinusoidal("marian", 23, lanes=8, generators=2)
    modes["sinusoidal-half-tensor2tensor"] = _sinusoidal("tensor2tensor", 25, lanes=2)
    modes["sinusoidal-half-fairseq"] = _sinusoidal(
        "tensor2tensor", 24, lanes=8, generators=4, row_offset=2, zero_row=1, mask="counted"
    )
    return modes


def _alibi(mode: AlibiMode, *, causal: bool | None = None, **shape: Any) -> Mode:
    """One row in two is causal, unless ``causal`` says that all are or none."""
    geometry = AlibiGeometry(model_type="trial", heads=40, slopes=alibi_slopes(40), mode=mode)
    design = AlibiDesign(geometry=geometry, **shape)

    def change(stream: Any) -> Any:
        descriptors = stream.descriptors.copy()
        descriptors[:, 0] = descriptors[:, 0] & ~np.uint32(CAUSAL << 8) | np.uint32((CAUSAL if causal else 0) << 8)
        return replace(stream, descriptors=descriptors)

    mixed = Mode(design=design, unit=partial(AlibiUnit, design))
    return mixed if causal is None else replace(mixed, change=change)


def _learned(storage: Storage, dimension: int) -> Mode:
    geometry = LearnedGeometry(
        model_type="trial", rows=64, row_offset=2, dimension=dimension, mask="counted", masked_row=1
    )
    table = np.random.default_rng(1).normal(size=(geometry.rows, dimension))
    design, words = learned_design(geometry, table, storage=storage)
    return Mode(design=design, words=words, unit=partial(LearnedUnit, design, memory=SLOW_MEMORY))


def _sinusoidal(form: str, dimension: int, **options: Any) -> Mode:
    design = design_of(form, dimension, **options)
    return Mode(design=design, unit=partial(SinusoidalUnit, design))
