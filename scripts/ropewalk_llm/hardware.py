"""The emitted Verilog of a rotary engine in Verilator, as :class:`~ropewalk_llm.rotation.Hardware`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from ropewalk_sim import Simulator
from ropewalk_sim.errors import EngineError

from .rotation import Words


class Verilog:
    """The engine in ``folder``, compiled."""

    def __init__(self, folder: Path) -> None:
        self._simulator = Simulator(folder)

    def rotate(self, slot: int, q: Words, k: Words, position: NDArray[np.int64]) -> tuple[Words, Words]:
        """See the interface."""
        result = self._simulator.run(q=q, k=k, position=position, variant=slot)
        if result.error.any():
            token = int(np.argmax(result.error))
            raise EngineError(f"the engine gave token {token} (position {int(position[token])}) back unrotated")
        assert result.q is not None and result.k is not None
        return result.q.astype(np.int64), result.k.astype(np.int64)
