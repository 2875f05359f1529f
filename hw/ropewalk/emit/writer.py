"""Writing the folder of an engine or another unit: whole or not at all."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import InputError

DESCRIPTION = "design.json"
PAGE = "README.md"

WRITTEN = (
    PAGE, "registers.h", "ropewalk.v", "rows.hex", "sequencer.v", "sine.hex", "slopes.hex", "slots.hex", "steps.hex",
    *(f"steps_{generator}.hex" for generator in range(16)),
)  # fmt: skip
"""What `generate` may write beside the description, and replaces when it is forced to."""

BUILD = "build"
"""The folder of the last build of what is in the folder; its report is :data:`REPORT`."""

REPORT = "report.json"

FAILED_LOG = "build-failed.log"
"""Beside that folder: what the tools printed in a build that failed, until one succeeds."""


def write_files(make: Callable[[], dict[str, str]], folder: Path, *, force: bool = False) -> None:
    """Write the files that ``make`` gives, by name, into ``folder``, whole or not at all.

    Raises
    ------
    InputError
        If ``folder`` is a file, holds something and ``force`` is not given, or cannot be written; ``make`` is not
        called where the folder must not be written.
    """
    check_target(folder, force=force)
    files = make()
    # A link to a folder stays one: its target is written.
    target = folder.resolve()
    made: list[Path] = []
    staging = None
    try:
        made = _make_parents(target)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=target.parent))
        inside = staging / "new"
        inside.mkdir()
        for name, text in files.items():
            (inside / name).write_text(text, encoding="utf-8", newline="\n")
        if target.is_dir() and any(target.iterdir()):
            _replace_files(inside, target)
        else:
            inside.rename(target)
        made = []
    except OSError as error:
        raise InputError(f"cannot write the folder {folder}: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for parent in reversed(made):
            parent.rmdir()


def _make_parents(folder: Path) -> list[Path]:
    """Make what is missing above ``folder``; what was made, outermost first."""
    missing = []
    for parent in folder.parents:
        if parent.exists():
            break
        missing.append(parent)
    made: list[Path] = []
    try:
        for parent in reversed(missing):
            parent.mkdir()
            made.append(parent)
    except OSError:
        for parent in reversed(made):
            parent.rmdir()
        raise
    return made


def _replace_files(inside: Path, folder: Path) -> None:
    """Put the files in ``inside`` in place of what an earlier ``generate`` wrote into ``folder``; others stay.

    The description goes first and comes last: a folder that is interrupted on the way has none, and no command takes
    it for an engine. A build of what was there goes too, unless nothing changes.
    """
    if _holds(folder, inside):
        return
    (folder / DESCRIPTION).unlink(missing_ok=True)
    (folder / FAILED_LOG).unlink(missing_ok=True)
    if (folder / BUILD / REPORT).exists():
        shutil.rmtree(folder / BUILD)
    for name in WRITTEN:
        if not (inside / name).exists():
            (folder / name).unlink(missing_ok=True)
    for file in sorted(inside.iterdir(), key=lambda path: path.name == DESCRIPTION):
        file.replace(folder / file.name)


def _holds(folder: Path, inside: Path) -> bool:
    """Whether what `generate` wrote into ``folder`` are the files in ``inside``, byte for byte."""
    there = [name for name in (DESCRIPTION, *WRITTEN) if (folder / name).exists()]
    names = [path.name for path in inside.iterdir()]
    return sorted(there) == sorted(names) and all(
        (folder / name).read_bytes() == (inside / name).read_bytes() for name in names
    )


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that must not be written, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder")
    if folder.is_dir() and not force and any(folder.iterdir()):
        raise InputError(
            f"the folder {folder} is not empty; give another one, or --force to replace what generate wrote there"
        )
