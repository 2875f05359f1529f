"""The sinusoidal adder's part of ``generate``, ``run`` and ``verify``."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import POSITION_BITS, check_range
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.family import default_coefficient_width
from ropewalk.tables.sinusoidal_words import slot_crc
from ropewalk_sim.sinusoidal.unit import SinusoidalUnit

from .scheme import Made, Ran, Request, Verified
from .units import run_unit, verify_unit


class SinusoidalScheme:
    """See :class:`~.scheme.Scheme`."""

    exact = "the exact sum of element and sinusoid"

    def make(self, request: Request, options: Mapping[str, Any]) -> Made:
        """A sinusoidal adder. The number of positions and the layout go into the geometry, and so into its digest."""
        changes = {}
        if options["positions"] is not None:
            check_range("positions", options["positions"], 1, 1 << POSITION_BITS)
            changes["max_position"] = options["positions"]
        if options["layout"] is not None:
            changes["layout"] = options["layout"]
        width = options["coefficient_width"]
        design = SinusoidalDesign(
            geometry=replace(request.geometry, **changes),
            lanes=4 if options["lanes"] is None else options["lanes"],
            coefficient_width=default_coefficient_width(options["family"]) if width is None else width,
            **{name: options[name] for name in ("generators", "data_width", "fraction_bits", "phase_bits", "family")},
            amplitude=options["amplitude"],
        )
        return Made(design=design, summary=summary(design))

    def run(
        self,
        design: SinusoidalDesign,
        folder: Path,
        arrays: Mapping[str, np.ndarray],
        *,
        engine: str,
        scale: float | None,
    ) -> Ran:
        """Elements through a sinusoidal adder."""
        unit = SinusoidalUnit(design, folder)
        reason = f"the position is at or past the limit, {design.limit}"
        return run_unit(unit, arrays, engine=engine, scale=scale, tokens="tokens", reason=reason)

    def verify(
        self,
        design: SinusoidalDesign,
        folder: Path,
        names: list[str],
        arrays: Mapping[str, np.ndarray] | None,
        *,
        simulated: Path | None = None,
    ) -> Verified:
        """The engines of a sinusoidal adder."""
        return verify_unit(SinusoidalUnit(design, simulated or folder), folder, names, arrays)


def summary(design: SinusoidalDesign) -> list[str]:
    """What ``design`` is, in a few lines for a person."""
    found = design.geometry
    order = "all sines, then all cosines" if design.half else "sine and cosine of each pair in turn"
    amplitude = f", times {design.amplitude:.6g}" if design.scaled else ""
    return [
        f"{found.model_type}: sinusoidal adder",
        f"  {'dimension':<18}{design.dimension} elements, {design.pairs} pairs",
        f"  {'layout':<18}{found.layout}: {order}{amplitude}",
        f"  {'positions':<18}0 to {design.limit - 1:,}, CRC {slot_crc(design):08x}",
        f"  {'widths':<18}{design.data_width}-bit data, LSB 2^-{design.fraction_bits}; {design.coefficient_width}-bit "
        f"coefficients, {design.phase_bits}-bit phase",
        f"  {'error':<18}at most {design.error_bound:.4f} LSB",
        f"  {'lanes':<18}{design.lanes} elements per beat, {design.beats_per_token} beats per token, "
        f"{design.generators} generator{'s' if design.generators > 1 else ''}: {design.beats_per_clock:.2f} beats per "
        f"clock",
    ]
