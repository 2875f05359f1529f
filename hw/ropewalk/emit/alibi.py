"""The files of an ALiBi unit: its Verilog, its slope table, and the header of its registers."""

from ..designs.alibi import AlibiDesign
from ..gateware.alibi.contents import alibi_contents
from ..gateware.alibi.registers import UNIT
from ..gateware.alibi.top import AlibiTop
from .registers import HEADER, register_header
from .verilog import emit_top, rom_files


def alibi_files(design: AlibiDesign) -> dict[str, str]:
    """``ropewalk.v``, ``slopes.hex`` and ``registers.h``, by name. The same design gives the same bytes."""
    files = emit_top(AlibiTop(design), alibi_contents(design))
    if design.registers:
        files[HEADER] = register_header(UNIT)
    return files


def alibi_memory_files(design: AlibiDesign) -> dict[str, str]:
    """What the memory files of ``design`` must hold, by file name."""
    return rom_files(alibi_contents(design))
