"""The boards' benchmark: `ropewalk generate` and `ropewalk build --board` for each, and a table of what came of it.

Each board gets an engine of a published model with as many lanes as it has room for. Prints Markdown. What was built
before in the same folder is not built again unless --again says so. Where the placer's first seed misses the clock the
next ones are tried; times are those of the build that did not.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from ropewalk.boards.registry import BOARDS
from ropewalk.emit.writer import BUILD, REPORT
from ropewalk.errors import InputError

from .area.store import ROOT, replaced
from .console import note
from .main import DONE, call

SCRIPT = "bench_boards"
GEMMA = ["gemma-3-270m"]
SMALL = ["--lanes", "1", "--slots", "1", "--no-registers", "--input-pairing", "interleaved",
         "--output-pairing", "interleaved"]  # fmt: skip
DESIGNS = {
    "tang-nano-9k": [*GEMMA, "--only", "full_attention", *SMALL],
    "tang-primer-20k": [*GEMMA, "--lanes", "1"],
    "icebreaker": ["llama-3.1-8b", *SMALL, "--clocks-per-pair", "8"],
}
"""What `generate` is asked for, beside the family of the part, where it is not the engine of four lanes."""

HEADINGS = ("board", "part", "engine", "COMB", "LUT", "FF", "DSP", "block RAM", "MHz asked", "MHz", "seed", "seconds",
            "processor seconds", "bitstream bytes")  # fmt: skip
NUMBERS = 3
"""The first of the columns that are numbers."""

KEPT = ("part", "comb", "lut", "ff", "dsp", "block_ram", "target_mhz", "clock_mhz", "timing_met", "critical_path",
        "seed", "notes", "tools")  # fmt: skip
"""What of a report is kept with the project."""


def options_of(board: str) -> list[str]:
    """What `generate` is asked for."""
    return [*DESIGNS.get(board, GEMMA), "--family", BOARDS[board].device.family.name]


def measure(board: str, folder: Path, *, again: bool, seeds: int) -> dict[str, Any]:
    """What is kept of the report of the build for ``board``, with times and sizes; or with an ``error``."""
    kept = folder / f"{board}.json"
    options = options_of(board)
    if kept.exists() and not again:
        before = json.loads(kept.read_text(encoding="utf-8"))
        if before["options"] == options:
            return before
    design = folder / board
    made: dict[str, Any] = {"options": options}
    for seed in range(1, seeds + 1):
        begun, spent = time.monotonic(), _cpu_seconds()
        if call(["generate", *options, "--output", str(design), "--force"]) != DONE:
            raise click.ClickException(f"no engine could be generated for {board}")
        if call(["build", str(design), "--board", board, "--seed", str(seed)]) == DONE:
            report = json.loads((design / BUILD / REPORT).read_text(encoding="utf-8"))
            made |= {name: report[name] for name in KEPT}
            made["seconds"] = round(time.monotonic() - begun)
            made["cpu_seconds"] = round(_cpu_seconds() - spent)
            written = sorted((design / BUILD).glob(f"{board}.*"))
            made["bitstreams"] = {path.name: path.stat().st_size for path in written if path.name != BOARDS[board].pins}
            break
    else:
        made["error"] = "it was not built: see above"
    kept.write_text(_text(made), encoding="utf-8")
    return made


def row(board: str, made: Mapping[str, Any]) -> list[str]:
    """A row of the table."""
    engine = " ".join(made["options"])
    if "error" in made:
        return [board, BOARDS[board].part, engine, made["error"], *[""] * (len(HEADINGS) - NUMBERS - 1)]
    clock = made["clock_mhz"]
    return [
        board, made["part"], engine, f"{made['comb']:,}", f"{made['lut']:,}", f"{made['ff']:,}", f"{made['dsp']:g}",
        f"{made['block_ram']:g}", f"{made['target_mhz']:g}", f"{clock:.1f}" if clock is not None else "-",
        str(made["seed"]) if clock is not None else "-", str(made["seconds"]), str(made["cpu_seconds"]),
        ", ".join(f"{size:,} ({name.rpartition('.')[2]})" for name, size in made["bitstreams"].items()) or "-",
    ]  # fmt: skip


def table(boards: Mapping[str, Mapping[str, Any]]) -> str:
    """The table as Markdown, and behind it what a reader must know about its figures."""
    marks = [":---" if index < NUMBERS else "---:" for index in range(len(HEADINGS))]
    lines = [HEADINGS, marks, *(row(board, made) for board, made in boards.items())]
    notes: dict[str, list[str]] = {}
    for board, made in boards.items():
        for remark in made.get("notes", ()):
            notes.setdefault(remark, []).append(board)
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    if notes:
        text += "\n\n" + "\n".join(f"- {', '.join(names)}: {remark}." for remark, names in notes.items())
    return text


def stored_path(root: Path = ROOT) -> Path:
    """Where the results are that are kept with the project."""
    return root / "docs" / "boards.json"


def stored(root: Path = ROOT) -> dict[str, Any]:
    """Those results by board, in the order of the boards."""
    path = stored_path(root)
    try:
        return _in_order(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def page(boards: Mapping[str, Mapping[str, Any]], root: Path = ROOT) -> tuple[Path, str]:
    """docs/build.md with the table anew."""
    path = root / "docs" / "build.md"
    return path, replaced(path.read_text(encoding="utf-8"), "boards", table(boards), script=SCRIPT)


def save(boards: Mapping[str, Any], root: Path = ROOT) -> None:
    """Keep ``boards`` in place of the results for the same ones, and write the table."""
    every = _in_order({**stored(root), **boards})
    path, text = page(every, root)
    stored_path(root).write_text(_text(every), encoding="utf-8")
    path.write_text(text, encoding="utf-8")


def _in_order(boards: Mapping[str, Any]) -> dict[str, Any]:
    return {name: boards[name] for name in BOARDS if name in boards}


def _text(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _cpu_seconds() -> float:
    """Of this process and of those that it has waited for: what another load on the machine changes little."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _measured(names: Iterable[str], folder: Path, *, again: bool, seeds: int) -> dict[str, Any]:
    unknown = [name for name in names if name not in BOARDS]
    if unknown:
        raise click.UsageError(f"there is no board {unknown[0]}; there are {', '.join(BOARDS)}")
    folder.mkdir(parents=True, exist_ok=True)
    boards = {}
    for name in names:
        boards[name] = made = measure(name, folder, again=again, seeds=seeds)
        note(f"{name}: {made['error'] if 'error' in made else str(made['seconds']) + ' s'}")
    return boards


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
@click.option(
    "--seeds", default=3, show_default=True, type=click.IntRange(1, 100), help="How many seeds are tried at most."
)
@click.option("--stored", "only_stored", is_flag=True, help="Build nothing: show what docs/boards.json holds.")
@click.option("--save", "keep", is_flag=True, help="Write docs/boards.json, and the table of docs/build.md from it.")
def main(boards: tuple[str, ...], folder: Path, again: bool, seeds: int, only_stored: bool, keep: bool) -> None:
    """Build for the boards, or all of them, and print the table."""
    try:
        made = stored() if only_stored else _measured(boards or tuple(BOARDS), folder, again=again, seeds=seeds)
        if only_stored and boards:
            made = {name: made[name] for name in made if name in boards}
        if keep:
            save({} if only_stored else made)
    except InputError as error:
        raise click.ClickException(str(error)) from None
    click.echo(table(made))
    if any("error" in one for one in made.values()):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
