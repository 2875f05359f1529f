"""``scripts/golden``: every golden rotary configuration through the emitted Verilog (docs/testing.md)."""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import click
from ropewalk.family import Family
from ropewalk_cli.console import progress, show_table, table

from .cases import cases_of
from .engine import FAMILIES, MADE_FOR, engines, run_cases
from .judge import Verdict, judge


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--head-dim", "sizes", type=click.Choice(list(map(str, MADE_FOR))), multiple=True, help="These only.")
@click.option(
    "--netlist",
    "family",
    type=click.Choice(list(FAMILIES)),
    default="generic",
    metavar="FAMILY",
    help=f"Simulate what Yosys makes of each engine for a family in place of its Verilog: {', '.join(FAMILIES)}.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(sizes: tuple[str, ...], family: Family, as_json: bool) -> None:
    """Rotate the golden vectors in one emitted engine per head size, whose slots are loaded over AXI4-Lite.

    Each line is a configuration as one software stack ran it. Exit code 1 means that one is outside a bound.
    """
    lines: list[Verdict] = []
    wanted = [int(size) for size in sizes] or list(MADE_FOR)
    with tempfile.TemporaryDirectory() as name, progress("rotating") as step:
        step(0, len(wanted))
        for number, (head_dim, engine) in enumerate(engines(wanted, Path(name), family), 1):
            for found in run_cases(cases_of(head_dim), engine):
                lines += judge(found)
            step(number, len(wanted))
    if as_json:
        click.echo(json.dumps([asdict(line) | {"good": line.good} for line in lines], indent=1))
    else:
        show(lines)
    sys.exit(not all(line.good for line in lines))


def show(lines: list[Verdict]) -> None:
    """Print the table."""
    shown = table(
        "engine", "configuration", "software", "order", "amplitude", "tokens", "LSB", "software", "allowed", "share",
        "bits", "", left=("configuration", "software", "order", ""),
    )  # fmt: skip
    for line in lines:
        shown.add_row(
            str(line.head_dim), line.configuration, line.software, line.order, f"{line.amplitude:.4f}",
            str(line.tokens), f"{line.worst_lsb:.3f}", f"{line.difference:.2g}", f"{line.difference_allowed:.2g}",
            f"{line.share:.2f}", str(line.differing_bits), "" if line.good else "WRONG",
        )  # fmt: skip
    show_table(shown)
    click.echo("LSB: the largest distance from the exact rotation of the quantised vectors, at most 0.75 at amplitudes")
    click.echo("to 1 and 0.90 to 1.5. software: the distance from its result, where that is the largest share of the")
    click.echo("allowed, its own documented error and ours. bits: those that differ from the fixed-point model.")


if __name__ == "__main__":
    main(prog_name="scripts/golden")
