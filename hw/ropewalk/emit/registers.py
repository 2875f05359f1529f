"""The C header of the registers, for the program that drives an engine."""

import tempfile
from functools import lru_cache
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter

from ..gateware.register_map import register_tree

HEADER = "registers.h"


@lru_cache(maxsize=1)
def register_header() -> str:
    """``registers.h``: the registers as a C struct ``ropewalk_t``, and masks, places and widths of their fields.

    The same for every design: a design lacks registers of slots and axes that it does not have, and ``features`` says
    how many it has.
    """
    with tempfile.TemporaryDirectory() as folder:
        # The file's name becomes the include guard; nothing else of the path, and no date, gets into the text.
        path = Path(folder) / HEADER
        CHeaderExporter().export(register_tree(), str(path))
        return path.read_text(encoding="utf-8")
