"""``ropewalk build``: a folder's Verilog on a real part: synthesis, place and route, and a report."""

import json
from pathlib import Path

import click
from ropewalk.boards.build import build as build_unit
from ropewalk.boards.build_folder import write_build, write_failure
from ropewalk.boards.parts import part_of
from ropewalk.boards.report import Report
from ropewalk.boards.unit import unit_in
from ropewalk.errors import BuildError

from .console import note, show_table, stopwatch, table


def _show(report: Report, written: Path) -> None:
    """Print the table at the end of a build."""
    figures = {
        "part": report.part,
        "component": report.component or "the whole unit",
        "seed": str(report.seed),
        "look-up tables, all (comb)": str(report.comb),
        "look-up tables, plain (lut)": str(report.lut),
        "registers (ff)": str(report.ff),
        "multipliers (dsp)": f"{report.dsp:g}",
        "block RAMs (block_ram)": f"{report.block_ram:g}",
    }
    for name, mhz in report.clocks.items():
        asked = f", {report.targets[name]:.1f} asked for" if name in report.targets else ""
        figures[f"clock {name}"] = f"{mhz:.1f} MHz{asked}"
    shown = table("", "built", left=("", "built"))
    for name, value in figures.items():
        shown.add_row(name, value)
    show_table(shown)
    if report.critical_path:
        click.echo(f"slowest path: {' > '.join(report.critical_path)}")
    for remark in report.notes:
        click.echo(f"note: {remark}")
    click.echo(f"written: {written} ({', '.join(sorted(path.name for path in written.iterdir()))})")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--part", "part_name", metavar="PART", required=True, help="Build for this part, such as LFE5U-85F-6.")
@click.option("--out-of-context", is_flag=True, help="Registers at the ports instead of pins; a part alone needs it.")
@click.option("--component", metavar="NAME", help="Build this component of the design alone, such as rotator.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="The placer's seed.")
@click.option("--frequency", type=click.FloatRange(1, 1000), metavar="MHZ", help="Fail where this is not reached.")
@click.option("--allow-timing-fail", is_flag=True, help="Only report a frequency that is not reached.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
def build(
    folder: Path,
    part_name: str,
    out_of_context: bool,
    component: str | None,
    seed: int,
    frequency: float | None,
    allow_timing_fail: bool,
    as_json: bool,
) -> None:
    """Build the Verilog in DIR for a part.

    Yosys synthesises it, nextpnr places and routes it. DIR/build then has the report (report.json), the netlist
    (netlist.v) and what the tools printed (build.log). A build that fails leaves the last one as it was.

    Fails on latches, nets with several drivers or none, memories that become registers, and a frequency that is not
    reached.
    """
    if not out_of_context:
        raise click.UsageError("a part alone has no pins: give --out-of-context too")
    part = part_of(part_name)
    unit = unit_in(folder, component)
    with stopwatch("build") as step:
        try:
            made = build_unit(
                unit,
                part,
                seed=seed,
                target_mhz=frequency,
                allow_timing_fail=allow_timing_fail,
                told=step,
            )
        except BuildError as error:
            kept = write_failure(folder, error.log)
            if kept is None:
                raise
            raise BuildError(f"{error}; what the tools printed is in {kept}", error.log) from None
    written = write_build(folder, made)
    if made.report.timing_met is False:
        note(f"the timing is not met: {made.report.missed}")
    if as_json:
        click.echo(json.dumps(made.report.to_json(), indent=1))
    else:
        _show(made.report, written)
