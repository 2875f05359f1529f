"""``ropewalk run``: a user's arrays through a generated engine."""

from pathlib import Path

import click
from ropewalk.emit.folder import load_design
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.npz import check_target, load_npz, save_npz
from ropewalk_sim.stream import pack_run, unpack_run

from .console import note, progress

EPILOG = """\b
X.npz holds:
  q         [tokens, query_heads, head_dim]   integers (raw words) or floats
  k         [tokens, key_heads, head_dim]     the same kind as q
  position  [tokens] or [tokens, axes]        integers from 0 to 2^24 - 1
  variant   [tokens]   optional: slot numbers, or names as `geometry` shows them; slot 0 if absent
  inverse   [tokens]   optional: 1 turns backwards
  v         [tokens, value heads, head_dim]   optional: values, which pass as they are
\b
Y.npz gets q, k, v if it was there, error [tokens] (1: this token came back unrotated) and scale (the value of one LSB).
position [tokens], for a model whose positions have several axes, is that on every axis, as text has it.
q and k are in the model's own element order, whatever order the engine has. A position at or past the
variant's limit, or an empty slot, is not refused: that token comes back unrotated with error 1.
\b
Example:
  ropewalk run engine --input x.npz --output y.npz --engine model
"""


@click.command(epilog=EPILOG, short_help="Stream your arrays through an engine.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--input", "source", required=True, type=click.Path(path_type=Path), metavar="X.npz", help="Arrays in.")
@click.option("--output", "target", required=True, type=click.Path(path_type=Path), metavar="Y.npz", help="Arrays out.")
@click.option(
    "--engine",
    type=click.Choice(["model", "amaranth", "icarus", "verilator"]),
    default="verilator",
    show_default=True,
    help="What computes: the fixed-point model, Amaranth's simulator, or the Verilog in Icarus or Verilator.",
)
@click.option(
    "--scale",
    type=float,
    metavar="S",
    help="Value of one LSB.  [default: the smallest power of two at which no float can saturate]",
)
def run(folder: Path, source: Path, target: Path, engine: str, scale: float | None) -> None:
    """Stream the arrays of X.npz through the engine in DIR and write what comes out to Y.npz.

    DIR is a folder that `generate` wrote.
    """
    design = load_design(folder)
    check_target(target)
    packed = pack_run(design, load_npz(source), scale)
    with progress(f"running {engine}") as tell:
        output = ENGINES[engine](folder).run(packed.stream, script=packed.script, progress=tell)
    result = unpack_run(packed, output)
    save_npz(target, result)
    errors = int(result["error"].sum())
    rate = f", {output.beats_per_clock:.2f} beats per clock" if output.beats_per_clock is not None else ""
    click.echo(f"{packed.stream.tokens} tokens through {engine}: {output.beats} beats{rate}; written to {target}")
    if errors:
        note(
            f"{errors} of {packed.stream.tokens} tokens came back unrotated (error 1): the position is at or past the "
            f"limit{' on some axis' if design.axes > 1 else ''}, or the slot is empty"
        )
    if packed.saturated:
        note(
            f"{packed.saturated} elements did not fit {design.data_width} bits at scale {packed.scale:g} and saturated"
        )
