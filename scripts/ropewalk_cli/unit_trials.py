"""Long random runs of ALiBi, learned and sinusoidal units: every mode against its model, until so many beats agree.

Sound tokens and ones of every other kind in turn: packets that do not fit, positions past the end, masked and passed
tokens, read errors of the memory outside. Every stream rests at random in every run. Exit code 1 where a bit differs.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from ropewalk.emit.folder import design_files
from ropewalk_sim.beats import Stalls
from ropewalk_sim.errors import EngineError
from ropewalk_sim.units.unit import compare_octets

from .console import one_line
from .unit_modes import Mode, all_modes

ENGINES = ("verilator", "cocotb-verilator", "icarus", "amaranth")
RUN_BEATS = 20_000
RESTS = (0.1, 0.3, 0.5)
"""The shares of clocks in which a side of a stream rests; each run draws one for each stream."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What the runs of one mode came to: beats in and out, tokens, beats with the error bit, and the first fault."""

    mode: str
    engine: str
    runs: int
    tokens: int
    beats_in: int
    beats_out: int
    error_beats: int
    differing_bits: int
    fault: str | None
    seconds: float

    def __str__(self) -> str:
        verdict = self.fault or "no difference"
        return (
            f"{self.mode} in {self.engine}: {self.beats_in} beats in, {self.beats_out} out ({self.error_beats} with "
            f"the error bit), {self.tokens} tokens, {self.runs} runs: {verdict} ({self.seconds:.0f} s)"
        )


def trial(name: str, mode: Mode, engine: str, *, beats: int, run_beats: int, seed: int) -> Report:
    """Run ``mode`` in ``engine`` until ``beats`` beats came out; it ends early where something is wrong.

    A run is of ``run_beats`` beats, or a few more. Another ``seed`` gives other tokens and rests.
    """
    begun = time.monotonic()
    runs = tokens = taken = given = errors = differing = 0
    fault = None
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as place:
        folder = Path(place)
        for file, text in design_files(mode.design, mode.words).items():
            (folder / file).write_text(text, encoding="utf-8")
        unit = mode.unit(folder)
        while given < beats and fault is None:
            number = 1000 * seed + runs
            make = unit.plain if runs % 2 else unit.corners
            stream = mode.change(make(min(run_beats, beats), number))
            rests = np.random.default_rng(number).choice(RESTS, 4).tolist()
            stalls = Stalls(seed=number, data=rests[0], token=rests[1], output=rests[2], registers=rests[3])
            try:
                got = unit.octets(unit.run(engine, stream, stalls=stalls))
            except EngineError as error:
                fault = f"run {runs}: {one_line(error)}"
            else:
                found = compare_octets(unit.octets(unit.run("model", stream)), got)
                differing += found.differing_bits
                fault = None if found.first is None else f"run {runs}: {found.first}"
                given += got.beats
                errors += int((got.user & 1).sum())
            runs, tokens, taken = runs + 1, tokens + stream.tokens, taken + stream.beats
    return Report(
        mode=name, engine=engine, runs=runs, tokens=tokens, beats_in=taken, beats_out=given, error_beats=errors,
        differing_bits=differing, fault=fault, seconds=round(time.monotonic() - begun, 1),
    )  # fmt: skip


def chosen(words: Sequence[str]) -> dict[str, Mode]:
    """The modes whose names begin with one of ``words``; all without any."""
    modes = all_modes()
    for word in words:
        if not any(name.startswith(word) for name in modes):
            raise click.UsageError(f"no mode's name begins with {word!r}; there are {', '.join(modes)}")
    return {name: mode for name, mode in modes.items() if not words or name.startswith(tuple(words))}


@click.command(help=__doc__)
@click.argument("modes", nargs=-1)
@click.option("--beats", default=200_000, show_default=True, type=click.IntRange(1, 10**9), help="Output beats a mode.")
@click.option("--engine", default=ENGINES[0], show_default=True, type=click.Choice(ENGINES))
@click.option("--run-beats", default=RUN_BEATS, show_default=True, type=click.IntRange(1, 10**7),
              help="Beats of a run; other tokens and rests from run to run.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Another seed, other tokens and rests.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
def main(modes: tuple[str, ...], beats: int, engine: str, run_beats: int, seed: int, as_json: bool) -> None:
    """Try each of MODES: modes whose names begin so, all without any."""
    reports = []
    for name, mode in chosen(modes).items():
        report = trial(name, mode, engine, beats=beats, run_beats=run_beats, seed=seed)
        reports.append(report)
        click.echo(str(report), err=as_json)
    if as_json:
        click.echo(json.dumps([asdict(report) for report in reports], indent=1))
    sys.exit(any(report.fault for report in reports))


if __name__ == "__main__":
    main()
