"""What `verify` sends through each engine, and the comparison of what comes out."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ropewalk.design import Design
from ropewalk.designs.any_design import AnyDesign
from ropewalk.emit.folder import design_files
from ropewalk.errors import InputError
from ropewalk.tables.learned import Words
from ropewalk_sim.compare import Comparison, compare
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream import Script, Stalls, StreamInput, StreamOutput

from .console import one_line, progress
from .corners import STALLS, corner_stream, interruption
from .evidence import slot_bits, some_beats, some_tokens
from .sample import random_stream

SLOW_ENGINES = {"amaranth": 2_000, "icarus": 2_000, "cocotb-verilator": 2_000}
"""Beats of random tokens that an engine of some thousand clocks per second is given, beside the corner cases."""

SEED = 20260101
RANDOM_PAIRS = 1 << 20
MOST_TOKENS = 4_096

BULK, CORNERS, SLOW_CORNERS, INTERRUPTED = "tokens", "corner cases", "corner cases for slow engines", "reset"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run of an engine. ``name`` is the same for the same input; of :data:`BULK`, some get the first part only."""

    name: str
    stream: StreamInput
    stalls: Stalls | None = None
    script: Script | None = None


@dataclass(frozen=True, kw_only=True)
class EngineReport:
    """What one engine did: an entry of ``engines`` in the JSON document (docs/cli.md)."""

    name: str
    tokens: int
    beats: int
    corner_tokens: int
    corner_beats: int
    seconds: float
    clocks: int | None
    beats_per_clock: float | None
    differing_bits: int | None
    first_difference: str | None
    error: str | None


def built_in(design: Design, names: list[str]) -> list[list[Trial]]:
    """The trials of each engine, for the built-in input: corner cases, and about a million random pairs.

    The first engine, with which the others are compared, gets what any of them gets. Where it is slow itself, all are
    given what a slow one is.
    """
    pairs = sum(shape.pairs for shape in design.shapes) * (design.heads[0] + design.heads[1])
    tokens = min(max(RANDOM_PAIRS * len(design.shapes) // pairs, len(design.variants)), MOST_TOKENS)
    random = random_stream(design, tokens, SEED)
    script = interruption(design, SEED)
    corners = {
        slow: Trial(
            name=SLOW_CORNERS if slow else CORNERS,
            stream=corner_stream(design, SEED, slow=slow),
            stalls=STALLS,
            script=script,
        )
        for slow in (False, True)
    }
    plans = []
    for name in names:
        slowest = name if name in SLOW_ENGINES else names[0]
        slow = slowest in SLOW_ENGINES
        least = 2 * len(design.variants)
        share = min(tokens, max(least, SLOW_ENGINES[slowest] // design.beats_per_token)) if slow else tokens
        plans.append([corners[slow], Trial(name=BULK, stream=some_tokens(design, random, slice(0, share)))])
    if names[0] not in SLOW_ENGINES and any(name in SLOW_ENGINES for name in names):
        plans[0].append(corners[True])
    assert script.interrupted is not None
    plans[0].append(Trial(name=INTERRUPTED, stream=script.interrupted))
    return plans


def run_one(
    design: Design, folder: Path, name: str, trials: list[Trial], expected: dict[str, StreamOutput]
) -> tuple[EngineReport, dict[str, StreamOutput], list[int]]:
    """Run ``trials`` on one engine and compare what came out with ``expected``, by the names of the trials.

    Gives the report, the outputs, and the number of differing bits in the tokens of each slot.
    """
    started = time.perf_counter()
    outputs: dict[str, StreamOutput] = {}
    fault = None
    try:
        engine = ENGINES[name](folder)
        for trial in trials:
            with progress(f"{name:<9} {trial.name}") as tell:
                outputs[trial.name] = engine.run(trial.stream, stalls=trial.stalls, script=trial.script, progress=tell)
    except (EngineError, InputError) as error:
        fault = one_line(error)
    seconds = time.perf_counter() - started
    bits = np.zeros(len(design.variants), np.int64)
    found: list[tuple[str, Comparison]] = []
    for trial in trials:
        if trial.name not in outputs or trial.name not in expected:
            continue
        want, got = expected[trial.name], outputs[trial.name]
        if trial.name == BULK:
            want = some_beats(want, slice(0, trial.stream.beats))
        found.append((trial.name, compare(design, want, got, trial.stream)))
        bits += [slot_bits(design, trial.stream, want, got, slot) for slot in range(len(bits))]
        if trial.script and trial.script.interrupted and got.before and INTERRUPTED in expected:
            want = some_beats(expected[INTERRUPTED], slice(0, got.before.beats))
            found.append((INTERRUPTED, compare(design, want, got.before, trial.script.interrupted)))
    bulk = next(trial.stream for trial in trials if trial.name == BULK)
    corner = next((trial.stream for trial in trials if trial.name in (CORNERS, SLOW_CORNERS)), None)
    measured = outputs.get(BULK)
    report = EngineReport(
        name=name,
        tokens=bulk.tokens,
        beats=bulk.beats,
        corner_tokens=corner.tokens if corner else 0,
        corner_beats=corner.beats if corner else 0,
        seconds=round(seconds, 3),
        clocks=measured.clocks if measured else None,
        beats_per_clock=measured.beats_per_clock if measured else None,
        differing_bits=sum(one.differing_bits for _, one in found) if found and not fault else None,
        first_difference=next((f"{label}: {first}" for label, one in found if (first := first_difference(one))), None),
        error=fault,
    )
    return report, outputs, bits.tolist()


def first_difference(comparison: Comparison) -> str | None:
    """Where two outputs first differ, in words; None where they do not."""
    if comparison.places:
        return str(comparison.places[0])
    if comparison.differing_bits:
        return f"{comparison.beats} beats came out and should be {comparison.beats_expected}"
    return None


def changed_verilog(design: AnyDesign, folder: Path, words: Words | None = None) -> str | None:
    """In what the Verilog files in ``folder`` differ from those of ``design``: a sentence on the first, or None."""
    files = design_files(design, words)
    wanted = {name: text.splitlines() for name, text in files.items() if name.endswith(".v")}
    return next((found for name in wanted if (found := _changed_file(folder / name, wanted[name]))), None)


def _changed_file(path: Path, wanted: list[str]) -> str | None:
    try:
        found = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else None
    except OSError:
        found = None
    if found is None:
        return f"{path.name} is missing or unreadable"
    if found == wanted:
        return None
    for number, (have, want) in enumerate(zip(found, wanted, strict=False), 1):
        if have != want:
            return f"{path.name} differs in line {number}: {one_line(have)[:60]!r} instead of {want.strip()[:60]!r}"
    return f"{path.name} has {len(found)} lines instead of {len(wanted)}"
