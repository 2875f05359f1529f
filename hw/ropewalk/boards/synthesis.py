"""Synthesis of emitted files by Yosys for a family of parts: cells, memories, and the netlist that nextpnr takes.

The Verilog is flattened and mapped by the family's own command. What a build must not let pass fails it: latches, nets
with several drivers or none, combinational loops, and memories that would become registers.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..errors import BuildError
from . import tools
from .families import ECP5, Family, amount
from .packing import pack

TIMEOUT = 600
"""Seconds after which a run of Yosys is given up."""

BLOCK, DISTRIBUTED, LOGIC = "block RAM", "distributed RAM", "logic"

LOGIC_ROM_BITS = 4_096
"""A ROM of so many bits may become logic. A larger one may not, and of memories that are written only small ones, on
parts that have nothing better for them (``Family.loose_ram_bits``)."""

_SCRIPT = """read_verilog -sv {files}
{command} -top {top} -run begin:{first}
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean -purge
check -assert
{command} -top {top} -run {first}:{memories}
select {top}
write_json -selected memories.json
select -clear
{command} -top {top} -run {memories}:map_ffram
select {top}
write_json -selected mapped.json
select -clear
{command} -top {top} -run map_ffram:check
delete t:$scopeinfo
check -assert -mapped
select {top}
write_json -selected netlist.json
"""

_FATAL = re.compile(
    r"Driver-driver conflict|multiple conflicting drivers|(?<!No )latch inferred|found logic loop", re.IGNORECASE
)
_MAPPED = re.compile(r"^mapping memory (\S+) via (\S+)$", re.MULTILINE)


class SynthesisError(BuildError):
    """The Verilog does not become a sound netlist."""


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


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """What Yosys made of a module.

    ``cells`` counts the cells of each type, for ECP5 after registers have moved into multipliers and block RAMs
    (:mod:`.packing`). ``netlist`` is Yosys' JSON, parsed.
    """

    top: str
    family: Family
    cells: Mapping[str, int]
    memories: tuple[MemoryUse, ...]
    log: str = field(repr=False)
    netlist: Any = field(repr=False)

    def count(self, *patterns: str) -> int:
        """How many cells there are whose type is one of ``patterns``."""
        return sum(number for cell, number in self.cells.items() if any(fnmatchcase(cell, one) for one in patterns))

    @property
    def luts(self) -> int:
        """Look-up tables, without those inside carry chains and RAM."""
        return self.count(*self.family.luts)

    @property
    def carries(self) -> int:
        """Carry cells: of two bits each for ECP5, of one for iCE40 and Gowin, of four for Xilinx."""
        return self.count(*self.family.carries)

    @property
    def registers(self) -> int:
        """Flip-flops."""
        return self.count(*self.family.registers)

    @property
    def multipliers(self) -> float:
        """Blocks with a multiplier: half a block where the part halves them."""
        return amount(self.cells, self.family.multipliers)

    @property
    def block_rams(self) -> float:
        """Block RAMs: half a block where the part halves them."""
        return amount(self.cells, self.family.block_rams)

    @property
    def distributed_rams(self) -> int:
        """Cells of RAM made of look-up tables."""
        return self.count(*self.family.distributed)

    @property
    def comb(self) -> int:
        """Look-up tables, those inside carry chains and RAM too.

        For ECP5 this is nextpnr's TRELLIS_COMB: it leads a carry into each chain, and out where something reads it, by
        a carry cell more. Elsewhere it leaves out what a placer adds.
        """
        memory = round(amount(self.cells, self.family.distributed))
        if self.family is ECP5:
            return self.luts + 2 * (self.carries + self._chain_ends) + memory
        return self.luts + (self.carries if self.family.carries == ("ALU",) else 0) + memory

    @property
    def _chain_ends(self) -> int:
        """How many carries lead into a carry chain of an ECP5 or out of one."""
        cells = self.netlist["modules"][self.top]["cells"].values()
        carries = [cell["connections"] for cell in cells if cell["type"] == "CCU2C"]
        inside = {bits["COUT"][0] for bits in carries} & {bits["CIN"][0] for bits in carries}
        into = sum(bits["CIN"][0] not in inside for bits in carries)
        out = {bits["COUT"][0] for bits in carries} - inside - {"x"}
        return into + len(out)

    def memory_bits(self, *kinds: str) -> int:
        """Bits of the memories of ``kinds``, or of all, as the Verilog declares them."""
        return sum(memory.bits for memory in self.memories if not kinds or memory.kind in kinds)


def synthesise(
    files: Mapping[str, str],
    *,
    module: str = "ropewalk",
    family: Family = ECP5,
    pads: bool = False,
    timeout: float = TIMEOUT,
) -> Synthesis:
    """Map ``module`` of emitted files to the cells of ``family``.

    Parameters
    ----------
    files
        Text by file name: the Verilog (``*.v``) and the memory files that it reads.
    module
        The module that is the top: that of the emitted files, unless a component was emitted alone under another name.
    pads
        Whether the ports are pins, so that they get their buffers.
    timeout
        Seconds after which Yosys is given up.

    Raises
    ------
    BuildError
        If Yosys takes too long.
    SynthesisError
        If Yosys refuses it or crashes, or the netlist is unsound; the message says which and where.
    """
    script = _SCRIPT.format(
        files=" ".join(sorted(name for name in files if name.endswith(".v"))),
        top="\\" + module,
        command=family.command if pads else f"{family.command} {family.no_pads}".rstrip(),
        first=family.first,
        memories=family.memories,
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        log = _run(folder, script, timeout)
        memories = _memories(_json(folder / "memories.json"), _json(folder / "mapped.json"), log, module, family)
        netlist = _json(folder / "netlist.json")
    if family is ECP5:
        pack(netlist["modules"][module])
    cells = Counter(cell["type"] for cell in netlist["modules"][module]["cells"].values())
    return Synthesis(top=module, family=family, cells=cells, memories=memories, log=log, netlist=netlist)


def netlist_verilog(synthesis: Synthesis, *, timeout: float = TIMEOUT) -> str:
    """The netlist as Verilog, of the cells of its family: to be simulated with models of those."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "netlist.json").write_text(json.dumps(synthesis.netlist), encoding="utf-8")
        _run(folder, "read_json netlist.json\nwrite_verilog -noattr netlist.v\n", timeout)
        return (folder / "netlist.v").read_text(encoding="utf-8")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _run(folder: Path, script: str, timeout: float) -> str:
    """Run a Yosys script in ``folder``; gives its log."""
    (folder / "script.ys").write_text(script, encoding="utf-8")
    code, log = tools.run(tools.YOSYS, ["script.ys"], folder, timeout=timeout)
    if fatal := _FATAL.search(log):
        line = log[log.rfind("\n", 0, fatal.start()) + 1 :].split("\n", 1)[0]
        raise SynthesisError(f"Yosys reports: {line.strip()}", log)
    if code:
        raise SynthesisError(str(tools.failure(tools.YOSYS, code, log)), log)
    return log


