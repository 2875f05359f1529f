"""Synthesis of emitted files for a Lattice ECP5 by Yosys: cells, memories, and the netlist that nextpnr takes.

The Verilog is flattened and mapped by ``synth_ecp5``. What a build must not let pass fails it: latches, nets with
several drivers or none, combinational loops, and memories that would become registers.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .packing import pack

TIMEOUT = 600
"""Seconds after which a run of Yosys is given up."""

BLOCK_RAM = "DP16KD"
DISTRIBUTED_RAM = "TRELLIS_DPR16X4"
BLOCK, DISTRIBUTED, LOGIC = "block RAM", "distributed RAM", "logic"

LOGIC_ROM_BITS = 4_096
"""A ROM of so many bits may become logic. A memory that is written, or a larger one, may not."""

_SCRIPT = """read_verilog -sv {files}
synth_ecp5 -top {top} -run begin:coarse
proc
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
flatten
opt_clean -purge
check -assert
synth_ecp5 -top {top} -run coarse:map_ram
select {top}
write_json -selected memories.json
select -clear
synth_ecp5 -top {top} -run map_ram:map_ffram
select {top}
write_json -selected mapped.json
select -clear
synth_ecp5 -nowidelut -top {top} -run map_ffram:check
delete t:$scopeinfo
check -assert -mapped
select {top}
write_json -selected netlist.json
"""

_FATAL = re.compile(
    r"Driver-driver conflict|multiple conflicting drivers|(?<!No )latch inferred|found logic loop", re.IGNORECASE
)
_MAPPED = re.compile(r"^mapping memory (\S+) via (\S+)$", re.MULTILINE)


class SynthesisError(RuntimeError):
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

    ``cells`` counts the cells of each type, after registers have moved into multipliers and block RAMs
    (:mod:`.packing`). ``netlist`` is Yosys' JSON, parsed.
    """

    top: str
    cells: Mapping[str, int]
    memories: tuple[MemoryUse, ...]
    log: str = field(repr=False)
    netlist: Any = field(repr=False)

    def count(self, *types: str) -> int:
        """How many cells there are of ``types``."""
        return sum(self.cells.get(kind, 0) for kind in types)

    @property
    def lut4(self) -> int:
        """Look-up tables of 4 inputs, without those inside carry chains and RAM."""
        return self.count("LUT4")

    @property
    def carry(self) -> int:
        """Carry cells of two bits each."""
        return self.count("CCU2C")

    @property
    def registers(self) -> int:
        """Flip-flops."""
        return self.count("TRELLIS_FF")

    @property
    def multipliers(self) -> int:
        """Multipliers of 18 x 18 bits."""
        return self.count("MULT18X18D")

    @property
    def block_rams(self) -> int:
        """Block RAMs of 18 Kbit."""
        return self.count(BLOCK_RAM)

    @property
    def distributed_rams(self) -> int:
        """Distributed RAMs of 16 words of 4 bits."""
        return self.count(DISTRIBUTED_RAM)

    @property
    def comb(self) -> int:
        """TRELLIS_COMB as nextpnr counts: LUT4 + 2 CCU2C + 6 TRELLIS_DPR16X4.

        It leads a carry into each chain, and out where something reads it, by a carry cell more.
        """
        return self.lut4 + 2 * (self.carry + self.chain_ends) + 6 * self.distributed_rams

    @property
    def chain_ends(self) -> int:
        """How many carries lead into a carry chain or out of one."""
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
    timeout: float = TIMEOUT,
) -> Synthesis:
    """Map ``module`` of emitted files to ECP5 cells.

    Parameters
    ----------
    files
        Text by file name: the Verilog (``*.v``) and the memory files that it reads.
    module
        The module that is the top: that of the emitted files, unless a component was emitted alone under another name.
    timeout
        Seconds after which Yosys is given up.

    Raises
    ------
    SynthesisError
        If Yosys refuses it, crashes or takes too long, or the netlist is unsound; the message says which and where.
    """
    verilog = " ".join(sorted(name for name in files if name.endswith(".v")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        log = _run(folder, _SCRIPT.format(files=verilog, top="\\" + module), timeout)
        memories = _memories(_json(folder / "memories.json"), _json(folder / "mapped.json"), log, module)
        netlist = _json(folder / "netlist.json")
    pack(netlist["modules"][module])
    cells = Counter(cell["type"] for cell in netlist["modules"][module]["cells"].values())
    return Synthesis(top=module, cells=cells, memories=memories, log=log, netlist=netlist)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _run(folder: Path, script: str, timeout: float) -> str:
    """Run a Yosys script in ``folder``; gives its log."""
    (folder / "synthesis.ys").write_text(script, encoding="utf-8")
    try:
        result = subprocess.run(
            [sys.executable, "-m", "ropewalk.boards.yosys_worker", "synthesis.ys"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise SynthesisError(f"Yosys was not done after {timeout:g} s") from None
    log = result.stdout
    if fatal := _FATAL.search(log):
        line = log[log.rfind("\n", 0, fatal.start()) + 1 :].split("\n", 1)[0]
        raise SynthesisError(f"Yosys reports: {line.strip()}")
    if result.returncode:
        said = [line for line in log.splitlines() if line.strip()]
        told = next((line for line in reversed(said) if "ERROR" in line or "Error" in line), "".join(said[-1:]))
        raise SynthesisError(f"Yosys ended with {result.returncode}: {told.strip()}")
    return log


def _memories(before: Any, after: Any, log: str, top: str) -> tuple[MemoryUse, ...]:
    """Each memory, and what it became.

    Raises :class:`SynthesisError` where one became neither block nor distributed RAM and is not a small ROM.
    """
    left = {cell["parameters"]["MEMID"] for cell in _memory_cells(after)}
    mapped = dict(_MAPPED.findall(log))
    memories = []
    for cell in _memory_cells(before):
        parameters = cell["parameters"]
        name = parameters["MEMID"].lstrip("\\")
        words, width, writes = (int(parameters[key], 2) for key in ("SIZE", "WIDTH", "WR_PORTS"))
        if parameters["MEMID"] in left:
            if writes or words * width > LOGIC_ROM_BITS:
                what = "RAM" if writes else "ROM"
                raise SynthesisError(f"the {what} {name} of {words} x {width} bits has become registers or logic")
            kind = LOGIC
        else:
            cells = mapped[f"{top}.{name}"]
            kind = DISTRIBUTED if "DPR16X4" in cells else BLOCK
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
