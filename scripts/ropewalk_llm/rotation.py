"""q and k of a layer through an engine: quantised, rotated, and given back as numbers. No torch in here.

Rotation is linear, so the scale of a tensor, of a head, or of one head of one token is nobody's business but the
quantiser's: the engine sees words, and what comes out has the same scale.
"""

import math
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from ropewalk.design import Design
from ropewalk_sim.element_order import moved
from ropewalk_sim.errors import EngineError
from ropewalk_sim.exact import exact_rotation, exact_turns
from ropewalk_sim.model import rotate, rows
from ropewalk_sim.quantise import pair_scales, quantise

Floats = NDArray[np.float64]
Words = NDArray[np.int64]
ScalePer = Literal["tensor", "head", "vector"]

SCALE_AXES: Mapping[ScalePer, tuple[int, ...]] = {"tensor": (0, 1, 2), "head": (0, 2), "vector": (2,)}
"""The axes of ``[tokens, heads, head_dim]`` that share a scale."""

KEPT_ANGLES = 16
"""Rows and exact angles of so many different lists of positions are kept: layers ask for the same ones."""


def scales_of(values: Floats, per: ScalePer, design: Design, slot: int) -> Floats:
    """The value of one LSB for ``values [tokens, heads, head_dim]``, in the same axes, of which some have length 1.

    Powers of two, the smallest at which nothing can saturate, however it turns: by the longest pair and the largest
    element (:func:`ropewalk_sim.quantise.pair_scales`).
    """
    largest = np.abs(values).max(axis=SCALE_AXES[per], keepdims=True, initial=0.0)
    # The length of pairs is taken in units of the largest element, so that no square overflows or vanishes.
    pairs = pairs_of(design, slot, values / np.where(largest == 0.0, 1.0, largest), design.shapes[slot].pairing)
    growth = np.sqrt(np.einsum("thpe,thpe->thp", pairs, pairs).max(axis=SCALE_AXES[per], keepdims=True, initial=0.0))
    return pair_scales(
        np.where(largest == 0.0, math.sqrt(2.0), growth),
        largest,
        design.variants[slot].amplitude,
        design.data,
        design.coefficient,
    )


def pairs_of(design: Design, slot: int, values: Any, pairing: str) -> Any:
    """The pairs of ``values [tokens, heads, head_dim]`` that ``slot`` rotates, ``[tokens, heads, pairs, 2]``."""
    shape = design.shapes[slot]
    inside = moved(values, design, slot, pairing, "interleaved")[..., shape.rotated]
    return inside.reshape(*inside.shape[:2], shape.pairs, 2)


class Hardware(Protocol):
    """The emitted Verilog in a simulator."""

    def rotate(self, slot: int, q: Words, k: Words, position: NDArray[np.int64]) -> tuple[Words, Words]:
        """Words ``[tokens, heads, head_dim]`` in the model's element order, all of ``slot``, rotated.

        Raises ``EngineError`` where the engine fails or gives a token back unrotated.
        """
        ...


@dataclass
class LayerErrors:
    """What was seen of one layer: how often it was called, and the worst error against the exact rotation, in LSB."""

    calls: int = 0
    worst_lsb: float = 0.0


@dataclass
class Statistics:
    """What the rotations of a run did.

    ``rotations`` counts tensors that went through the engine. ``differing_bits`` is the Verilog against the model, and
    ``first_difference`` where the first such bit was.
    """

    rotations: int = 0
    elements: int = 0
    differing_bits: int = 0
    first_difference: str | None = None
    layers: dict[int, LayerErrors] = field(default_factory=dict)

    @property
    def worst_lsb(self) -> float:
        """Of all layers."""
        return max((layer.worst_lsb for layer in self.layers.values()), default=0.0)


