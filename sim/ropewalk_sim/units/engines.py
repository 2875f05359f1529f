"""The engines of any unit by name: what runs a stream of octets through its gateware or its emitted Verilog."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ropewalk.errors import InputError

from .streams import UnitOutput

ENGINES = ("model", "amaranth", "icarus", "verilator", "cocotb-verilator")
"""The engines that every unit has. The model is the unit's own."""

Bench = Callable[..., UnitOutput]
"""Takes a :class:`~.streams.UnitInput`, and by name ``stalls``, ``script``, ``progress`` and ``memory``."""


def open_bench(name: str, folder: Path | None, ports: Callable[[], Any]) -> Bench:
    """The engine ``name``: ``amaranth`` simulates what ``ports`` makes, the others what was emitted into ``folder``.

    Raises
    ------
    InputError
        If there is no engine of that name.
    """
    if name not in ENGINES[1:]:
        raise InputError(f"there is no engine {name!r}; these are: {', '.join(ENGINES)}")
    # Imported when asked for: cocotb and Amaranth's simulator take long to import.
    if name == "amaranth":
        from .amaranth_bench import simulate

        return partial(simulate, ports())
    if folder is None:
        raise ValueError(f"the engine {name} needs the folder with the Verilog")
    if name == "verilator":
        from .verilator import UnitVerilator

        return UnitVerilator(folder).run
    from .cosim import UnitCocotbVerilator, UnitIcarus

    return (UnitIcarus if name == "icarus" else UnitCocotbVerilator)(folder).run
