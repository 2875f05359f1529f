"""``scripts/fuzz``: inputs made to hurt. Not part of the tests; docs/testing.md, "Fuzzing", says what it is for."""

import sys
from pathlib import Path

import click

from .generated import fuzz_generated


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Read inputs made to hurt: each must come out as a sane geometry or as one sentence.

    Exit code 1 means that one did not; its file is kept, and named.
    """


@main.command(short_help="Damage from a seed to all presets and GGUF files.")
@click.option("--examples", default=200_000, show_default=True, help="Configurations and GGUF files.")
@click.option("--others", type=int, help="Geometry documents, design.json, npz and weights.  [default: a twentieth]")
@click.option("--seed", default=1, show_default=True, help="Another seed, other examples.")
@click.option("--first", default=0, show_default=True, help="The number of the first example, to see one again.")
@click.option("--workers", default=1, show_default=True, help="Processes.")
@click.option("--keep", type=click.Path(path_type=Path), default=Path("fuzz-found"), show_default=True,
              help="Where files of defects go.")  # fmt: skip
def generated(examples: int, others: int | None, seed: int, first: int, workers: int, keep: Path) -> None:
    """Structured damage to all presets and to GGUF files of all architectures, from a seed."""
    others = examples // 20 if others is None else others
    sys.exit(fuzz_generated(examples, others, seed, first, workers, keep))


@main.command(short_help="Bytes that reach new branches of the readers.")
@click.option("--minutes", default=10.0, show_default=True, help="How long, for all targets together.")
@click.option(
    "--target", type=click.Choice(["both", "json", "gguf"]), default="both", show_default=True, help="Of what."
)
@click.option("--seed", default=1, show_default=True, help="Of libFuzzer. (It is not exact: its speed decides too.)")
@click.option("--keep", type=click.Path(path_type=Path), default=Path("fuzz-found"), show_default=True,
              help="Where files of defects go.")  # fmt: skip
def guided(minutes: float, target: str, seed: int, keep: Path) -> None:
    """Bytes that reach new branches of the readers, found by Atheris (libFuzzer); needs the extra `fuzz`."""
    from .guided import TARGETS, fuzz_guided

    sys.exit(fuzz_guided(minutes, seed, keep, TARGETS if target == "both" else (target,)))


if __name__ == "__main__":
    main(prog_name="scripts/fuzz")
