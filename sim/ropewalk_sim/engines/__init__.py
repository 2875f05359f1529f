"""The engines: everything that can turn a :class:`~ropewalk_sim.stream.StreamInput` into a ``StreamOutput``.

| name | what runs |
|---|---|
| ``model`` | the fixed-point model, in numpy |
| ``amaranth`` | the gateware in Amaranth's simulator |
| ``icarus`` | the emitted Verilog in Icarus under cocotb |
| ``verilator`` | the emitted Verilog, compiled into a library by Verilator |
| ``cocotb-verilator`` | the emitted Verilog in Verilator under cocotb |
"""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol

from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput

Progress = Callable[[int, int], None]
"""Called now and then during a run with the number of input beats that were taken, and of all input beats."""

QUIET_CLOCKS = 256
"""Clocks, beside those of two rows, without an output beat after which an engine that took everything is done."""

HANG_CLOCKS = 20_000
"""Clocks without any transfer, with something still to be taken, after which an engine is said to hang."""


def quiet_clocks(design: Design) -> int:
    """Clocks without an output beat after which an engine that took everything is done, however long its rows are.

    A slot that is loaded may have more pairs than any variant: up to all of a head.
    """
    return QUIET_CLOCKS + design.geometry.head_dim * design.clocks_per_pair


class Engine(Protocol):
    """One design folder, ready to run.

    ``run`` offers ``stream`` and returns everything that came out. ``stalls`` makes both sides rest at random,
    ``script`` holds streams back or interrupts a run by reset, and ``progress`` is told how far the run is.

    Raises :class:`~ropewalk_sim.errors.EngineError` if the engine cannot be built, hangs, or breaks the protocol.
    """

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the engine."""
        ...


# Imported when asked for: cocotb and Amaranth's simulator take long to import, and one engine must not need the others.
_CLASSES = {
    "model": ("ropewalk_sim.engines.model", "ModelEngine"),
    "amaranth": ("ropewalk_sim.engines.amaranth", "AmaranthEngine"),
    "icarus": ("ropewalk_sim.engines.cosim", "IcarusEngine"),
    "verilator": ("ropewalk_sim.engines.verilator", "VerilatorEngine"),
    "cocotb-verilator": ("ropewalk_sim.engines.cosim", "CocotbVerilatorEngine"),
}


def open_engine(name: str, folder: Path) -> Engine:
    """The engine ``name`` for the design in ``folder``.

    Raises
    ------
    InputError
        If there is no engine of that name, or the folder holds no design.
    """
    if name not in _CLASSES:
        raise InputError(f"there is no engine {name!r}; these are: {', '.join(_CLASSES)}")
    module, member = _CLASSES[name]
    return getattr(importlib.import_module(module), member)(folder)


ENGINES: dict[str, Callable[[Path], Engine]] = {name: partial(open_engine, name) for name in _CLASSES}
"""The engines by name; each opens a design folder."""
