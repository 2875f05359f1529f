"""The files of an ALiBi unit: its description, its Verilog, its slope table, and the header of its registers."""

import json

from ..designs.alibi import AlibiDesign
from ..designs.alibi_json import alibi_design_to_json, derived_facts
from ..gateware.alibi.contents import alibi_contents
from ..gateware.alibi.registers import UNIT
from ..gateware.alibi.top import AlibiTop
from .alibi_page import alibi_page
from .registers import HEADER, register_header
from .verilog import emit_top, rom_files
from .writer import DESCRIPTION, PAGE


def alibi_files(design: AlibiDesign) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine."""
    top = AlibiTop(design)
    files = emit_top(top, alibi_contents(design), family=design.family)
    description = alibi_design_to_json(design, derived_facts(design, latency=top.latency))
    files[DESCRIPTION] = json.dumps(description, indent=1) + "\n"
    if design.registers:
        files[HEADER] = register_header(UNIT)
    files[PAGE] = alibi_page(design, latency=top.latency, files=[name for name in files if name != DESCRIPTION])
    return files


def alibi_memory_files(design: AlibiDesign) -> dict[str, str]:
    """What the memory files of ``design`` must hold, by file name."""
    return rom_files(alibi_contents(design), design.family)
