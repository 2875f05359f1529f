"""What Yosys makes of Verilog for each family of parts: the command, and the names and the meaning of its cells."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase


@dataclass(frozen=True, kw_only=True)
class Register:
    """A plain register of a family: its cell, and the names of its ports."""

    cell: str
    clock: str
    data: str
    output: str
    parameters: Mapping[str, str]
    constants: Mapping[str, str]
    """Further inputs, and the constant that is connected to each."""
    pad: tuple[str, str, str] | None = None
    """The cell that brings a clock in from a pin, its input and its output, where the placer adds none itself."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """How a family is synthesised and counted.

    Parameters
    ----------
    command
        Yosys' command for it; ``no_pads`` keeps it from adding buffers at the ports.
    infer
        What it takes besides to make multipliers of products. Not where the Verilog has the family's own: on iCE40 it
        takes the registers out of those and says nothing, and the results come clocks too early.
    first, memories
        The labels in that command behind the reading of the family's cells, and at which memories are mapped.
    luts, registers, carries
        Patterns of cell types.
    multipliers, block_rams
        The same, with how many blocks of the part each is.
    pins_option, placed_option
        How its placer is told the file with the pins, and the one that it writes for the packer.
    aim_mhz
        What a placer aims at where nothing is asked for: more than it reaches, so that it does not stop early.
    distributed
        Cell types of RAM made of look-up tables, with how many of those each takes.
    loose_ram_bits
        A RAM of at most so many bits may become registers; 0 where the part has RAM made of look-up tables.
    register
        What stands at the boundary of a netlist that is placed; None where nothing places it.
    """

    name: str
    command: str
    infer: str = ""
    no_pads: str = ""
    first: str = "coarse"
    memories: str = "map_ram"
    luts: tuple[str, ...]
    registers: tuple[str, ...]
    carries: tuple[str, ...]
    multipliers: Mapping[str, float]
    block_rams: Mapping[str, float]
    distributed: Mapping[str, int]
    register: Register | None = None
    pins_option: tuple[str, ...] = ()
    placed_option: str = ""
    aim_mhz: int = 250
    loose_ram_bits: int = 0


def amount(cells: Mapping[str, int], kinds: Mapping[str, float]) -> float:
    """How many blocks the cells in ``cells`` (their number by type) take, which ``kinds`` gives by pattern."""
    return sum(count * size for cell, count in cells.items() for kind, size in kinds.items() if fnmatchcase(cell, kind))


ECP5 = Family(
    name="ecp5",
    command="synth_ecp5",
    luts=("LUT4",),
    registers=("TRELLIS_FF",),
    carries=("CCU2C",),
    multipliers={"MULT18X18D": 1},
    block_rams={"DP16KD": 1, "PDPW16KD": 1},
    distributed={"TRELLIS_DPR16X4": 6},
    register=Register(
        cell="TRELLIS_FF",
        clock="CLK",
        data="DI",
        output="Q",
        parameters={"CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET"},
        constants={"LSR": "0"},
    ),
    pins_option=("--lpf", "{}"),
    placed_option="--textcfg",
)

ICE40 = Family(
    name="ice40",
    command="synth_ice40 -device u",
    infer="-dsp",
    first="flatten",
    luts=("SB_LUT4",),
    registers=("SB_DFF*",),
    carries=("SB_CARRY",),
    multipliers={"SB_MAC16": 1},
    block_rams={"SB_RAM40_4K*": 1},
    distributed={},
    register=Register(cell="SB_DFF", clock="C", data="D", output="Q", parameters={}, constants={}),
    pins_option=("--pcf", "{}"),
    placed_option="--asc",
    loose_ram_bits=1_024,
    aim_mhz=100,
)

GW1N = Family(
    name="gowin",
    command="synth_gowin -nowidelut -family gw1n",
    no_pads="-noiopads",
    luts=("LUT[1234]",),
    registers=("DFF*",),
    carries=("ALU",),
    multipliers={"MULT9X9": 0.5, "MULT18X18": 1, "MULT36X36": 4, "MULTALU18X18": 2, "MULTADDALU18X18": 2},
    block_rams={"SP": 1, "SPX9": 1, "SDPB": 1, "SDPX9B": 1, "DPB": 1, "DPX9B": 1, "pROM": 1, "pROMX9": 1},
    distributed={"RAM16S*": 4},
    register=Register(
        cell="DFF", clock="CLK", data="D", output="Q", parameters={}, constants={}, pad=("IBUF", "I", "O")
    ),
    pins_option=("--vopt", "cst={}"),
    placed_option="--write",
)

GW2A = replace(GW1N, command="synth_gowin -nowidelut -family gw2a")

XILINX = Family(
    name="xilinx",
    command="synth_xilinx -family xc7 -noiopad -noclkbuf",
    first="prepare",
    memories="map_memory",
    luts=("LUT[123456]",),
    registers=("FD?E",),
    carries=("CARRY4",),
    multipliers={"DSP48E1": 1},
    block_rams={"RAMB18E1": 0.5, "RAMB36E1": 1},
    distributed={
        "RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM*X1S*": 1, "SRL16E": 1, "SRLC*E": 1,
    },
)  # fmt: skip
