"""``ropewalk generate``: from a configuration to a folder with a unit's Verilog, its tables and its description."""

from pathlib import Path
from typing import Any

import click
from ropewalk.emit.folder import write_design_folder

from .console import note
from .generate_options import generate_options, refuse_others
from .model_options import model_options, read
from .schemes import scheme_for
from .schemes.scheme import Request

EPILOG = """\b
Examples:
  ropewalk generate gemma-3-270m -o engine
  ropewalk generate path/to/config.json -o small --lanes 1 --data-width 12
  ropewalk generate path/to/config.json -o rom --source table --positions 512
  ropewalk generate llama-3.1-8b -o engine --variant yarn=qwen2.5-7b-yarn --variant glm=glm-4.5
  ropewalk generate gemma-4 -o local --only sliding_attention
  ropewalk generate bloom-176b -o bias --lanes 8
  ropewalk generate path/to/bert -o positions --table-width 12
  ropewalk generate whisper-tiny-encoder -o sines --lanes 8 --generators 4
"""


@click.command(epilog=EPILOG, short_help="Write the Verilog of a model's positional encoding into a folder.")
@model_options
@click.option(
    "--output",
    "-o",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write. It must not exist, or be empty.",
)
@generate_options
@click.option(
    "--force",
    is_flag=True,
    help="Write into DIR although it is not empty: replaces what generate wrote there, leaves other files alone.",
)
@click.pass_context
def generate(
    context: click.Context,
    model: str,
    sequence_length: int | None,
    pairing: str | None,
    follow: str,
    verbose: bool,
    folder: Path,
    force: bool,
    **options: Any,
) -> None:
    """Write the unit for MODEL's positional encoding into the folder DIR: a rotary engine, an ALiBi unit, a
    learned-table adder or a sinusoidal adder.

    MODEL is a config.json as Hugging Face publishes it, a GGUF file, a folder that holds one of them, or the name of
    a preset (see `models`). DIR gets the Verilog, the table files that it reads, design.json (every parameter; `run`
    and `verify` read it) and a README of the ports. The same input gives the same bytes on any machine.

    An option that ends with names in brackets is one of those schemes only, and refused for others.
    """
    found = read(model, sequence_length, pairing, follow, verbose)
    refuse_others(context, found)
    request = Request(model=model, geometry=found, sequence_length=sequence_length, follow=follow, verbose=verbose)
    made = scheme_for(found).make(request, options)
    write_design_folder(made.design, folder, words=made.words, force=force)
    for line in made.summary:
        click.echo(line)
    click.echo(f"  {'family':<18}{made.design.family}")
    click.echo(f"written to {folder}:")
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        click.echo(f"  {file.relative_to(folder).as_posix():<24}{file.stat().st_size:>10,} bytes")
    for sentence in made.notes:
        note(sentence)
