"""A model's own rotation, replaced by an engine's, for as long as a ``with`` lasts.

The attention of the supported families calls ``apply_rotary_pos_emb(q, k, cos, sin)`` of its own module, once per
layer and forward pass. That function, and nothing else, is replaced. Which positions and which variant a call is for is
not guessed: the model's rotary module is watched as it makes cos and sin from position numbers, and these very tensors
come back in the call; the attention module says which layer it is.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk_sim.errors import EngineError
from ropewalk_sim.exact import exact_cosine_sine, exact_turns

from .rotation import Floats

Rotate = Callable[[int, int, Floats, Floats, NDArray[np.int64]], tuple[Floats, Floats]]
"""Given the layer, the slot, q and k ``[tokens, heads, head_dim]`` and the positions ``[tokens]``: q and k, rotated."""

FUNCTION = "apply_rotary_pos_emb"

TOLERANCE, DRIFT = 1e-3, 2.0**-21
"""How far the model's own cos and sin may be from the exact ones, and what position adds to that: they are float32."""

TRIED = (0, 1, 2, 3, 5, 10, 100, 1_000, 4_095)
"""Positions at which they are compared before anything runs, as far as the model has them, and its last one."""

MOST_TRIED = 1 << 17


class Made(NamedTuple):
    """What a rotary module made: the cosines, from these positions, for layers of this type (None: of every type)."""

    cosine: Any
    position: Any
    layer_type: str | None


class Parts(NamedTuple):
    """The parts of a model that are watched, and the module whose function is replaced."""

    rotary: list[Any]
    attention: list[Any]
    namespace: Any


def parts_of(model: Any) -> Parts:
    """Find them; raises ``InputError`` for a model that does not have them."""
    modules = list(model.modules())
    attention = [one for one in modules if type(one).__name__.endswith("Attention") and hasattr(one, "layer_idx")]
    namespaces = {type(one).__module__ for one in attention}
    namespace = sys.modules[namespaces.pop()] if len(namespaces) == 1 else None
    rotary = [one for one in modules if type(one).__name__.endswith("RotaryEmbedding")]
    if namespace is None or not hasattr(namespace, FUNCTION) or not rotary:
        raise InputError(f"{type(model).__name__} does not rotate by a function {FUNCTION} of its own module")
    return Parts(rotary=rotary, attention=attention, namespace=namespace)


class Tracker:
    """Knows, at each call, the layer, its slot, and the positions; and checks that cos and sin are the geometry's."""

    def __init__(self, geometry: RotaryGeometry) -> None:
        self.geometry = geometry
        self.layer: int | None = None
        self._slots = {variant.name: slot for slot, variant in enumerate(geometry.variants)}
        self._made: list[Made] = []
        self._checked: list[Any] = []

    def entering(self, module: Any, *_: Any) -> None:
        """A layer's attention begins."""
        self.layer = int(module.layer_idx)

    def made(self, _: Any, arguments: tuple[Any, ...], options: dict[str, Any], output: Any) -> None:
        """A rotary module made cos and sin."""
        named = dict(zip(("x", "position_ids", "layer_type"), arguments, strict=False)) | options
        self._made = [*self._made[-7:], Made(output[0], named["position_ids"], named.get("layer_type"))]

    def call(self, cosine: Any, sine: Any) -> tuple[int, int, NDArray[np.int64]]:
        """The layer, the slot and the positions ``[batch, tokens]`` of a call with these tensors."""
        made = next((one for one in reversed(self._made) if one.cosine is cosine), None)
        if made is None or self.layer is None:
            raise EngineError(f"{FUNCTION} was called with angles that no rotary module of the model made")
        slot = self.slot(self.layer, made.layer_type)
        position = made.position.detach().numpy().astype(np.int64)
        if not any(one is cosine for one in self._checked):
            check_angles(self.geometry, slot, position, cosine.detach().numpy(), sine.detach().numpy())
            self._checked = [*self._checked[-7:], cosine]
        return self.layer, slot, position

    def slot(self, layer: int, layer_type: str | None) -> int:
        """The slot of a layer, by the geometry; it must be of the type for which the angles were made."""
        layers, variants = self.geometry.layers, self.geometry.variants
        name = layers[layer] if layers is not None and layer < len(layers) else None
        if name is None and len(variants) == 1 and layers is None:
            name = variants[0].name
        if name is None:
            raise EngineError(f"layer {layer} rotates, and the model's geometry has no variant for it")
        if layer_type is not None and len(variants) > 1 and layer_type != name:
            raise EngineError(f"layer {layer} is of variant {name} by its geometry, and the model takes {layer_type}")
        return self._slots[name]


