"""Synthesis of emitted files by Yosys for a family of parts: cells, memories, and the netlist that nextpnr takes.

The Verilog is flattened and mapped by the family's own command. What a build must not let pass fails it: latches, nets
with several drivers or none, combinational loops, and memories that would become registers.
"""

import copy
import json
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .families import ECP5, Family, amount
from .memories import MemoryUse, mapping_script, read_memories
from .packing import pack
from .yosys import TIMEOUT, SynthesisError, run_yosys

_PASS = re.compile(r"^[\d.]+ Executing (\w+) pass", re.MULTILINE)

_CELLS = """{command} -top {top} -run map_ffram:check
delete t:$scopeinfo
check -assert -mapped
select {top}
write_json -selected netlist.json
"""


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
        entering = [bits["CIN"][0] for bits in carries if bits["CIN"] != ["x"]]
        inside = {bits["COUT"][0] for bits in carries} & set(entering)
        into = sum(bit not in inside for bit in entering)
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
    primitives: bool = False,
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
    primitives
        Whether its multipliers are made of the family's own, so that none is to be inferred.
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
    options = ("" if primitives else family.infer, "" if pads else family.no_pads)
    command = " ".join(filter(None, (family.command, *options)))
    script = mapping_script(files, module, family, command) + _CELLS.format(command=command, top="\\" + module)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            log = run_yosys(folder, files, script, timeout=timeout)
        except SynthesisError as error:
            if family.infer and not primitives and _of_inference(error):
                raise SynthesisError(f"{error}; generate it with --family {family.name}", error.log) from None
            raise
        memories = read_memories(folder, log, module, family)
        netlist = json.loads((folder / "netlist.json").read_text(encoding="utf-8"))
    if family is ECP5:
        pack(netlist["modules"][module])
    cells = Counter(cell["type"] for cell in netlist["modules"][module]["cells"].values())
    return Synthesis(top=module, family=family, cells=cells, memories=memories, log=log, netlist=netlist)


def _of_inference(error: SynthesisError) -> bool:
    """Whether Yosys failed over what it makes of products on an iCE40.

    Of one with two registers behind it ice40_dsp makes a result of 0, which Yosys then says has two drivers, or it
    crashes.
    """
    passes = _PASS.findall(error.log)
    return "Driver-driver" in str(error) or passes[-1:] == ["ICE40_DSP"]


def netlist_verilog(synthesis: Synthesis, *, timeout: float = TIMEOUT) -> str:
    """The netlist as Verilog, of the cells of its family: to be simulated with models of those."""
    module = copy.deepcopy(synthesis.netlist["modules"][synthesis.top])
    _open_outputs(module)
    netlist = json.dumps({"modules": {synthesis.top: module}})
    script = "read_json netlist.json\nwrite_verilog -noattr netlist.v\n"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_yosys(folder, {"netlist.json": netlist}, script, timeout=timeout)
        return (folder / "netlist.v").read_text(encoding="utf-8")


def _open_outputs(module: dict[str, Any]) -> None:
    """Have every output of a cell that drives nothing drive a net of its own: in Verilog it cannot drive a constant."""
    connected = [bits for cell in module["cells"].values() for bits in cell["connections"].values()]
    named = [entry["bits"] for kind in ("ports", "netnames") for entry in module[kind].values()]
    free = 1 + max((bit for bits in connected + named for bit in bits if isinstance(bit, int)), default=1)
    for cell in module["cells"].values():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                for place, bit in enumerate(bits):
                    if isinstance(bit, str):
                        bits[place] = free
                        free += 1
