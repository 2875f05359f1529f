"""Synthesis of emitted files for a Lattice ECP5 by Yosys: cells, memories, and the netlist that nextpnr takes.

The Verilog is flattened and mapped by ``synth_ecp5``. What a build must not let pass fails it: latches, nets with
several drivers or none, combinational loops, and memories that would become registers.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .memories import MAP_MEMORIES, MemoryUse, read_memories
from .packing import pack
from .yosys import TIMEOUT, run_yosys

BLOCK_RAM = "DP16KD"
DISTRIBUTED_RAM = "TRELLIS_DPR16X4"

_CELLS = """synth_ecp5 -nowidelut -top {top} -run map_ffram:check
delete t:$scopeinfo
check -assert -mapped
select {top}
write_json -selected netlist.json
"""


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = run_yosys(files, folder, MAP_MEMORIES + _CELLS, module, timeout)
        memories = read_memories(folder, log, module)
        netlist = json.loads((folder / "netlist.json").read_text(encoding="utf-8"))
    pack(netlist["modules"][module])
    cells = Counter(cell["type"] for cell in netlist["modules"][module]["cells"].values())
    return Synthesis(top=module, cells=cells, memories=memories, log=log, netlist=netlist)
