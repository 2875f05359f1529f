"""The engines of an ALiBi unit by name: everything that turns its streams into what comes out."""

from collections.abc import Callable
from pathlib import Path

from ropewalk.designs.alibi import AlibiDesign
from ropewalk.errors import InputError
from ropewalk_sim.units.streams import UnitInput, UnitOutput

from .streams import run_model

Run = Callable[..., UnitOutput]
"""Takes a :class:`UnitInput`, and ``stalls``, ``script`` and ``progress``, which the model does not look at."""


def open_alibi_engine(name: str, design: AlibiDesign, folder: Path) -> Run:
    """The engine ``name`` for ``design``, whose emitted files lie in ``folder``.

    Raises
    ------
    InputError
        If there is no engine of that name.
    """
    # Imported when asked for: cocotb and Amaranth's simulator take long to import.
    match name:
        case "model":

            def run(stream: UnitInput, **_ignored: object) -> UnitOutput:
                return run_model(design, stream)

            return run
        case "amaranth":
            from ropewalk.gateware.alibi.top import AlibiPorts
            from ropewalk_sim.units.amaranth_bench import simulate

            return lambda stream, stalls=None, script=None, progress=None: simulate(
                AlibiPorts(design), stream, stalls, script, progress
            )
        case "icarus":
            from ropewalk_sim.units.cosim import UnitIcarus

            return UnitIcarus(folder).run
        case "verilator":
            from ropewalk_sim.units.verilator import UnitVerilator

            return UnitVerilator(folder).run
        case "cocotb-verilator":
            from ropewalk_sim.units.cosim import UnitCocotbVerilator

            return UnitCocotbVerilator(folder).run
    raise InputError(f"there is no engine {name!r}; these are: model, amaranth, icarus, verilator, cocotb-verilator")
