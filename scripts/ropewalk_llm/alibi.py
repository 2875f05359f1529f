"""A BLOOM model whose biases are added to the scores by an ALiBi unit.

The attention of every layer is handed a tensor of biases and calls its ``baddbmm`` for the scores with the biases
added. What is handed to it instead makes the scores and sends them through the unit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.errors import InputError
from ropewalk.geometry.alibi import AlibiGeometry
from ropewalk_sim.alibi.unit import AlibiUnit
from ropewalk_sim.errors import EngineError

from .design import folder_of
from .extra import torch_module
from .session import Engine, Session
from .source import Source
from .unit import UnitCalls

TOLERANCE = 1e-5
"""How far, relative to the largest bias, the model's own biases may be from the geometry's: they are float32."""


class Biases:
    """In the place of a layer's tensor of biases: adds them by the unit."""

    def __init__(self, unit: UnitCalls, layer: int) -> None:
        self._unit, self._layer = unit, layer

    def baddbmm(self, batch1: Any, batch2: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
        """``alpha * batch1 @ batch2`` and the biases: ``[heads, queries, keys]``."""
        if beta != 1.0:
            raise EngineError(f"the model multiplies its biases with {beta}, and the unit with 1")
        scores = (batch1 @ batch2) * alpha
        heads, queries, keys = scores.shape
        if heads != self._unit.unit.design.geometry.heads:  # type: ignore[union-attr]
            raise EngineError("one text at a time: the unit has no place for a batch of several")
        arrays = {
            "score": scores.detach().double().numpy(),
            "query_position": np.arange(keys - queries, keys),
            "key_start": np.array(0),
        }
        out = self._unit(self._layer, "score", arrays)
        return torch_module().from_numpy(out).to(scores.dtype)


def check_biases(geometry: AlibiGeometry, own: Any) -> None:
    """Compare the model's biases ``[heads, 1, keys]`` with the geometry's; raises ``InputError`` where they differ."""
    found = own.detach().double().numpy()
    wanted = np.array(geometry.slopes)[:, None, None] * np.arange(found.shape[-1])
    if found.shape != wanted.shape or np.abs(found - wanted).max(initial=0.0) > TOLERANCE * max(1.0, wanted.max()):
        raise InputError("the model's biases are not those of its configuration")


@contextmanager
def replaced_biases(model: Any, geometry: AlibiGeometry, unit: UnitCalls) -> Iterator[None]:
    """The biases of every layer added by ``unit``, until the end of the ``with``."""

    def enter(
        module: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        check_biases(geometry, options["alibi"])
        return arguments, options | {"alibi": Biases(unit, int(module.layer_idx))}

    layers = [one for one in model.modules() if type(one).__name__ == "BloomAttention"]
    if not layers:
        raise InputError(f"{type(model).__name__} has no attention of BLOOM's")
    handles = [layer.register_forward_pre_hook(enter, with_kwargs=True) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class AlibiSession(Session[AlibiGeometry, UnitCalls]):
    """A BLOOM model that was loaded. The mode of its biases is ``absolute``."""

    def __init__(self, source: Source, geometry: AlibiGeometry) -> None:
        if geometry.mode != "absolute" or geometry.scale_after != 1:
            raise InputError(f"biases of the mode {geometry.mode} cannot be replaced: only BLOOM's absolute ones")
        super().__init__(source, geometry)

    def engine(self, engine: Engine) -> UnitCalls | None:
        """See the base."""
        if engine.name == "float":
            return None
        design = AlibiDesign(
            geometry=self.geometry, lanes=4, data_width=engine.widths.data, fraction_bits=engine.fraction_bits
        )
        return UnitCalls(AlibiUnit(design, folder_of(design)), verilog=engine.name == "verilator")

    @contextmanager
    def replaced(self, engine: UnitCalls) -> Iterator[None]:
        """See the base."""
        with replaced_biases(self.loaded.model, self.geometry, engine):
            yield
