"""The soak: emitted engines in a simulator under cocotbext-axi, for hundreds of thousands of beats.

Tokens, packets and their faults, pauses on every interface, slot loads and register writes while the engine streams,
resets and flushes come at random; every beat is compared with the model. Exit code 1 where anything is wrong.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import click
from ropewalk_sim.soak.layouts import LAYOUTS
from ropewalk_sim.soak.run import SIMULATORS, Report, soak

from .console import progress, show_table, table

BEATS = 500_000
COUNTS = ("output beats", "data beats", "tokens", "error beats", "tokens with a framing error",
          "beats dropped by framing", "slot loads", "refused writes", "register writes", "register reads",
          "ended by aresetn", "ended by soft reset", "ended by flush", "of them after all had come out",
          "beats in flight at a reset or flush")  # fmt: skip
"""What is shown of what was counted, in this order."""

NAMES = {"token": "s_axis_token", "data": "s_axis", "output": "m_axis",
         **{name: f"s_axil {name}" for name in ("aw", "w", "b", "ar", "r")}}  # fmt: skip


@click.command(help=__doc__)
@click.option("--beats", default=BEATS, show_default=True, help="Output beats per layout and simulator.")
@click.option("--layout", "layouts", multiple=True, type=click.Choice(list(LAYOUTS)), help="Default: all. Repeatable.")
@click.option("--simulator", "simulators", multiple=True, type=click.Choice(list(SIMULATORS)),
              help="Default: all. Repeatable.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Another seed, other tokens at other moments.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(beats: int, layouts: tuple[str, ...], simulators: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Soak each layout in each simulator, one after the other."""
    runs: list[tuple[str, str, float, Report]] = []
    for simulator in simulators or tuple(SIMULATORS):
        for layout in layouts or tuple(LAYOUTS):
            began = time.monotonic()
            with progress(f"{layout} in {simulator}") as step:
                report = soak(
                    LAYOUTS[layout], simulator, beats=beats, seed=seed, progress=_told(step, layout, simulator)
                )
            runs.append((layout, simulator, time.monotonic() - began, report))
            if report.fault:
                print(f"{layout} in {simulator}, seed {seed}: {report.fault}", file=sys.stderr, flush=True)
    if as_json:
        click.echo(json.dumps([
            {"layout": layout, "simulator": simulator, "seed": seed, "seconds": round(seconds, 1), **vars(report)}
            for layout, simulator, seconds, report in runs
        ], indent=1))  # fmt: skip
    else:
        _show(runs)
    sys.exit(any(report.fault for *_, report in runs))


def _told(step: Callable[[int, int], None], layout: str, simulator: str) -> Callable[[int, int], None]:
    """The bar's callback, which where there is no terminal says a line for every twentieth of the way."""
    said = 0

    def tell(done: int, total: int) -> None:
        nonlocal said
        step(done, total)
        if not sys.stderr.isatty() and done * 20 // total > said:
            said = done * 20 // total
            print(f"{layout} in {simulator}: {done} of {total} beats", file=sys.stderr, flush=True)

    return tell


def _show(runs: list[tuple[str, str, float, Report]]) -> None:
    """A column for each run."""
    shown = table("", *(f"{layout}, {simulator}" for layout, simulator, *_ in runs), left=("",))

    def row(name: str, cell: Callable[[Report], Any]) -> None:
        shown.add_row(name, *(str(cell(report)) for *_, report in runs))

    row("clocks", lambda report: report.clocks)
    row("stretches", lambda report: report.stretches)
    for name in COUNTS:
        row(name, lambda report, name=name: report.counts.get(name, 0))
    for name, port in NAMES.items():
        row(f"{port}: clocks with ready low", lambda report, name=name: report.waits.get(name, 0))
    row("mismatched, lost, duplicated, reordered", lambda report: "see above" if report.fault else 0)
    shown.add_row("seconds", *(f"{seconds:.0f}" for _, _, seconds, _ in runs))
    show_table(shown)


if __name__ == "__main__":
    main()
