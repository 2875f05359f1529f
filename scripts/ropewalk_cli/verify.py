"""``ropewalk verify``: all engines bit for bit, the tables against the design, the result against the exact angle."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
from ropewalk.design import Design
from ropewalk.emit.folder import changed_roms, load_design
from ropewalk.errors import InputError
from ropewalk_sim.compare import Comparison, compare
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.errors import EngineError
from ropewalk_sim.npz import load_npz
from ropewalk_sim.stream import StreamInput, StreamOutput, pack_run

from .console import one_line, progress, show_table, table
from .evidence import NOTHING_ROTATED, accuracy, slot_bits, some_beats, some_tokens
from .sample import corner_tokens, random_stream

DEFAULT_ENGINES = "model,amaranth,icarus,verilator"
SLOW_ENGINES = {"amaranth": 2_500, "icarus": 2_500, "cocotb-verilator": 2_500}
"""Beats of the built-in input that an engine of some thousand clocks per second is given: a few seconds' worth."""

SEED = 20260101
RANDOM_PAIRS = 1 << 20
MOST_TOKENS = 4_096

EPILOG = """\b
Examples:
  ropewalk verify engine
  ropewalk verify engine --engines model,verilator --json
  ropewalk verify engine --input x.npz
"""


@dataclass(frozen=True, kw_only=True)
class EngineReport:
    """What one engine did: an entry of ``engines`` in the JSON document (docs/cli.md)."""

    name: str
    tokens: int
    beats: int
    seconds: float
    clocks: int | None
    beats_per_clock: float | None
    differing_bits: int | None
    first_difference: str | None
    error: str | None


@click.command(epilog=EPILOG, short_help="Compare all engines bit for bit, and with the exact angle.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path),
    metavar="X.npz",
    help="Arrays as `run` takes them.  [default: a million random pairs, and every corner case]",
)
@click.option(
    "--engines",
    default=DEFAULT_ENGINES,
    show_default=True,
    metavar="A,B,...",
    help=f"Engines to compare: {', '.join(ENGINES)}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the tables.")
def verify(folder: Path, source: Path | None, engines: str, as_json: bool) -> None:
    """Compare all engines bit for bit, and their result with the exact angle.

    DIR is a folder that `generate` wrote. The same input goes through every engine: the fixed-point model, the
    gateware in Amaranth's simulator, and the Verilog files of DIR in Icarus and in Verilator. The table files in DIR
    are compared with what design.json implies. Exit code 1 when a single bit differs anywhere.

    The built-in input is the same every time; the slow simulators get its first tokens only (the report says how many).
    """
    names = engine_names(engines)
    design = load_design(folder)
    stream = pack_run(design, load_npz(source)).stream if source else built_in(design)
    changed = changed_roms(design, folder)
    reports: list[EngineReport] = []
    bits = [0] * len(design.variants)
    reference: StreamOutput | None = None
    for name in names:
        part = stream if source else some_tokens(design, stream, slice(0, share(design, name, stream.tokens)))
        report, output = run_one(design, folder, name, part, reference)
        reports.append(report)
        if reference is None:
            reference = output
        elif output is not None:
            bits = [count + slot_bits(design, part, reference, output, slot) for slot, count in enumerate(bits)]
    corners = 0 if source else len(corner_tokens(design))
    variants = variant_reports(design, stream, reference, bits, skip=corners)
    failures = changed + [f"{report.name}: {report.error}" for report in reports if report.error]
    failures += [
        f"{report.name} differs from {names[0]} in {report.differing_bits} bits ({report.first_difference})"
        for report in reports
        if report.differing_bits
    ]
    document = {
        "input": str(source) if source else "built-in",
        "reference": names[0],
        "changed_tables": changed,
        "engines": [asdict(report) for report in reports],
        "variants": variants,
        "passed": not failures,
    }
    if as_json:
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    else:
        print_tables(document)
    if failures:
        raise EngineError(f"verify failed: {'; '.join(failures)}.")
    if not as_json:
        click.echo("verified: no bit differs, and the tables are what design.json implies.")


