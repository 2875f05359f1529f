"""``ropewalk compare``: whether two models or engines have the same geometry, and where not, what differs."""

import json
from dataclasses import asdict
from typing import Any

import click
from ropewalk.comparison import compare as differences_of
from ropewalk.comparison import remarks
from ropewalk.errors import InputError

from .subjects import described, read_subject

SAME, DIFFERENT = 0, 1

EPILOG = """\b
Examples:
  ropewalk compare worker-1/config.json worker-2/config.json
  ropewalk compare llama-3.1-8b engine               a model and the folder that generate wrote
  ropewalk compare gpt-oss-20b gpt-oss-20b --follow hf --follow llama.cpp
"""


@click.command(epilog=EPILOG, short_help="Say whether two models or engines have the same geometry, and what differs.")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option(
    "--sequence-length",
    type=click.IntRange(1, 1 << 24),
    multiple=True,
    metavar="N",
    help="Length at which a dynamic scaling is frozen; given twice, the second is for B.",
)
@click.option(
    "--pairing",
    type=click.Choice(["half", "interleaved"]),
    multiple=True,
    help="Which elements of a head make a pair, instead of the model's own; given twice, the second is for B.",
)
@click.option(
    "--follow",
    type=click.Choice(["hf", "llama.cpp", "vllm"]),
    multiple=True,
    help="Whose reading of the configuration counts; given twice, the second is for B.  [default: hf]",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of sentences.")
def compare(
    a: str,
    b: str,
    sequence_length: tuple[int, ...],
    pairing: tuple[str, ...],
    follow: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say whether A and B have the same geometry, and where not, what differs.

    A and B are each a MODEL (a config.json, a GGUF file, a folder with one of them, a preset) or a DIR that `generate`
    wrote. The exit code is 0 where they have the same geometry (the same digest), and 1 where they differ. Differences
    of angles are computed exactly, over all positions that both sides rotate.
    """
    lengths, pairings = _both("--sequence-length", sequence_length), _both("--pairing", pairing)
    follows = _both("--follow", follow)
    one = read_subject(a, lengths[0], pairings[0], follows[0] or "hf", label="A: ")
    other = read_subject(b, lengths[1], pairings[1], follows[1] or "hf", label="B: ")
    found, beside = differences_of(one, other), remarks(one, other)
    if as_json:
        document: dict[str, Any] = {
            "same": not found,
            "a": described(a, one),
            "b": described(b, other),
            "differences": [
                {key: value for key, value in asdict(difference).items() if key != "more"} | difference.more
                for difference in found
            ],
            "remarks": beside,
        }
        click.echo(json.dumps(document, indent=1, allow_nan=False))
    else:
        report(a, b, described(a, one), described(b, other), [each.sentence for each in found], beside)
    return DIFFERENT if found else SAME


def report(
    a: str, b: str, one: dict[str, Any], other: dict[str, Any], differences: list[str], beside: list[str]
) -> None:
    """Print the result for a person."""
    click.echo(f"A: {a} ({one['model_type']}, {one['scheme']}), digest {one['digest'][:16]}...")
    click.echo(f"B: {b} ({other['model_type']}, {other['scheme']}), digest {other['digest'][:16]}...")
    if differences:
        click.echo(f"Their geometry differs{'' if len(differences) == 1 else f', in {len(differences)} ways'}:")
        for sentence in differences:
            click.echo(f"  {sentence}.")
    else:
        click.echo("They have the same geometry.")
    if beside:
        click.echo("Not part of the geometry:")
        for sentence in beside:
            click.echo(f"  {sentence}.")


def _both(option: str, given: tuple[Any, ...]) -> tuple[Any, Any]:
    """The values for A and for B."""
    if len(given) > 2:
        raise InputError(f"{option} is given {len(given)} times; the first is for A, the second for B")
    if not given:
        return None, None
    return given[0], given[-1]
