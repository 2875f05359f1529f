"""Long context: attention scores of real queries and keys when all positions are shifted.

RoPE is relative: a score depends on the distance of query and key alone, so the exact score is the same at every shift.
What differs from it is the arithmetic's doing.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ropewalk.errors import InputError
from ropewalk_sim.exact import exact_rotation, exact_turns

from .decode import logits
from .extra import torch_module
from .hooks import own_angles, parts_of, replaced_rotation
from .rotary import RotarySession
from .rotation import Floats, Rotation
from .session import Step

PROMPT = "What is the capital of France?"

MOST_SHIFT = (1 << 24) - 4096


def positions_of(text: str) -> tuple[int, ...]:
    """The shifts that an option names, separated by commas; raises ``InputError``."""
    shifts = []
    for word in text.split(","):
        if not word.strip().isdecimal() or not word.strip().isascii() or int(word.strip()[:12]) > MOST_SHIFT:
            raise InputError(f"--shift takes numbers from 0 to {MOST_SHIFT:,}, separated by commas, not {word[:40]!r}")
        shifts.append(int(word))
    return tuple(dict.fromkeys(shifts))


@dataclass(frozen=True, kw_only=True)
class Call:
    """q and k of a layer before they are rotated, ``[tokens, heads, head_dim]``, and the factor of its scores."""

    layer: int
    slot: int
    q: Floats
    k: Floats
    position: NDArray[np.int64]
    scaling: float


class Errors:
    """The worst and the root mean square of what was added."""

    def __init__(self) -> None:
        self.worst, self._squares, self._count = 0.0, 0.0, 0

    def add(self, difference: Floats) -> None:
        """Take these in."""
        self.worst = max(self.worst, float(np.abs(difference).max(initial=0.0)))
        self._squares += float((difference**2).sum())
        self._count += difference.size

    @property
    def rms(self) -> float:
        """The root of the mean square."""
        return math.sqrt(self._squares / self._count) if self._count else 0.0


def capture(session: RotarySession, prompt: str) -> list[Call]:
    """q and k of every layer as the float model reads ``prompt``."""
    calls: list[Call] = []
    model, geometry = session.loaded.model, session.geometry
    scaling = {int(one.layer_idx): float(one.scaling) for one in parts_of(model).attention}

    def take(layer: int, slot: int, q: Floats, k: Floats, position: NDArray[np.int64]) -> tuple[Floats, Floats]:
        calls.append(Call(layer=layer, slot=slot, q=q, k=k, position=position, scaling=scaling[layer]))
        return exact(session, slot, q, position), exact(session, slot, k, position)

    with replaced_rotation(model, geometry, take, torch_module()):
        logits(session.loaded, session.loaded.prompt(prompt))
    return calls


def exact(session: RotarySession, slot: int, values: Floats, position: NDArray[np.int64]) -> Floats:
    """``values [tokens, heads, head_dim]`` in halves, rotated by the exact angles, in float64."""
    variant, shape = session.geometry.variants[slot], session.geometry.of(slot)
    inside = values[..., shape.rotated]
    pairs = np.stack(np.split(inside, 2, axis=-1), axis=-1)
    turned = exact_rotation(pairs, exact_turns(variant.inverse_frequency, position)[:, None], variant.amplitude)
    out = values.copy()
    out[..., shape.rotated] = np.concatenate([turned[..., 0], turned[..., 1]], axis=-1)
    return out


def software(session: RotarySession, call: Call, position: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The same by the model's own float32 code."""
    torch, parts = torch_module(), parts_of(session.loaded.model)
    cosine, sine = own_angles(parts.rotary[0], session.geometry, call.slot, position[None], torch)
    given = [torch.from_numpy(values.astype(np.float32)).transpose(0, 1)[None] for values in (call.q, call.k)]
    turned = parts.namespace.apply_rotary_pos_emb(*given, cosine, sine)
    first, second = (one[0].transpose(0, 1).double().numpy() for one in turned)
    return first, second


def scores(call: Call, q: Floats, k: Floats) -> Floats:
    """The scores of every query with the keys up to it, as softmax takes them, flat."""
    every = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    found = np.einsum("qhd,khd->hqk", q, every) * call.scaling
    rows, columns = np.tril_indices(len(call.position))
    return found[:, rows, columns].ravel()


def measure(session: RotarySession, calls: list[Call], rotation: Rotation, shift: int) -> dict[str, float]:
    """The errors of the scores of all layers at one shift, of the engine and of the software."""
    engine, drift = Errors(), Errors()
    for call in calls:
        wanted = scores(call, *(exact(session, call.slot, values, call.position) for values in (call.q, call.k)))
        position = call.position + shift
        engine.add(scores(call, *rotation(call.layer, call.slot, call.q, call.k, position)) - wanted)
        drift.add(scores(call, *software(session, call, position)) - wanted)
    return {
        "shift": shift,
        "engine_worst": engine.worst,
        "engine_rms": engine.rms,
        "float32_worst": drift.worst,
        "float32_rms": drift.rms,
    }


def run_shift(session: RotarySession, request: Any, step: Step) -> dict[str, Any]:
    """The document of ``--shift``."""
    engine = request.engine_or("model")
    if engine.name == "float":
        raise InputError("--shift compares an engine with the float software: choose --engine model or verilator")
    prompt = PROMPT if request.prompt is None else request.prompt
    step("reading q and k of every layer")
    calls = capture(session, prompt)
    rotation = session.engine(engine)
    assert rotation is not None
    found = []
    for shift in request.shift:
        step(f"positions shifted by {shift:,}")
        found.append(measure(session, calls, rotation, shift))
    seen = rotation.statistics
    lines = [
        "Attention scores (as softmax takes them), error against the exact score:",
        f"{'shift':>10}  {'engine worst':>13} {'rms':>10}  {'float32 worst':>13} {'rms':>10}",
        *(
            f"{one['shift']:>10,}  {one['engine_worst']:>13.2e} {one['engine_rms']:>10.2e}  "
            f"{one['float32_worst']:>13.2e} {one['float32_rms']:>10.2e}"
            for one in found
        ),
    ]
    return {
        "engine": engine.name,
        "shifts": found,
        "shift_rotations": seen.rotations,
        "differing_bits": seen.differing_bits if rotation.verilog else None,
        "table": lines,
    }
