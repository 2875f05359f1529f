"""The emitted Verilog of a rotary engine in Verilator, as :class:`~ropewalk_llm.rotation.Hardware`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream import pack_run, unpack_run

from .rotation import Words


class Verilog:
    """The engine in ``folder``, compiled."""

    def __init__(self, folder: Path) -> None:
        self._engine = VerilatorEngine(folder)

    def rotate(self, slot: int, q: Words, k: Words, position: NDArray[np.int64]) -> tuple[Words, Words]:
        """See the interface."""
        arrays = {"q": q, "k": k, "position": position, "variant": np.full(len(position), slot)}
        packed = pack_run(self._engine.design, arrays)
        result = unpack_run(packed, self._engine.run(packed.stream, script=packed.script))
        if result["error"].any():
            token = int(np.argmax(result["error"]))
            raise EngineError(f"the engine gave token {token} (position {int(position[token])}) back unrotated")
        return result["q"].astype(np.int64), result["k"].astype(np.int64)
