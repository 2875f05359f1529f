"""Behavioural models of FPGA cells, to simulate what Yosys makes of a design (``docs/cells.md``)."""

import importlib.util
import re
from pathlib import Path

from ropewalk_sim.errors import EngineError

HERE = Path(__file__).parent

# Yosys' files of models, by family, and the macros that they need to be read whole and by every simulator: no further
# include, and no default values of ports, which plain Verilog does not have.
YOSYS_FILES = {
    "ecp5": ("lattice/common_sim.vh", "lattice/ccu2c_sim.vh"),
    "ice40": ("ice40/cells_sim.v",),
    "gowin": ("gowin/cells_sim.v",),
    "xilinx": ("xilinx/cells_sim.v",),
}
YOSYS_MACROS = {"ecp5": "NO_INCLUDES", "ice40": "NO_ICE40_DEFAULT_ASSIGNMENTS", "gowin": None, "xilinx": None}

# Modules of those files that are left out: Icarus cannot parse TRELLIS_COMB, which comes only after place and route;
# the others are empty there.
LEFT_OUT = {
    "ecp5": ("TRELLIS_COMB",),
    "ice40": (),
    "gowin": ("SP", "SPX9", "SDP", "SDPX9", "DP", "DPX9"),
    "xilinx": ("RAMB18E1", "RAMB36E1"),
}
OWN_FILES = {"ecp5": ("common.v", "ecp5.v"), "ice40": (), "gowin": ("common.v", "gowin.v"), "xilinx": ("xilinx.v",)}

MODELLED = tuple(YOSYS_FILES)
"""The families that there are models for."""

INSTANTIATED = ("ecp5", "ice40", "gowin")
"""Those of them whose cells the Verilog that is generated for them instantiates."""


def cell_models(family: str, folder: Path) -> tuple[Path, ...]:
    """The files that together model every cell of a netlist that Yosys' ``synth_FAMILY`` writes.

    Yosys' own models are taken from the installed pyosys package and written into ``folder`` as
    ``yosys_FAMILY.v``, without the modules that are empty there; our own models, of which those take the place, are
    files of this package. All are Verilog-2005, for Icarus and Verilator, in any order.

    Parameters
    ----------
    family : str
        ``ecp5``, ``ice40``, ``gowin`` or ``xilinx``.
    folder : Path
        Where to write Yosys' models; it must exist.

    Raises
    ------
    ValueError
        If there are no models of ``family``.
    EngineError
        If pyosys is not installed, or is another version whose files are arranged otherwise.
    """
    if family not in YOSYS_FILES:
        raise ValueError(f"no cell models of {family!r}; there are {', '.join(YOSYS_FILES)}")
    text = "\n".join((yosys_share() / name).read_text() for name in YOSYS_FILES[family])
    for module in LEFT_OUT[family]:
        whole = rf"^(?:\(\*[^\n]*\*\)\s*\n)?module {module}\b.*?^endmodule\n"
        text, count = re.subn(whole, "", text, flags=re.M | re.S)
        if count != 1:
            raise EngineError(f"{count} modules {module} in pyosys' {YOSYS_FILES[family][0]}, 1 expected: pin pyosys")
    macro = YOSYS_MACROS[family]
    written = folder / f"yosys_{family}.v"
    written.write_text(f"`define {macro}\n{text}" if macro else text)
    return (written, *(HERE / name for name in OWN_FILES[family]))


def yosys_share() -> Path:
    """The folder of Yosys' libraries in the installed pyosys package. Raises ``EngineError`` where it is missing."""
    found = importlib.util.find_spec("pyosys")
    if found is None or found.origin is None:
        raise EngineError("pyosys is missing: pip install pyosys")
    return Path(found.origin).parent / "share"
