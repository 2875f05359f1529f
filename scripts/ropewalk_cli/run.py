"""``ropewalk run``: a user's arrays through a generated unit."""

from pathlib import Path

import click
from ropewalk.design import Design
from ropewalk.emit.folder import load_design
from ropewalk.errors import InputError
from ropewalk.strict_json import show
from ropewalk_sim.engines.waveform import CLOCKS, Waveform
from ropewalk_sim.npz import check_target, load_npz, save_npz

from .console import note
from .schemes import scheme_of_design
from .schemes.rotary import RotaryScheme

EPILOG = """\b
X.npz holds for a rotary engine:
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
X.npz for learned tables and sinusoids; Y.npz gets x, error [tokens] and scale:
  x         [tokens, dimension]   integers (raw words) or floats
  position  [tokens]              integers from 0 to 2^24 - 1
  masked    [tokens]              optional, where the model counts the mask: 1 is a masked token
\b
X.npz for ALiBi; Y.npz gets score, error [heads, queries] and scale:
  score           [heads, queries, keys]   integers (raw words) or floats
  query_position  [queries]                integers from 0 to 2^24 - 1
  key_start       scalar or [queries]      position of the first key; below 0 there is padding
  causal          flag or [queries]        optional: keys after the query become the most negative score
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
    help="Value of one LSB.  [default: rotary, the smallest power of two at which no float can saturate; the others, "
    "2^-F, and no other]",
)
@click.option(
    "--waveform",
    "wave",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write clocks of the run into FILE, a .vcd or .fst: of rotary engines, by --engine verilator.",
)
@click.option(
    "--waveform-clocks",
    "window",
    metavar="FIRST:COUNT",
    help=f"Which clocks FILE gets, counted from 0 after reset.  [default: 0:{CLOCKS}]",
)
def run(
    folder: Path, source: Path, target: Path, engine: str, scale: float | None, wave: Path | None, window: str | None
) -> None:
    """Stream the arrays of X.npz through the engine in DIR and write what comes out to Y.npz.

    DIR is a folder that `generate` wrote.
    """
    design = load_design(folder)
    check_target(target)
    if (waveform := _waveform(wave, window)) is None:
        ran = scheme_of_design(design).run(design, folder, load_npz(source), engine=engine, scale=scale)
    elif isinstance(design, Design) and engine == "verilator":
        arrays = load_npz(source)
        ran = RotaryScheme().run(design, folder, arrays, engine=engine, scale=scale, waveform=waveform)
    else:
        raise InputError("--waveform is for rotary engines, run by --engine verilator")
    save_npz(target, ran.result)
    click.echo(f"{ran.sentence}; written to {target}")
    if waveform is not None:
        click.echo(f"clocks {waveform.window}, as far as the run went, written to {waveform.path}")
    for sentence in ran.notes:
        note(sentence)


def _waveform(path: Path | None, window: str | None) -> Waveform | None:
    """The waveform that the options ask for."""
    if path is None:
        if window is not None:
            raise InputError("--waveform-clocks needs --waveform FILE")
        return None
    if window is None:
        return Waveform(path=path)
    first, _, count = window.partition(":")
    # Not int(): it takes signs, spaces, underscores and the digits of other scripts.
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in (first, count)):
        raise InputError(f"--waveform-clocks must be FIRST:COUNT, two numbers, not {show(window)}")
    return Waveform(path=path, first_clock=int(first), clocks=int(count))
