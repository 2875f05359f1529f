"""``ropewalk build``: a folder's design on a real part or a board: synthesis, place and route, bitstream, report."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from ropewalk.board_top.files import BAUD
from ropewalk.boards.build import build as build_unit
from ropewalk.boards.build_folder import write_build, write_failure
from ropewalk.boards.parts import part_of
from ropewalk.boards.registry import board_of
from ropewalk.boards.report import Report
from ropewalk.boards.room import RoomError
from ropewalk.boards.unit import unit_in
from ropewalk.errors import BuildError

from .board_unit import board_unit, smaller
from .console import note, show_table, stopwatch, table

EPILOG = """\b
Examples:
  ropewalk build engine --board ulx3s-85f
  ropewalk build engine --part LFE5U-85F-6 --out-of-context --component rotator
"""


def _show(report: Report, written: Path) -> None:
    """Print the table at the end of a build."""
    figures = {
        "part": report.part,
        **({"board": report.board} if report.board is not None else {}),
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


@contextmanager
def _failures_kept(folder: Path) -> Iterator[None]:
    """Keeps what the tools printed in a build that fails, and says where; and what to do where a part is too small."""
    try:
        yield
    except BuildError as error:
        said = str(error)
        if isinstance(error, RoomError):
            said = f"{said}; {smaller(folder, error.larger)}"
        kept = write_failure(folder, error.log)
        if kept is not None:
            said = f"{said}; what the tools printed is in {kept}"
        raise BuildError(said, error.log) from None


@click.command(epilog=EPILOG)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--board", "board_name", metavar="BOARD", help="Build for this board: its self-test, link and bitstream.")
@click.option("--part", "part_name", metavar="PART", help="Build for this part, such as LFE5U-85F-6.")
@click.option("--out-of-context", is_flag=True, help="Registers at the ports instead of pins; a part alone needs it.")
@click.option("--component", metavar="NAME", help="Build this component of the design alone, such as rotator.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=1, show_default=True, help="The placer's seed.")
@click.option(
    "--frequency",
    type=click.FloatRange(1, 1000),
    metavar="MHZ",
    help="Fail where this is not reached. On a board: its design's clock, made by the PLL.",
)
@click.option("--baud", type=click.IntRange(300, 1_000_000), metavar="RATE", help="Of a board's serial line.  [115200]")
@click.option("--allow-timing-fail", is_flag=True, help="Only report a frequency that is not reached.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON document.")
def build(
    folder: Path,
    board_name: str | None,
    part_name: str | None,
    out_of_context: bool,
    component: str | None,
    seed: int,
    frequency: float | None,
    baud: int | None,
    allow_timing_fail: bool,
    as_json: bool,
) -> None:
    """Build the design in DIR for a board or a part.

    Yosys synthesises it, nextpnr places and routes it, and for a board it is packed into the file that the board is
    loaded with. DIR/build then has that, the report (report.json), the netlist (netlist.v) and what the tools printed
    (build.log). A build that fails leaves the last one as it was.

    Fails on latches, nets with several drivers or none, memories that become registers, a part that is too small, and a
    frequency that is not reached.
    """
    if (board_name is None) == (part_name is None):
        raise click.UsageError("give either --board, or --part with --out-of-context")
    with stopwatch("build") as step, _failures_kept(folder):
        if board_name is not None:
            if out_of_context or component is not None:
                raise click.UsageError("--out-of-context and --component go with --part: a board has pins")
            board = board_of(board_name)
            if frequency is not None:
                board = board.at(frequency)
            part, target = board.device, None
            unit = board_unit(folder, board, baud=BAUD if baud is None else baud, told=step)
        else:
            if not out_of_context:
                raise click.UsageError("a part alone has no pins: give --out-of-context too")
            if baud is not None:
                raise click.UsageError("--baud goes with --board: a part alone has no serial line")
            board, part, target = None, part_of(str(part_name)), frequency
            unit = unit_in(folder, component)
        made = build_unit(
            unit,
            part,
            board=board,
            seed=seed,
            target_mhz=target,
            allow_timing_fail=allow_timing_fail,
            told=step,
        )
    written = write_build(folder, made)
    if made.report.timing_met is False:
        note(f"the timing is not met: {made.report.missed}")
    if as_json:
        click.echo(json.dumps(made.report.to_json(), indent=1))
        return
    _show(made.report, written)
    for name in made.bitstreams:
        click.echo(f"bitstream: {written / name}")
