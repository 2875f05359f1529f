"""MODEL and the options that say how it is read: shared by every command that takes a model."""

from collections.abc import Callable

import click
from ropewalk.geometry import Geometry
from ropewalk.models import read_model

from .console import note


def model_options(command: Callable) -> Callable:
    """Add the argument MODEL and its options to a click command."""
    for option in reversed(
        (
            click.argument("model", metavar="MODEL"),
            click.option(
                "--sequence-length",
                type=click.IntRange(1, 1 << 24),
                metavar="N",
                help="Length at which a dynamic scaling is frozen.  [default: the original length]",
            ),
            click.option(
                "--pairing",
                type=click.Choice(["half", "interleaved"]),
                help="Which elements of a head make a pair: i and i + rotary_dim/2, or 2i and 2i + 1."
                "  [default: the model's own]",
            ),
            click.option(
                "--follow",
                type=click.Choice(["hf", "llama.cpp", "vllm"]),
                default="hf",
                show_default=True,
                help="Whose reading of the configuration counts where the stacks disagree.",
            ),
            click.option("--verbose", "-v", is_flag=True, help="Also list the keys of the configuration not used."),
        )
    ):
        command = option(command)
    return command


def read(
    model: str, sequence_length: int | None, pairing: str | None, follow: str, verbose: bool, label: str = ""
) -> Geometry:
    """The geometry of MODEL; its notes go to stderr once all of it was understood, each after ``label``."""
    ignored: list[str] = []
    found = read_model(model, sequence_length=sequence_length, pairing=pairing, follow=follow, ignored=ignored.append)
    for text in found.notes:
        note(label + text)
    if verbose:
        note(f"keys of the configuration that do not bear on the geometry: {', '.join(sorted(ignored)) or 'none'}")
    return found