def _memories(before: Any, after: Any, log: str, top: str, family: Family) -> tuple[MemoryUse, ...]:
    """Each memory, and what it became.

    Raises :class:`SynthesisError` where one became neither block nor distributed RAM and is not small enough for it.
    """
    left = {cell["parameters"]["MEMID"] for cell in _memory_cells(after)}
    mapped = dict(_MAPPED.findall(log))
    memories = []
    for cell in _memory_cells(before):
        parameters = cell["parameters"]
        name = parameters["MEMID"].lstrip("\\")
        words, width, writes = (int(parameters[key], 2) for key in ("SIZE", "WIDTH", "WR_PORTS"))
        if parameters["MEMID"] in left:
            if words * width > (family.loose_ram_bits if writes else LOGIC_ROM_BITS):
                what = "RAM" if writes else "ROM"
                raise SynthesisError(f"the {what} {name} of {words} x {width} bits has become registers or logic", log)
            kind = LOGIC
        else:
            cells = mapped[f"{top}.{name}"]
            kind = DISTRIBUTED if "DPR16X4" in cells or "LUTRAM" in cells else BLOCK
        memories.append(MemoryUse(name=name, words=words, width=width, kind=kind))
    return tuple(memories)


def _memory_cells(netlist: Any) -> list[Any]:
    """The memory cells of a flattened netlist."""
    return [
        cell
        for module in netlist["modules"].values()
        if not module.get("attributes", {}).get("blackbox")
        for cell in module["cells"].values()
        if cell["type"] in ("$mem_v2", "$mem")
    ]
