"""Writes ``docs/registers.md`` from ``registers.rdl``: ``python -m ropewalk_cli.register_page docs/registers.md``.

The page of another unit than the rotary engine is ``docs/registers-UNIT.md``, and ``UNIT`` a second argument.

PeakRDL's Markdown exporter does the work. It gives every element of a register array a chapter of its own, 64 for the
CRCs alone: what is said of the first stands for all (its entry states dimensions and stride), and the others are left
out here.
"""

import re
import sys
import tempfile
from pathlib import Path

from peakrdl_markdown.exporter import MarkdownExporter
from ropewalk.gateware.register_map import ROTARY, rdl_file, register_tree

TITLE = """# Registers

Made from `hw/ropewalk/gateware/{rdl}` by `python -m ropewalk_cli.register_page docs/registers.md`; a test compares
them. [ports.md](ports.md#axi4-lite-s_axil_) says how the port behaves and how slots are loaded. Of a register array
the first element is shown: the others follow at its stride.
"""

UNIT_TITLE = """# Registers of the unit `{unit}`

Made from `hw/ropewalk/gateware/{unit}/{rdl}` by
`python -m ropewalk_cli.register_page docs/registers-{unit}.md {unit}`; a test compares them.
[ports.md](ports.md#axi4-lite-s_axil_) says how the port behaves. Of a register array the first element is shown: the
others follow at its stride.
"""

_REST_OF_ARRAY = re.compile(r"\[[1-9]\d*\]")


def register_page(unit: str = ROTARY) -> str:
    """The text of ``docs/registers.md``, or that of the page of another unit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registers.md"
        MarkdownExporter().export(register_tree(unit), str(path))
        text = path.read_text(encoding="utf-8")
    text = text[text.index("## ") :]  # a comment comes before
    chapters = re.split(r"^(?=##+ )", text, flags=re.MULTILINE)
    kept = []
    register = None
    dropping = False
    for chapter in chapters:
        heading = chapter.split("\n", 1)[0]
        if not heading.startswith("####"):  # a field goes where its register goes
            dropping = heading == register  # all elements of an array have one heading
            register = heading
        if not dropping:
            kept.append(chapter)
    rows = [line for line in "".join(kept).split("\n") if not (line.startswith("|") and _REST_OF_ARRAY.search(line))]
    body = re.sub(r"</?p>", "", "\n".join(line.rstrip() for line in rows))
    title = TITLE if unit == ROTARY else UNIT_TITLE
    return title.format(unit=unit, rdl=rdl_file(unit).name) + "\n" + body.strip("\n") + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(register_page(*sys.argv[2:]), encoding="utf-8", newline="\n")
