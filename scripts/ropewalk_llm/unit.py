"""One of the other units (learned positions, ALiBi) as a part of a model: floats in and out, and what was seen."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from ropewalk_sim.errors import EngineError
from ropewalk_sim.units.unit import Unit, compare_octets

from .rotation import LayerErrors, Statistics


class UnitCalls:
    """Runs arrays through ``unit``.

    Parameters
    ----------
    verilog
        Whether the Verilog computes; what it gives is compared with the model bit for bit. Else the model alone.
    """

    def __init__(self, unit: Unit, *, verilog: bool) -> None:
        self.unit, self.verilog = unit, verilog
        self.statistics = Statistics()
        self.saturated = 0

    def facts(self) -> dict[str, Any]:
        """What the unit is, for the JSON document."""
        return {"data_width": self.unit.design.data_width, "fraction_bits": self.unit.design.fraction_bits}

    def __call__(self, layer: int, name: str, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """The array ``name`` of the result of ``arrays``, which are those of ``ropewalk run``, of floats."""
        packed = self.unit.pack(arrays)
        expected = found = self.unit.run("model", packed.stream)
        seen = self.statistics.layers.setdefault(layer, LayerErrors())
        if self.verilog:
            found = self.unit.run("verilator", packed.stream)
            compared = compare_octets(self.unit.octets(expected), self.unit.octets(found))
            self.statistics.differing_bits += compared.differing_bits
            if compared.first is not None and self.statistics.first_difference is None:
                self.statistics.first_difference = f"layer {layer}: {compared.first}"
        result = self.unit.unpack(packed, found)
        if result["error"].any():
            raise EngineError(f"layer {layer}: the unit gave {int(result['error'].sum())} of its rows back unchanged")
        data, values = self.unit.design.data, result[name] / packed.scale
        self.saturated += int(np.count_nonzero((values <= data.minimum) | (values >= data.maximum)))
        seen.calls += 1
        seen.worst_lsb = max(seen.worst_lsb, self.unit.errors(packed.stream, found)[1].worst_lsb)
        self.statistics.rotations += 1
        self.statistics.elements += values.size
        return result[name]
