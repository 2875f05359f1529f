"""The boards' benchmark: `ropewalk generate` and `ropewalk build --board` for each, and a table of what came of it.

Each board gets the engine of Gemma 3 270M with as many lanes as it has room for. Prints Markdown. What was built before
in the same folder is not built again unless --again says so.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

import click
from ropewalk.boards.registry import BOARDS
from ropewalk.emit.writer import BUILD, REPORT

from .console import note
from .main import DONE, call

GEMMA = ["gemma-3-270m"]
DESIGNS = {
    "tang-nano-9k": [*GEMMA, "--lanes", "1", "--only", "full_attention", "--slots", "1", "--no-registers",
                     "--input-pairing", "interleaved", "--output-pairing", "interleaved"],
    "icebreaker": [*GEMMA, "--lanes", "1", "--only", "full_attention", "--slots", "1", "--no-registers",
                   "--input-pairing", "interleaved", "--output-pairing", "interleaved"],
}  # fmt: skip
"""What `generate` is asked for, beside the family of the part, where it is not the engine of four lanes."""

HEADINGS = ("board", "engine", "comb", "ff", "dsp", "block RAM", "MHz", "asked", "processor seconds")


def options_of(board: str) -> list[str]:
    """What `generate` is asked for."""
    return [*DESIGNS.get(board, GEMMA), "--family", BOARDS[board].device.family.name]


def measure(board: str, folder: Path, *, again: bool) -> dict[str, Any]:
    """The report of the build for ``board``, with ``options`` and ``cpu_seconds``, or with an ``error``."""
    kept = folder / f"{board}.json"
    if kept.exists() and not again:
        return json.loads(kept.read_text(encoding="utf-8"))
    before = _cpu_seconds()
    options = options_of(board)
    design = str(folder / board)
    made: dict[str, Any] = {"options": options}
    if call(["generate", *options, "--output", design, "--force"]) != DONE:
        raise click.ClickException(f"no engine could be generated for {board}")
    if call(["build", design, "--board", board]) == DONE:
        made |= json.loads((folder / board / BUILD / REPORT).read_text(encoding="utf-8"))
    else:
        made["error"] = "it was not built: see above"
    made["cpu_seconds"] = round(_cpu_seconds() - before)
    kept.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return made


def row(board: str, made: dict[str, Any]) -> list[str]:
    """A row of the table."""
    engine = " ".join(made["options"])
    if "error" in made:
        return [board, engine, made["error"], *[""] * (len(HEADINGS) - 3)]
    clock, target = made["clock_mhz"], made["target_mhz"]
    return [
        board, engine, f"{made['comb']:,}", f"{made['ff']:,}", f"{made['dsp']:g}", f"{made['block_ram']:g}",
        f"{clock:.1f}" if clock is not None else "-", f"{target:g}" if clock is not None else "-",
        str(made["cpu_seconds"]),
    ]  # fmt: skip


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for: what another load on the machine does not change."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


@click.command(help=__doc__)
@click.argument("boards", nargs=-1, metavar="[BOARD]...")
@click.option(
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("ropewalk-boards"),
    show_default=True,
    help="The folder with the designs and their builds.",
)
@click.option("--again", is_flag=True, help="Build what was built before, too.")
def main(boards: tuple[str, ...], folder: Path, again: bool) -> None:
    """Build for the boards, or all of them, and print the table."""
    unknown = [name for name in boards if name not in BOARDS]
    if unknown:
        raise click.UsageError(f"there is no board {unknown[0]}; there are {', '.join(BOARDS)}")
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in boards or BOARDS:
        begun = time.monotonic()
        with_output = measure(name, folder, again=again)
        note(f"{name}: {time.monotonic() - begun:.0f} s")
        rows.append(row(name, with_output))
    for cells in (HEADINGS, ["---"] * len(HEADINGS), *rows):
        click.echo(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
