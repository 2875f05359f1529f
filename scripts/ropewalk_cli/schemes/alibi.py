"""The ALiBi unit's part of ``generate``, ``run`` and ``verify``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.tables.slopes import slope_crc
from ropewalk_sim.alibi.unit import AlibiUnit

from ..other_geometry import BIASES
from .scheme import Made, Ran, Request, Verified
from .units import run_unit, verify_unit


class AlibiScheme:
    """See :class:`~.scheme.Scheme`."""

    exact = "the exact sum of score and bias"

    def make(self, request: Request, options: Mapping[str, Any]) -> Made:
        """An ALiBi unit."""
        design = AlibiDesign(
            geometry=request.geometry,
            lanes=4 if options["lanes"] is None else options["lanes"],
            data_width=options["data_width"],
            fraction_bits=options["fraction_bits"],
            capacity=options["head_capacity"],
            family=options["family"],
            registers=not options["no_registers"],
        )
        return Made(design=design, summary=summary(design), notes=notes(design))

    def run(
        self, design: AlibiDesign, folder: Path, arrays: Mapping[str, np.ndarray], *, engine: str, scale: float | None
    ) -> Ran:
        """Scores through an ALiBi unit."""
        unit = AlibiUnit(design, folder)
        reason = "a row's head or position has no bias"
        return run_unit(unit, arrays, engine=engine, scale=scale, tokens="rows", reason=reason)

    def verify(
        self,
        design: AlibiDesign,
        folder: Path,
        names: list[str],
        arrays: Mapping[str, np.ndarray] | None,
        *,
        simulated: Path | None = None,
    ) -> Verified:
        """The engines of an ALiBi unit."""
        return verify_unit(AlibiUnit(design, simulated or folder), folder, names, arrays)


def summary(design: AlibiDesign) -> list[str]:
    """What ``design`` is, in a few lines for a person."""
    found = design.geometry
    crc = f", CRC {slope_crc(design.slope_words):08x}" if design.registers else ""
    return [
        f"{found.model_type}: ALiBi unit",
        f"  {'heads':<18}{found.heads} of at most {design.capacity}{crc}",
        f"  {'mode':<18}{found.mode}: {BIASES[found.mode]}",
        f"  {'widths':<18}{design.data_width}-bit scores, LSB 2^-{design.fraction_bits}; "
        f"{design.slope_bits}-bit slopes",
        f"  {'lanes':<18}{design.lanes} scores per beat, 1.00 beats per clock",
        f"  {'memory':<18}{design.memory_bits:,} bits of slopes",
    ]


def notes(design: AlibiDesign) -> list[str]:
    """What the user of ``design`` must know."""
    after = design.geometry.scale_after
    if after == 1:
        return []
    return [
        f"{design.geometry.model_type} multiplies the biased scores with {after:.6g} afterwards: give the unit scores "
        f"that are not multiplied with it yet."
    ]