def engine_names(engines: str) -> list[str]:
    """The engines of a comma-separated list; the model, if it is among them, first: the others are compared with it."""
    names = list(dict.fromkeys(name.strip() for name in engines.split(",")))
    for name in names:
        if name not in ENGINES:
            raise InputError(f"--engines: there is no engine {name!r}; these are: {', '.join(ENGINES)}")
    return sorted(names, key=lambda name: name != "model")


def built_in(design: Design) -> StreamInput:
    """The corner cases, and about a million random pairs."""
    pairs = design.pairs * (design.heads[0] + design.heads[1])
    return random_stream(design, min(max(RANDOM_PAIRS // pairs, len(design.variants)), MOST_TOKENS), SEED)


def share(design: Design, name: str, tokens: int) -> int:
    """How many tokens of the built-in input the engine gets: the corner cases at least."""
    if name not in SLOW_ENGINES:
        return tokens
    least = len(corner_tokens(design)) + len(design.variants)
    return min(tokens, max(least, SLOW_ENGINES[name] // design.beats_per_token))


def run_one(
    design: Design, folder: Path, name: str, stream: StreamInput, reference: StreamOutput | None
) -> tuple[EngineReport, StreamOutput | None]:
    """Run one engine and compare it with ``reference``, as far as it got the same tokens."""
    started = time.perf_counter()
    output, fault, comparison = None, None, None
    try:
        with progress(f"{name:<9}") as tell:
            output = ENGINES[name](folder).run(stream, progress=tell)
    except EngineError as error:
        fault = one_line(error)
    if output is not None and reference is not None:
        comparison = compare(design, some_beats(reference, slice(0, stream.beats)), output, stream)
    report = EngineReport(
        name=name,
        tokens=stream.tokens,
        beats=stream.beats,
        seconds=round(time.perf_counter() - started, 3),
        clocks=output.clocks if output else None,
        beats_per_clock=output.beats_per_clock if output else None,
        differing_bits=comparison.differing_bits if comparison else None,
        first_difference=first_difference(comparison) if comparison else None,
        error=fault,
    )
    return report, output


def first_difference(comparison: Comparison) -> str | None:
    """Where two outputs first differ, in words; None where they do not."""
    if comparison.places:
        return str(comparison.places[0])
    if comparison.differing_bits:
        return f"{comparison.beats} beats came out and should be {comparison.beats_expected}"
    return None


def variant_reports(
    design: Design, stream: StreamInput, reference: StreamOutput | None, bits: list[int], skip: int
) -> list[dict[str, Any]]:
    """The entries of ``variants`` in the JSON document: accuracy and differing bits, in slot order."""
    if reference and reference.beats == stream.beats:
        found = accuracy(design, stream, reference, skip=skip)
    else:
        found = [NOTHING_ROTATED] * len(design.variants)
    return [
        {"name": variant.name, "slot": slot, **asdict(one), "differing_bits": count}
        for slot, (variant, one, count) in enumerate(zip(design.variants, found, bits, strict=True))
    ]


def print_tables(document: dict[str, Any]) -> None:
    """Print the JSON ``document`` as tables for a person."""
    engines = table(
        "engine",
        "tokens",
        "beats",
        "beats per clock",
        "seconds",
        f"bits unlike {document['reference']}",
        left=("engine",),
    )
    for entry in document["engines"]:
        rate = "-" if entry["beats_per_clock"] is None else f"{entry['beats_per_clock']:.3f}"
        differing = "failed" if entry["error"] else "-"
        if entry["differing_bits"] is not None:
            differing = str(entry["differing_bits"])
        engines.add_row(
            entry["name"], f"{entry['tokens']:,}", f"{entry['beats']:,}", rate, f"{entry['seconds']:.1f}", differing
        )
    show_table(engines)
    variants = table(
        "slot", "variant", "pairs", "worst LSB", "bias LSB", "rms LSB", "differing bits", left=("variant",)
    )
    for entry in document["variants"]:
        errors = [entry[f"{key}_lsb"] for key in ("worst", "bias", "rms")]
        variants.add_row(
            str(entry["slot"]),
            entry["name"],
            f"{entry['pairs']:,}",
            *("-" if error is None else f"{error:.4f}" for error in errors),
            str(entry["differing_bits"]),
        )
    click.echo("error against the exact rotation of the same words:")
    show_table(variants)
