"""The netlists that Yosys writes, simulated with models of their cells: every beat against the software model.

Each of CASES (names, or their beginnings; all without any) is generated, and synthesised for each family, from its own
primitives and from the generic form; the netlist runs in place of the Verilog, with stalls on every stream. Exit
code 1 where a bit differs.
"""

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from ropewalk.boards import families
from ropewalk.boards.synthesis import Synthesis, netlist_verilog, synthesise
from ropewalk.boards.unit import unit_in
from ropewalk.emit.folder import write_design_folder
from ropewalk.errors import BuildError
from ropewalk_sim.errors import EngineError
from ropewalk_sim.netlist import Netlist, netlist_folder

from .console import one_line, show_table, table
from .netlist_cases import CASES, Case

FAMILIES: Mapping[str, families.Family] = {
    "ecp5": families.ECP5,
    "ice40": families.ICE40,
    "gowin": families.GW1N,
    "xilinx": families.XILINX,
}
FORMS = ("own", "generic")
"""Whose primitives the Verilog is made of: the family's own, or nobody's."""

BEATS = 4_000


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of the table: a netlist, its cells, and what came of its run."""

    case: str
    family: str
    form: str
    cells: int
    lut: int
    ff: int
    dsp: float
    block_ram: float
    beats: int
    differing_bits: int
    fault: str | None
    seconds: float


def trial(name: str, case: Case, family: str, form: str, *, engine: str, beats: int, seed: int) -> Line:
    """Generate, synthesise and simulate one case."""
    begun = time.monotonic()
    made: Synthesis | None = None
    ran, bits, fault = 0, 0, None
    with tempfile.TemporaryDirectory(prefix="ropewalk-") as place:
        folder = Path(place) / "design"
        design, words = case.make(family if form == "own" else "generic")  # type: ignore[arg-type]
        write_design_folder(design, folder, words=words)
        unit = unit_in(folder)
        try:
            made = synthesise(unit.files, module=unit.module, family=FAMILIES[family], primitives=unit.family == family)
            netlist = Netlist(verilog=netlist_verilog(made).encode(), family=family, part="")
            with netlist_folder(folder, netlist) as simulated:
                found = case.run(design, simulated, engine, seed, beats)
            ran, bits, fault = found.beats, found.differing_bits, found.first
        except (BuildError, EngineError) as error:
            fault = one_line(error)
    return Line(
        case=name, family=family, form=form, beats=ran, differing_bits=bits, fault=fault,
        cells=sum(made.cells.values()) if made else 0, lut=made.luts if made else 0, ff=made.registers if made else 0,
        dsp=made.multipliers if made else 0, block_ram=made.block_rams if made else 0,
        seconds=round(time.monotonic() - begun, 1),
    )  # fmt: skip


def chosen(words: Sequence[str]) -> dict[str, Case]:
    """The cases whose names are or begin with one of ``words``; all without any."""
    for word in words:
        if not any(name.startswith(word) for name in CASES):
            raise click.UsageError(f"no case's name begins with {word!r}; there are {', '.join(CASES)}")
    begins = tuple(word for word in words if word not in CASES)
    return {name: case for name, case in CASES.items() if not words or name in words or name.startswith(begins)}


@click.command(help=__doc__)
@click.argument("cases", nargs=-1)
@click.option("--family", "wanted", multiple=True, type=click.Choice(tuple(FAMILIES)), help="These only.")
@click.option("--form", "forms", multiple=True, type=click.Choice(FORMS), help="These only.")
@click.option("--beats", default=BEATS, show_default=True, type=click.IntRange(1, 10**7), help="About so many each.")
@click.option("--engine", default="verilator", show_default=True, type=click.Choice(["verilator", "icarus"]))
@click.option("--seed", default=1, show_default=True, help="Another seed, other tokens and rests.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
def main(
    cases: tuple[str, ...], wanted: tuple[str, ...], forms: tuple[str, ...], beats: int, engine: str, seed: int,
    as_json: bool,
) -> None:  # fmt: skip
    """See the module."""
    lines = []
    for name, case in chosen(cases).items():
        for family in wanted or FAMILIES:
            for form in forms or FORMS:
                line = trial(name, case, family, form, engine=engine, beats=beats, seed=seed)
                lines.append(line)
                verdict = line.fault or "no differing bit"
                click.echo(f"{name}, {family}, {form}: {line.beats} beats, {verdict} ({line.seconds:.0f} s)", err=True)
    if as_json:
        click.echo(json.dumps([asdict(line) for line in lines], indent=1))
    else:
        show(lines)
    sys.exit(any(line.fault for line in lines))


def show(lines: Sequence[Line]) -> None:
    """Print the table."""
    shown = table(
        "unit", "family", "primitives", "cells", "LUT", "FF", "multipliers", "block RAMs", "beats", "differing bits",
        left=("unit", "family", "primitives"),
    )  # fmt: skip
    for line in lines:
        bits = "failed" if line.fault and not line.differing_bits else str(line.differing_bits)
        shown.add_row(
            line.case, line.family, line.form, *(f"{count:,}" for count in (line.cells, line.lut, line.ff)),
            f"{line.dsp:g}", f"{line.block_ram:g}", f"{line.beats:,}", bits,
        )  # fmt: skip
    show_table(shown)


if __name__ == "__main__":
    main()
