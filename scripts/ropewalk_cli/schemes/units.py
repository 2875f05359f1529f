"""What ``run`` and ``verify`` do alike for ALiBi, learned and sinusoidal units."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.emit.folder import changed_roms
from ropewalk.errors import InputError
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.errors import EngineError
from ropewalk_sim.units.streams import UnitOutput
from ropewalk_sim.units.unit import Unit, compare_octets, first_tokens

from ..console import one_line, progress
from ..trials import BULK, CORNERS, SEED, SLOW_CORNERS, SLOW_ENGINES, EngineReport, changed_verilog
from .scheme import Ran, Verified

BULK_BEATS, CORNER_BEATS, SLOW_BEATS = 1 << 17, 1 << 14, 600
"""Beats of sound tokens and of corner cases, and of each for an engine of some thousand clocks per second."""

STALLS = Stalls(seed=SEED, data=0.2, token=0.2, output=0.2)


def run_unit(
    unit: Unit, arrays: Mapping[str, np.ndarray], *, engine: str, scale: float | None, tokens: str, reason: str
) -> Ran:
    """Arrays through an engine; ``tokens`` and ``reason`` say what a descriptor stands for and why one fails."""
    packed = unit.pack(arrays, scale)
    with progress(f"running {engine}") as tell:
        output = unit.run(engine, packed.stream, progress=tell)
    result = unit.unpack(packed, output)
    errors, count = int(result["error"].sum()), packed.stream.tokens
    found = unit.octets(output)
    rate = f", {found.beats_per_clock:.2f} beats per clock" if found.beats_per_clock is not None else ""
    said = []
    if errors:
        said.append(f"{errors} of {count} {tokens} came back unchanged (error 1): {reason}")
    if packed.saturated:
        said.append(
            f"{packed.saturated} elements did not fit {unit.design.data_width} bits at scale {packed.scale:g} and "
            f"saturated"
        )
    return Ran(result=result, sentence=f"{count} {tokens} through {engine}: {found.beats} beats{rate}", notes=said)


@dataclass(frozen=True, kw_only=True)
class UnitTrial:
    """One run of an engine; of :data:`BULK`, some get the first part only."""

    name: str
    stream: Any
    stalls: Stalls | None = None


def verify_unit(
    unit: Unit, folder: Path, names: list[str], arrays: Mapping[str, np.ndarray] | None, words: Words | None = None
) -> Verified:
    """All engines bit for bit, the files in ``folder``, and the accuracy of the first engine that ran."""
    changed = changed_roms(unit.design, folder)
    changed_text = changed_verilog(unit.design, folder, words)
    if arrays is None:
        plans = built_in(unit, names)
    else:
        plans = [[UnitTrial(name=BULK, stream=unit.pack(arrays).stream)] for _ in names]
    reports: list[EngineReport] = []
    expected: dict[str, Any] = {}
    for name, trials in zip(names, plans, strict=True):
        report, outputs = run_one(unit, name, trials, expected)
        reports.append(report)
        expected = expected or outputs
    bits = sum(report.differing_bits or 0 for report in reports)
    variant = accuracy(unit, plans[0][-1].stream, expected.get(BULK))
    return Verified(
        changed_tables=changed,
        changed_verilog=changed_text,
        engines=reports,
        variants=[{"name": "default", "slot": 0, **variant, "differing_bits": bits}],
    )


def built_in(unit: Unit, names: list[str]) -> list[list[UnitTrial]]:
    """The trials of each engine; the first gets what any gets, and where it is slow, so do all."""
    all_slow = names[0] in SLOW_ENGINES
    bulk = unit.plain(SLOW_BEATS if all_slow else BULK_BEATS, SEED)
    corners = {
        slow: UnitTrial(
            name=SLOW_CORNERS if slow else CORNERS,
            stream=unit.corners(SLOW_BEATS if slow else CORNER_BEATS, SEED),
            stalls=STALLS,
        )
        for slow in {all_slow, any(name in SLOW_ENGINES for name in names)}
    }
    plans = []
    for name in names:
        slow = all_slow or name in SLOW_ENGINES
        stream = first_tokens(bulk, SLOW_BEATS) if slow else bulk
        plans.append([corners[slow], UnitTrial(name=BULK, stream=stream)])
    plans[0] = [*corners.values(), plans[0][-1]]
    return plans


def run_one(
    unit: Unit, name: str, trials: list[UnitTrial], expected: Mapping[str, Any]
) -> tuple[EngineReport, dict[str, Any]]:
    """Run ``trials`` on one engine and compare what came out with ``expected``, by the names of the trials."""
    started = time.perf_counter()
    outputs: dict[str, Any] = {}
    fault = None
    try:
        for trial in trials:
            with progress(f"{name:<9} {trial.name}") as tell:
                outputs[trial.name] = unit.run(name, trial.stream, stalls=trial.stalls, progress=tell)
    except (EngineError, InputError) as error:
        fault = one_line(error)
    seconds = time.perf_counter() - started
    bits, first = 0, None
    compared = [trial for trial in trials if trial.name in outputs and trial.name in expected]
    for trial in compared:
        want, got = (unit.octets(one[trial.name]) for one in (expected, outputs))
        if trial.name == BULK:
            want = some_beats(want, trial.stream.beats)
        found = compare_octets(want, got)
        bits += found.differing_bits
        first = first or (f"{trial.name}: {found.first}" if found.first else None)
    bulk = trials[-1].stream
    corner = next((trial.stream for trial in trials if trial.name != BULK), None)
    measured = unit.octets(outputs[BULK]) if BULK in outputs else None
    report = EngineReport(
        name=name,
        tokens=bulk.tokens,
        beats=bulk.beats,
        corner_tokens=corner.tokens if corner else 0,
        corner_beats=corner.beats if corner else 0,
        seconds=round(seconds, 3),
        clocks=clocks_of(measured),
        beats_per_clock=measured.beats_per_clock if measured else None,
        differing_bits=bits if compared and not fault else None,
        first_difference=first,
        error=fault,
    )
    return report, outputs


def clocks_of(output: UnitOutput | None) -> int | None:
    """Clocks from the first output beat to the last, both counted; None for the model."""
    if output is None or output.first_output_clock is None or output.last_output_clock is None:
        return None
    return output.last_output_clock - output.first_output_clock + 1


def some_beats(output: UnitOutput, beats: int) -> UnitOutput:
    """The first beats of ``output``, without its clocks."""
    cut = {name: getattr(output, name)[:beats] for name in ("data", "keep", "tid", "user", "last")}
    return UnitOutput(**cut)


def accuracy(unit: Unit, stream: Any, output: Any) -> dict[str, Any]:
    """The error against the exact values, in LSB; null where there is nothing to measure."""
    if output is not None and unit.octets(output).beats == stream.beats:
        tokens, found = unit.errors(stream, output)
        if found.count:
            return {
                "tokens": tokens,
                "elements": found.count,
                "worst_lsb": found.worst_lsb,
                "bias_lsb": found.bias_lsb,
                "rms_lsb": found.rms_lsb,
            }
    return {"tokens": 0, "elements": 0, "worst_lsb": None, "bias_lsb": None, "rms_lsb": None}
