"""The engines of an ALiBi unit by name: everything that turns its streams into what comes out."""

from collections.abc import Callable
from pathlib import Path

from ropewalk.designs.alibi import AlibiDesign
from ropewalk_sim.units.engines import open_bench
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
    if name == "model":

        def run(stream: UnitInput, **_ignored: object) -> UnitOutput:
            return run_model(design, stream)

        return run

    def ports() -> object:
        from ropewalk.gateware.alibi.top import AlibiPorts

        return AlibiPorts(design)

    return open_bench(name, folder, ports)
