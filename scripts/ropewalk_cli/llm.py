"""``ropewalk llm``: a real model whose positional encoding is computed by an engine."""

import json
from pathlib import Path
from typing import Any

import click
from ropewalk.errors import InputError
from ropewalk_llm.report import Request, show
from ropewalk_llm.runs import run
from ropewalk_llm.shift import positions_of
from ropewalk_llm.text import CONTEXT, SAMPLE

from .console import note, stopwatch

EPILOG = f"""\b
Examples:
  ropewalk llm gemma-3-270m --prompt "What is the capital of France?"
  ropewalk llm gemma-3-270m --text {SAMPLE} --engine model --data-width 8 --scale-per vector
  ropewalk llm gemma-3-270m --perplexity --output out
  ropewalk llm gemma-3-270m --sweep --output out
  ropewalk llm gemma-3-270m --shift 0,1000,100000,1000000
  ropewalk llm path/to/llama --prompt "Once upon a time" --tokens 50
"""


@click.command(epilog=EPILOG, short_help="Let an engine do the rotations of a real language model.")
@click.argument("model", metavar="MODEL")
@click.option("--prompt", metavar="TEXT", help="Answer this text, greedily, by the float model and with the engine.")
@click.option(
    "--tokens", type=click.IntRange(1, 4096), default=20, show_default=True, metavar="N", help="Tokens to generate."
)
@click.option(
    "--text",
    metavar="FILE",
    help=f"Measure perplexity and divergence on this text; {SAMPLE!r} is one that comes along.",
)
@click.option("--perplexity", is_flag=True, help="A table and a picture of perplexity: widths 16, 12, 8, all scales.")
@click.option("--sweep", is_flag=True, help="A table and a picture of divergence against area, over all widths.")
@click.option(
    "--shift",
    metavar="N,...",
    callback=lambda _context, _option, value: None if value is None else positions_of(value),
    help="Attention scores at positions shifted by each N, of the engine and of float32 software, against the exact.",
)
@click.option(
    "--engine",
    type=click.Choice(["float", "model", "verilator"]),
    help="The model's own rotation, the fixed-point model, or the Verilog in Verilator, compared with the model bit "
    "for bit.  [default: verilator; model for --perplexity, --sweep and --shift]",
)
@click.option("--data-width", type=click.IntRange(4, 32), default=16, show_default=True, metavar="W")
@click.option("--coefficient-width", type=click.IntRange(8, 24), default=18, show_default=True, metavar="C")
@click.option("--phase-bits", type=click.IntRange(16, 48), default=48, show_default=True, metavar="P")
@click.option("--rounding", type=click.Choice(["half-up", "floor"]), default="half-up", show_default=True)
@click.option(
    "--fraction-bits", type=click.IntRange(0, 24), default=8, show_default=True, metavar="F",
    help="Learned positions and ALiBi: an element's LSB stands for 2^-F.",
)  # fmt: skip
@click.option(
    "--scale-per",
    type=click.Choice(["tensor", "head", "vector"]),
    default="tensor",
    show_default=True,
    help="What shares a power of two as the value of its LSB: all of q (or k) of a call, each head, or each head of "
    "each token.",
)
@click.option(
    "--design",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="An engine that generate wrote, whose widths count.  [default: made and kept in the cache]",
)
@click.option(
    "--context",
    "window",
    type=click.IntRange(2, 1 << 20),
    default=CONTEXT,
    show_default=True,
    metavar="N",
    help="Tokens of a window of the text.",
)
@click.option("--text-tokens", type=click.IntRange(2), metavar="N", help="Take the first N tokens of the text only.")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where pictures and tables of --perplexity and --sweep go.  [default: ropewalk-llm]",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON document.")
@click.pass_context
def llm(context: click.Context, model: str, as_json: bool, folder: Path | None, **options: Any) -> None:
    """Load a language model on the CPU, let an engine do every rotation of every layer, and tell what that changes.

    MODEL is a folder of a Hugging Face model (config.json, safetensors, tokenizer), a GGUF file, or the name of a model
    that a package brings. Gemma, Llama, Mistral and Qwen models; BERT encoders and BLOOM through their units. Nothing
    is downloaded, no code of a model runs, no pickle is read.
    """
    chosen = {name for name in options if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    if not {"prompt", "text", "perplexity", "sweep", "shift"} & chosen:
        raise InputError(
            "say what to do with the model: --prompt TEXT, --text FILE, --perplexity, --sweep or --shift N"
        )
    if options["prompt"] is not None and not options["prompt"].strip():
        raise InputError("the prompt is empty")
    widths = {"data_width", "coefficient_width", "phase_bits", "rounding", "fraction_bits"} & chosen
    if folder is not None and widths:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(widths))
        raise InputError(f"{named} cannot be given with --design: the engine in {folder} has its own")
    request = Request(model=model, folder=folder, chosen=frozenset(chosen), **options)
    with stopwatch("llm") as step:
        found = run(request, step)
    for sentence in found.notes:
        note(sentence)
    if as_json:
        click.echo(json.dumps(found.document, indent=1))
    else:
        show(found.document)
    if found.document.get("differing_bits"):
        context.exit(1)
