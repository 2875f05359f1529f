"""The fixed-point model of Ropewalk's engines, their simulators, and the exact references.

:class:`Simulator` is the compiled simulator of a generated folder, arrays in and out, and :class:`Model` the
fixed-point model, called alike (``docs/simulator.md``).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engines.waveform import Waveform
    from .simulator import Simulator
    from .token_engine import SimulatorResult
    from .token_model import Model

_MODULES = {
    "Model": "token_model",
    "Simulator": "simulator",
    "SimulatorResult": "token_engine",
    "Waveform": "engines.waveform",
}

__all__ = ["Model", "Simulator", "SimulatorResult", "Waveform"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the benches that run inside a simulator import modules of this package, and not these.
    if name in _MODULES:
        return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
