"""The memories of emitted files, and what Yosys makes of each on a Lattice ECP5."""

import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .yosys import TIMEOUT, SynthesisError, run_yosys

BLOCK, DISTRIBUTED, LOGIC = "block RAM", "distributed RAM", "logic"

LOGIC_ROM_BITS = 4_096
"""A ROM of so many bits may become logic. A memory that is written, or a larger one, may not."""

MAP_MEMORIES = """read_verilog -sv {files}
hierarchy -check -top {top}
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean
check -assert
synth_ecp5 -top {top} -run begin:map_ram
select {top}
write_json -selected memories.json
select -clear
synth_ecp5 -top {top} -run map_ram:map_ffram
select {top}
write_json -selected mapped.json
select -clear
"""
"""A script as far as the memories have become block and distributed RAM."""

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


def find_memories(files: Mapping[str, str], *, module: str = "ropewalk") -> tuple[MemoryUse, ...]:
    """The memories of ``module`` of emitted files, without the rest of the synthesis.

    Parameters and errors are those of :func:`~.synthesis.synthesise`.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return read_memories(folder, run_yosys(files, folder, MAP_MEMORIES, module, TIMEOUT), module)


def read_memories(folder: Path, log: str, module: str) -> tuple[MemoryUse, ...]:
    """The memories that :data:`MAP_MEMORIES` left in ``folder`` and in its log.

    Raises :class:`SynthesisError` where one became neither block nor distributed RAM and is not a small ROM.
    """
    left = {cell["parameters"]["MEMID"] for cell in _memory_cells(folder / "mapped.json")}
    mapped = dict(_MAPPED.findall(log))
    memories = []
    for cell in _memory_cells(folder / "memories.json"):
        parameters = cell["parameters"]
        name = parameters["MEMID"].lstrip("\\")
        words, width, writes = (int(parameters[key], 2) for key in ("SIZE", "WIDTH", "WR_PORTS"))
        if parameters["MEMID"] in left:
            if writes or words * width > LOGIC_ROM_BITS:
                what = "RAM" if writes else "ROM"
                raise SynthesisError(f"the {what} {name} of {words} x {width} bits has become registers or logic")
            kind = LOGIC
        else:
            cells = mapped[f"{module}.{name}"]
            kind = DISTRIBUTED if "DPR16X4" in cells else BLOCK
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