def check_angles(
    geometry: RotaryGeometry, slot: int, position: NDArray[np.int64], cosine: NDArray, sine: NDArray
) -> None:
    """Compare what the model rotates by, ``[batch, tokens, rotary_dim]``, with the exact angles of the geometry.

    Raises
    ------
    InputError
        If they are not the same rotation: the engine would compute another model.
    """
    variant, shape = geometry.variants[slot], geometry.of(slot)
    if cosine.shape[-1] != shape.rotary_dim or shape.pairing != "half":
        raise InputError(
            f"variant {variant.name}: the model turns {cosine.shape[-1]} elements in halves, and its configuration "
            f"says {shape.rotary_dim}, {shape.pairing}"
        )
    turns = exact_turns(variant.inverse_frequency, position)
    allowed = TOLERANCE + DRIFT * position[..., None]
    for name, found, exact in zip(("cos", "sin"), (cosine, sine), exact_cosine_sine(turns), strict=True):
        wanted = np.concatenate([exact, exact], axis=-1) * variant.amplitude
        wrong = np.abs(found - wanted) > allowed
        if wrong.any():
            batch, token, element = (int(place) for place in np.argwhere(wrong)[0])
            raise InputError(
                f"the model does not rotate as its configuration says: variant {variant.name}, position "
                f"{int(position[batch, token])}, pair {element % turns.shape[-1]}: its {name} is "
                f"{float(found[batch, token, element]):.6f}, and should be {float(wanted[batch, token, element]):.6f}"
            )


def check_model(model: Any, geometry: RotaryGeometry, torch: Any) -> None:
    """Compare the model's own angles with the geometry, for each of its variants, before anything runs.

    Raises
    ------
    InputError
        If they differ, or the model has no such parts.
    """
    parts = parts_of(model)
    rotary = parts.rotary[0]
    for slot, variant in enumerate(geometry.variants):
        last = min(variant.max_position, MOST_TRIED) - 1
        position = np.array([[one for one in sorted({*TRIED, last}) if one <= last]])
        cosine, sine = own_angles(rotary, geometry, slot, position, torch)
        check_angles(geometry, slot, position, cosine.numpy(), sine.numpy())


def own_angles(
    rotary: Any, geometry: RotaryGeometry, slot: int, position: NDArray[np.int64], torch: Any
) -> tuple[Any, Any]:
    """cos and sin of the model's own rotary module, float32 of torch, for the variant in ``slot``."""
    typed = "layer_type" in inspect.signature(type(rotary).forward).parameters
    options = {"layer_type": geometry.variants[slot].name} if typed else {}
    with torch.no_grad():
        return rotary(torch.zeros(1, 1, 1), torch.from_numpy(position), **options)


@contextmanager
def replaced_rotation(model: Any, geometry: RotaryGeometry, rotation: Rotate, torch: Any) -> Iterator[None]:
    """Every rotation of ``model``, whose geometry this is, by ``rotation``, until the end of the ``with``."""
    parts, tracker = parts_of(model), Tracker(geometry)

    def apply(q: Any, k: Any, cos: Any, sin: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        layer, slot, position = tracker.call(cos, sin)
        batch, _, tokens, _ = q.shape
        flat = np.broadcast_to(position, (batch, tokens)).reshape(-1)
        out = rotation(layer, slot, _heads(q), _heads(k), flat)
        first, second = (
            torch.from_numpy(values.reshape(batch, tokens, *values.shape[1:])).transpose(1, 2).to(given.dtype)
            for values, given in zip(out, (q, k), strict=True)
        )
        return first, second

    with ExitStack() as undo:
        for module in parts.rotary:
            undo.callback(module.register_forward_hook(tracker.made, with_kwargs=True).remove)
        for module in parts.attention:
            undo.callback(module.register_forward_pre_hook(tracker.entering).remove)
        undo.callback(setattr, parts.namespace, FUNCTION, getattr(parts.namespace, FUNCTION))
        setattr(parts.namespace, FUNCTION, apply)
        yield


def _heads(tensor: Any) -> NDArray[np.float64]:
    """``[batch, heads, tokens, head_dim]`` of torch as float64 ``[batch * tokens, heads, head_dim]``."""
    moved = tensor.detach().transpose(1, 2)
    return moved.reshape(-1, *moved.shape[2:]).double().numpy()
