"""What a folder's page says of the family of parts that its Verilog is for."""

from collections.abc import Sequence

from ..family import Family

VERILOG: dict[Family, str] = {
    "generic": "portable Verilog",
    "ecp5": "Verilog for Lattice ECP5",
    "ice40": "Verilog for Lattice iCE40 UltraPlus",
    "gowin": "Verilog for Gowin GW1N and GW2A",
    "xilinx": "Verilog for Xilinx 7 series",
}
"""What ``ropewalk.v`` is, in a few words."""

_NOTES: dict[Family, str] = {
    "generic": "The Verilog instantiates no cell of any part.",
    "ecp5": "The Verilog instantiates `MULT18X18D` and `DP16KD` with their own registers in use; what block RAMs hold "
    "from the start stands in their `INITVAL` parameters. Lanes that multiply in look-up tables are made of `CCU2C`. A "
    "simulator needs models of them.",
    "ice40": "The Verilog instantiates `SB_MAC16` with its own registers in use; a simulator needs a model of it. "
    "Run Yosys' `synth_ice40` **without** `-dsp`: with it, Yosys takes the registers out of these cells, says nothing, "
    "and every result is wrong. Block RAMs are inferred.",
    "gowin": "The Verilog instantiates `MULT18X18` with its own registers in use; a simulator needs a model of it. "
    "Block RAMs are inferred.",
    "xilinx": "The Verilog instantiates no cell; attributes ask for DSP blocks and for ROMs in block RAM.",
}

_FILES = (
    "The `.hex` files are read by `$readmemh` under these names: run simulators and synthesis in this folder, or with "
    "copies of them beside their working directory."
)


def family_part(family: Family, files: Sequence[str]) -> list[str]:
    """What whoever simulates or synthesises ``files`` must know."""
    read = [_FILES, ""] if any(name.endswith(".hex") for name in files) else []
    return [_NOTES[family], "", *read]