class Rotation:
    """Rotates tensors of a model by the engine of ``design``.

    Parameters
    ----------
    hardware
        The Verilog. What it gives is used, and compared with the model bit for bit. None: the model alone.
    per
        What shares a scale.
    """

    def __init__(self, design: Design, *, hardware: Hardware | None = None, per: ScalePer = "tensor") -> None:
        self.design = design
        self.per: ScalePer = per
        self.statistics = Statistics()
        self._hardware = hardware
        self._angles: OrderedDict[tuple[int, bytes], tuple[Words, Floats]] = OrderedDict()

    @property
    def verilog(self) -> bool:
        """Whether the Verilog computes."""
        return self._hardware is not None

    def facts(self) -> dict[str, Any]:
        """What the engine is, for the JSON document."""
        return {
            "data_width": self.design.data_width,
            "coefficient_width": self.design.coefficient_width,
            "phase_bits": self.design.phase_bits,
            "rounding": self.design.rounding,
            "scale_per": self.per,
        }

    def __call__(
        self, layer: int, slot: int, q: Floats, k: Floats, position: NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """``q`` and ``k``, ``[tokens, heads, head_dim]`` in the model's order, rotated to ``position [tokens]``."""
        seen = self.statistics.layers.setdefault(layer, LayerErrors())
        scales = [scales_of(values, self.per, self.design, slot) for values in (q, k)]
        words = [quantise(values, scale, self.design.data)[0] for values, scale in zip((q, k), scales, strict=True)]
        made, turns = self._angles_of(slot, position)
        expected = [self._model(slot, one, made) for one in words]
        found = expected if self._hardware is None else list(self._hardware.rotate(slot, words[0], words[1], position))
        for name, given, want, have in zip("qk", words, expected, found, strict=True):
            if have is not want:
                self._compare(layer, name, want, have)
            seen.calls += 1
            seen.worst_lsb = max(seen.worst_lsb, self._worst(slot, given, have, turns))
            self.statistics.rotations += 1
            self.statistics.elements += have.size
        first, second = (have * scale for have, scale in zip(found, scales, strict=True))
        return first, second

    def _angles_of(self, slot: int, position: NDArray[np.int64]) -> tuple[Words, Floats]:
        """The rows of the engine and the exact turns, at ``position``."""
        key = (slot, position.tobytes())
        if key not in self._angles:
            if position.size and int(position.max()) >= self.design.limits[slot]:
                raise EngineError(
                    f"position {int(position.max())} is past the engine's limit of {self.design.limits[slot]} positions"
                )
            turns = exact_turns(self.design.variants[slot].inverse_frequency, position)
            self._angles[key] = rows(self.design, slot, position), turns
        self._angles.move_to_end(key)
        while len(self._angles) > KEPT_ANGLES:
            self._angles.popitem(last=False)
        return self._angles[key]

    def _model(self, slot: int, words: Words, made: Words) -> Words:
        """What the fixed-point model gives for ``words``."""
        shape = self.design.shapes[slot]
        turned = rotate(self.design, pairs_of(self.design, slot, words, shape.pairing), made[:, None])
        out = moved(words, self.design, slot, shape.pairing, "interleaved").copy()
        out[..., shape.rotated] = turned.reshape(*turned.shape[:2], -1)
        return moved(out, self.design, slot, "interleaved", shape.output_pairing)

    def _worst(self, slot: int, given: Words, have: Words, turns: Floats) -> float:
        """The worst error of ``have`` against the exact rotation of the words ``given``, clipped as the engine does."""
        shape, data = self.design.shapes[slot], self.design.data
        pairs = pairs_of(self.design, slot, given, shape.pairing)
        exact = exact_rotation(pairs, turns[:, None], self.design.variants[slot].amplitude)
        found = pairs_of(self.design, slot, have, shape.output_pairing)
        return float(np.abs(found - np.clip(exact, data.minimum, data.maximum)).max(initial=0.0))

    def _compare(self, layer: int, name: str, want: Words, have: Words) -> None:
        """Count the bits in which the Verilog's words differ from the model's."""
        if have.shape != want.shape:
            raise EngineError(f"layer {layer}: {name} came back as {list(have.shape)} in place of {list(want.shape)}")
        changed = (want ^ have) & ((1 << self.design.data_width) - 1)
        bits = int(np.bitwise_count(changed).sum())
        if bits and self.statistics.first_difference is None:
            token, head, element = (int(place) for place in np.argwhere(changed)[0])
            self.statistics.first_difference = (
                f"layer {layer}, {name}, token {token}, head {head}, element {element}: "
                f"{int(have[token, head, element])} in place of {int(want[token, head, element])}"
            )
        self.statistics.differing_bits += bits
