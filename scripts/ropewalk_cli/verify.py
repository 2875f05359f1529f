"""``ropewalk verify``: all engines bit for bit, the tables against the design, the result against the exact angle."""

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from ropewalk.emit.folder import load_design
from ropewalk.errors import InputError
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.errors import EngineError
from ropewalk_sim.netlist import built_netlist, netlist_folder
from ropewalk_sim.npz import load_npz

from .console import show_table, table
from .schemes import scheme_of_design

DEFAULT_ENGINES = "model,amaranth,icarus,verilator"
NETLIST_ENGINES = "model,verilator"
"""With a netlist, which is too large for the slow simulators to be waited for."""
VERILOG_ENGINES = ("icarus", "verilator", "cocotb-verilator")
EPILOG = """\b
Examples:
  ropewalk verify engine
  ropewalk verify engine --engines model,verilator --json
  ropewalk verify engine --input x.npz
  ropewalk verify engine --netlist
"""


@click.command(epilog=EPILOG, short_help="Compare all engines bit for bit, and with the exact result.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--input",
    "source",
    type=click.Path(path_type=Path),
    metavar="X.npz",
    help="Arrays as `run` takes them.  [default: random tokens, a million pairs of them, and every corner case]",
)
@click.option(
    "--engines",
    metavar="A,B,...",
    help=f"Engines to compare: {', '.join(ENGINES)}.  [default: {DEFAULT_ENGINES}; with --netlist {NETLIST_ENGINES}]",
)
@click.option(
    "--netlist",
    "of_build",
    is_flag=True,
    help="Simulate the netlist of the last build, DIR/build/netlist.v, in place of the Verilog.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the tables.")
def verify(folder: Path, source: Path | None, engines: str | None, of_build: bool, as_json: bool) -> None:
    """Compare all engines bit for bit, and their result with the exact one.

    DIR is a folder that `generate` wrote. The same input goes through every engine: the fixed-point model, the
    gateware in Amaranth's simulator, and the Verilog files of DIR in Icarus and in Verilator. The Verilog and the table
    files in DIR are compared with what design.json implies. Exit code 1 when a single bit differs anywhere.

    The built-in input is the same every time; the slow simulators get some of it (the report says how much). Corner
    cases run with stalls on all streams, after a reset in mid-stream; random tokens at the full rate.

    With --netlist Icarus and Verilator simulate what `ropewalk build` made of the Verilog for a part: its cells, with
    models of them.
    """
    names = engine_names((NETLIST_ENGINES if of_build else DEFAULT_ENGINES) if engines is None else engines)
    if of_build and not set(names) & set(VERILOG_ENGINES):
        raise InputError(f"--netlist: none of the engines simulates it; these do: {', '.join(VERILOG_ENGINES)}")
    design = load_design(folder)
    scheme = scheme_of_design(design)
    arrays = load_npz(source) if source else None
    netlist = built_netlist(folder) if of_build else None
    with nullcontext() if netlist is None else netlist_folder(folder, netlist) as simulated:
        found = scheme.verify(design, folder, names, arrays, simulated=simulated)
    failures = found.changed_tables + ([found.changed_verilog] if found.changed_verilog else [])
    failures += [f"{report.name}: {report.error}" for report in found.engines if report.error]
    failures += [
        f"{report.name} differs from {names[0]} in {report.differing_bits} bits ({report.first_difference})"
        for report in found.engines
        if report.differing_bits
    ]
    document = {
        "input": str(source) if source else "built-in",
        "reference": names[0],
        "netlist": None if netlist is None else {"part": netlist.part, "family": netlist.family},
        "changed_tables": found.changed_tables,
        "changed_verilog": found.changed_verilog,
        "engines": [asdict(report) for report in found.engines],
        "variants": found.variants,
        "passed": not failures,
    }
    if as_json:
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    else:
        print_tables(document, scheme.exact)
    if failures:
        raise EngineError(f"verify failed: {'; '.join(failures)}.")
    if not as_json:
        same = "" if netlist is None else f" from the netlist for {netlist.part}"
        click.echo(f"verified: no bit differs{same}, and the Verilog and its tables are what design.json implies.")


def engine_names(engines: str) -> list[str]:
    """The engines of a comma-separated list; the model, if it is among them, first: the others are compared with it."""
    names = list(dict.fromkeys(name.strip() for name in engines.split(",")))
    for name in names:
        if name not in ENGINES:
            raise InputError(f"--engines: there is no engine {name!r}; these are: {', '.join(ENGINES)}")
    return sorted(names, key=lambda name: name != "model")


def print_tables(document: dict[str, Any], exact: str) -> None:
    """Print the JSON ``document`` as tables for a person; ``exact`` is what results are compared with."""
    engines = table(
        "engine",
        "tokens",
        "beats",
        "corner beats",
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
            entry["name"],
            *(f"{entry[key]:,}" for key in ("tokens", "beats", "corner_beats")),
            rate,
            f"{entry['seconds']:.1f}",
            differing,
        )
    show_table(engines)
    what = next((key for key in ("pairs", "elements") if key in document["variants"][0]), "")
    variants = table("slot", "variant", what, "worst LSB", "bias LSB", "rms LSB", "differing bits", left=("variant",))
    for entry in document["variants"]:
        errors = [entry[f"{key}_lsb"] for key in ("worst", "bias", "rms")]
        variants.add_row(
            str(entry["slot"]),
            entry["name"],
            f"{entry[what]:,}",
            *("-" if error is None else f"{error:.4f}" for error in errors),
            str(entry["differing_bits"]),
        )
    click.echo(f"error against {exact}:")
    show_table(variants)
