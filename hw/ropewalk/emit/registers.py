"""The C header of the registers, for the program that drives an engine or another unit."""

import tempfile
from functools import lru_cache
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter

from ..gateware.register_map import ROTARY, register_tree

HEADER = "registers.h"


@lru_cache
def register_header(unit: str = ROTARY) -> str:
    """``registers.h``: the registers of ``unit`` as a C struct, and masks, places and widths of their fields.

    The struct is named after the address map: ``ropewalk_t`` for the rotary engine. The same for every design: a
    design lacks registers of slots and axes that it does not have, and ``features`` says
    how many it has.
    """
    with tempfile.TemporaryDirectory() as folder:
        # The file's name becomes the include guard; nothing else of the path, and no date, gets into the text.
        path = Path(folder) / HEADER
        CHeaderExporter().export(register_tree(unit), str(path))
        return path.read_text(encoding="utf-8")
