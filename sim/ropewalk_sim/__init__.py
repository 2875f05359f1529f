"""The fixed-point model of Ropewalk's engines, their simulators, and the exact references.

:class:`Simulator` is the compiled simulator of a generated folder, arrays in and out (``docs/simulator.md``).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .simulator import Simulator, SimulatorResult

__all__ = ["Simulator", "SimulatorResult"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the benches that run inside a simulator import modules of this package, and not that one.
    if name in __all__:
        return getattr(importlib.import_module(".simulator", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
