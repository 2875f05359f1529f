"""The results that are kept with the project, ``docs/area.json``, and the pages that are made of them."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from ropewalk.errors import InputError

from .chart import draw
from .measure import Area, area_from_json, area_to_json
from .rivals import rivals
from .rows import ROWS
from .tables import opening_part, whole_part

ROOT = Path(__file__).parents[3]
BEGIN, END = "<!-- {} begins: scripts/{} --save writes it -->\n", "<!-- {} ends -->\n"


def results_path(root: Path = ROOT) -> Path:
    """Where the results are."""
    return root / "docs" / "area.json"


def load(root: Path = ROOT) -> list[Area]:
    """The kept results, in the order of the rows; those of rows that are no more are left out."""
    path = results_path(root)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    return _in_order(area_from_json(values) for values in document["rows"])


def merged(kept: Iterable[Area], new: Iterable[Area]) -> list[Area]:
    """``new`` results in place of those ``kept`` of the same rows."""
    return _in_order([*kept, *new])


def _in_order(areas: Iterable[Area]) -> list[Area]:
    by_key = {area.key: area for area in areas}
    return [by_key[row.key] for row in ROWS if row.key in by_key]


def results_text(areas: Iterable[Area]) -> str:
    """``docs/area.json``."""
    return json.dumps({"rows": [area_to_json(area) for area in areas]}, indent=1) + "\n"


def pages(areas: list[Area], root: Path = ROOT) -> dict[Path, str]:
    """The pages with their tables anew, by path."""
    others = rivals()
    parts = {
        root / "README.md": ("area", opening_part(areas, others)),
        root / "docs" / "area.md": ("area", whole_part(areas, others)),
    }
    return {path: replaced(path.read_text(encoding="utf-8"), name, text) for path, (name, text) in parts.items()}


def replaced(page: str, name: str, text: str, *, script: str = "bench_area") -> str:
    """``page`` with ``text`` between the markers ``name``, of which the first names the script that writes it."""
    begin, end = BEGIN.format(name, script), END.format(name)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise InputError(f"the page must have one line {begin.strip()!r} and one {end.strip()!r}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}"


def digest(areas: Iterable[Area]) -> str:
    """The SHA-256 of the results and the rivals, which the chart states."""
    return hashlib.sha256((results_text(areas) + repr(rivals())).encode()).hexdigest()


def save(areas: list[Area], root: Path = ROOT) -> list[Path]:
    """Write results, pages and chart; gives their paths."""
    if not (root / "docs" / "area.md").exists():
        raise InputError(f"{root} is no checkout of the project: it has no docs/area.md to write")
    made = pages(areas, root)
    results_path(root).write_text(results_text(areas), encoding="utf-8")
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    chart = root / "docs" / "area.svg"
    draw(areas, rivals(), chart, note=digest(areas))
    return [results_path(root), *made, chart]
