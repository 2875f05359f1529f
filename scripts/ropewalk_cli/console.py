"""What the commands print besides their result: notes, warnings and progress, all of it on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table


def one_line(text: object) -> str:
    """``text`` as one printable line, whatever was in it."""
    words = " ".join(str(text).split())
    return "".join(character if character.isprintable() else "?" for character in words)


def note(text: str) -> None:
    """Print a note to the user on stderr."""
    print(f"note: {one_line(text)}", file=sys.stderr)


def complain(text: str) -> None:
    """Print on stderr the one sentence that says why the command failed."""
    print(f"ropewalk: {one_line(text)}", file=sys.stderr)


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar named ``title`` on stderr, where that is a terminal; ``(done, of)`` given to the callback moves it."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def stopwatch(title: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr each step of a long work as it begins, with the seconds since the start, which run on a terminal.

    The callback is given the step's name.
    """
    console = Console(stderr=True, highlight=False)
    started = time.monotonic()
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as running:
        task = running.add_task(title, total=None)

        def step(name: str) -> None:
            running.update(task, description=f"{title}: {name}")
            console.print(f"{title}: {time.monotonic() - started:4.0f} s: {name}", soft_wrap=True)

        yield step


def table(*headings: str, left: tuple[str, ...] = ()) -> Table:
    """An empty table; columns align right but for those in ``left``."""
    made = Table(box=box.SIMPLE_HEAD)
    for heading in headings:
        made.add_column(heading, justify="left" if heading in left else "right", no_wrap=True)
    return made


def show_table(filled: Table) -> None:
    """Print a table on stdout. Where that is no terminal it is as wide as it needs to be."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(filled)
