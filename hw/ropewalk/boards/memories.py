"""The memories of emitted files, and what Yosys makes of each on a family of parts."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .families import ECP5, Family
from .yosys import SynthesisError, run_yosys

BLOCK, DISTRIBUTED, LOGIC = "block RAM", "distributed RAM", "logic"

LOGIC_ROM_BITS = 4_096
"""A ROM of so many bits may become logic. A larger one may not, and of memories that are written only small ones, on
parts that have nothing better for them (``Family.loose_ram_bits``)."""

_SCRIPT = """read_verilog -sv {files}
{placed}{command} -top {top} -run begin:{first}
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean -purge
setattr -set keep 1 w:* a:keep %i %ci1 t:$*dff* %i
check -assert
{command} -top {top} -run {first}:{memories}
select {top}
write_json -selected memories.json
select -clear
{command} -top {top} -run {memories}:map_ffram
select {top}
write_json -selected mapped.json
select -clear
"""

_NOT_DISTRIBUTED = "setattr -unset ram_style a:ram_style=distributed\n"
"""Where the part has no such RAM: there Yosys would refuse the memory in place of making registers of it."""

_MAPPED = re.compile(r"^mapping memory (\S+) via (\S+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class MemoryUse:
    """A memory of the Verilog: its bits, and what it became."""

    name: str
    words: int
    width: int
    kind: str

    @property
    def bits(self) -> int:
        """Bits that it holds."""
        return self.words * self.width


def mapping_script(files: Mapping[str, str], module: str, family: Family, command: str) -> str:
    """A script as far as the memories of ``files`` have become block and distributed RAM."""
    verilog = " ".join(sorted(name for name in files if name.endswith(".v")))
    return _SCRIPT.format(
        files=verilog,
        placed="" if family.distributed else _NOT_DISTRIBUTED,
        top="\\" + module,
        command=command,
        first=family.first,
        memories=family.memories,
    )


def find_memories(files: Mapping[str, str], *, module: str = "ropewalk") -> tuple[MemoryUse, ...]:
    """The memories of ``module`` of emitted files on an ECP5, without the rest of the synthesis.

    Parameters and errors are those of :func:`~.synthesis.synthesise`.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = run_yosys(folder, files, mapping_script(files, module, ECP5, ECP5.command))
        return read_memories(folder, log, module, ECP5)


def read_memories(folder: Path, log: str, module: str, family: Family) -> tuple[MemoryUse, ...]:
    """The memories that the script left in ``folder`` and in its log.

    Raises :class:`SynthesisError` where one became neither block nor distributed RAM and is not small enough for it.
    """
    left = {cell["parameters"]["MEMID"] for cell in _memory_cells(folder / "mapped.json")}
    mapped = dict(_MAPPED.findall(log))
    memories = []
    for cell in _memory_cells(folder / "memories.json"):
        parameters = cell["parameters"]
        name = parameters["MEMID"].lstrip("\\")
        words, width, writes = (int(parameters[key], 2) for key in ("SIZE", "WIDTH", "WR_PORTS"))
        if parameters["MEMID"] in left:
            if words * width > (family.loose_ram_bits if writes else LOGIC_ROM_BITS):
                what = "RAM" if writes else "ROM"
                raise SynthesisError(f"the {what} {name} of {words} x {width} bits has become registers or logic", log)
            kind = LOGIC
        else:
            cells = mapped[f"{module}.{name}"]
            kind = DISTRIBUTED if "DPR16X4" in cells or "LUTRAM" in cells else BLOCK
        memories.append(MemoryUse(name=name, words=words, width=width, kind=kind))
    return tuple(memories)


def _memory_cells(path: Path) -> list[Any]:
    """The memory cells of a flattened netlist."""
    netlist = json.loads(path.read_text(encoding="utf-8"))
    return [
        cell
        for module in netlist["modules"].values()
        if not module.get("attributes", {}).get("blackbox")
        for cell in module["cells"].values()
        if cell["type"] in ("$mem_v2", "$mem")
    ]
