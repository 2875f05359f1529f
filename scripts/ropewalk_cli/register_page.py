"""Writes ``docs/registers.md`` from ``registers.rdl``: ``python -m ropewalk_cli.register_page docs/registers.md``.

PeakRDL's Markdown exporter does the work. It gives every element of a register array a chapter of its own, 64 for the
CRCs alone: what is said of the first stands for all (its entry states dimensions and stride), and the others are left
out here.
"""

import re
import sys
import tempfile
from pathlib import Path

from peakrdl_markdown.exporter import MarkdownExporter
from ropewalk.gateware.register_map import RDL, register_tree

TITLE = """# Registers

Made from `hw/ropewalk/gateware/{rdl}` by `python -m ropewalk_cli.register_page docs/registers.md`; a test compares
them. [ports.md](ports.md#axi4-lite-s_axil_) says how the port behaves and how slots are loaded. Of a register array
the first element is shown: the others follow at its stride.
"""

_REST_OF_ARRAY = re.compile(r"\[[1-9]\d*\]")


def register_page() -> str:
    """The text of ``docs/registers.md``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "registers.md"
        MarkdownExporter().export(register_tree(), str(path))
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
    return TITLE.format(rdl=RDL.name) + "\n" + body.strip("\n") + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(register_page(), encoding="utf-8", newline="\n")
