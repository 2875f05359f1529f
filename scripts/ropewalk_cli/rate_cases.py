"""The shapes of which ``scripts/bench_rate`` takes the rate: models with the slot changing on every token."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ropewalk.design import Design
from ropewalk.geometry import only_rotary
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk.geometry.several import with_variants
from ropewalk.models import read_model

QWEN2_VL_7B = {
    "model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28, "num_key_value_heads": 4,
    "num_hidden_layers": 28, "intermediate_size": 18944, "vocab_size": 152064, "max_position_embeddings": 32768,
    "rope_theta": 1000000.0, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
}  # fmt: skip
STABLELM_3B = {
    "model_type": "stablelm", "hidden_size": 2560, "num_attention_heads": 32, "num_key_value_heads": 32,
    "num_hidden_layers": 32, "intermediate_size": 6912, "vocab_size": 50304, "max_position_embeddings": 4096,
    "rope_theta": 10000.0, "partial_rotary_factor": 0.25,
}  # fmt: skip

INTERLEAVED = {"input_pairing": "interleaved", "output_pairing": "interleaved"}

Model = str | dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RateCase:
    """An engine and the tokens that stream through it.

    Parameters
    ----------
    name
        What the table calls it.
    model, beside
        The model in slot 0 and on, and one whose variants stand behind its own where it has only one: presets, or
        what a ``config.json`` says.
    options
        Of :class:`~ropewalk.design.Design`; ``lanes`` is one. The element orders are the model's where none is given.
    heads
        Query and key heads of a token, where they are not the model's: what one of several engines gets of them.
    """

    name: str
    model: Model
    options: dict[str, Any]
    beside: Model | None = None
    heads: tuple[int, int] | None = None

    def design(self) -> Design:
        """The engine."""
        geometry = geometry_of(self.model)
        if self.heads is not None:
            geometry = replace(geometry, query_heads=self.heads[0], key_heads=self.heads[1])
        if self.beside is not None:
            other = geometry_of(self.beside)
            shaped = replace(other, query_heads=geometry.query_heads, key_heads=geometry.key_heads)
            geometry = with_variants(geometry, "beside", shaped)
        return Design(geometry=geometry, **self.options)


def geometry_of(model: Model) -> RotaryGeometry:
    """The geometry of a preset, or of what a configuration says."""
    if isinstance(model, str):
        return only_rotary(read_model(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(model))
        return only_rotary(read_model(str(path)))


def _at(lanes: int, **options: Any) -> dict[str, Any]:
    return {"lanes": lanes, **options}


FULL_RATE = tuple(
    case
    for lanes in (4, 1)
    for case in (
        RateCase(name="Llama 3.1 8B", model="llama-3.1-8b", beside="llama-3-8b", options=_at(lanes)),
        RateCase(name="Llama 3.1 8B, values", model="llama-3.1-8b", beside="llama-3-8b",
                 options=_at(lanes, value_heads=8)),
        RateCase(name="Gemma 3 270M", model="gemma-3-270m", options=_at(lanes)),
        RateCase(name="Qwen2-VL 7B", model=QWEN2_VL_7B, beside="qwen2.5-7b", options=_at(lanes)),
    )
)  # fmt: skip
"""What must take a beat in every clock."""

BY_FORMULA = (
    RateCase(name="Gemma 3 270M", model="gemma-3-270m", options=_at(8)),
    RateCase(name="Gemma 3 270M, table", model="gemma-3-270m", options=_at(8, source="table", positions=32)),
    RateCase(name="Gemma 3 270M, 4 clocks per pair", model="gemma-3-270m", options=_at(4, clocks_per_pair=4)),
    RateCase(name="Gemma 2B (MQA)", model="gemma-2b", beside="gemma-7b", options=_at(16)),
    RateCase(name="DeepSeek-V3 (MLA)", model="deepseek-v3", beside="kimi-k2", options=_at(4)),
    RateCase(name="DeepSeek-V3, 1 query head", model="deepseek-v3", beside="kimi-k2", options=_at(4), heads=(1, 1)),
    RateCase(name="StableLM 3B, 20 of 80", model=STABLELM_3B, beside=STABLELM_3B | {"rope_theta": 5e5},
             options=_at(2)),
    RateCase(name="StableLM 3B, 1 head, interleaved", model=STABLELM_3B, beside=STABLELM_3B | {"rope_theta": 5e5},
             options=_at(8, **INTERLEAVED), heads=(1, 1)),
    RateCase(name="Falcon 7B, 1 head", model="falcon-7b", beside="falcon-40b", options=_at(8), heads=(1, 1)),
    RateCase(name="Qwen2.5 7B", model="qwen2.5-7b-yarn", beside="qwen2.5-7b", options=_at(32)),
    RateCase(name="Qwen2.5 7B, half of it, interleaved", model="qwen2.5-7b-yarn", beside="qwen2.5-7b", heads=(14, 2),
             options=_at(32, **INTERLEAVED)),
)  # fmt: skip
"""What the formula of ``docs/ports.md`` gives for other shapes, most of them below 1."""

LATENCY = tuple(
    RateCase(name=name, model=model, options=_at(4, **INTERLEAVED))
    for name, model in (
        ("Llama 3.1 8B", "llama-3.1-8b"), ("Gemma 3 270M", "gemma-3-270m"), ("Qwen2-VL 7B", QWEN2_VL_7B),
        ("GLM-4 9B", "glm-4-9b"),
    )
)  # fmt: skip
"""Engines of which the first rotated beat must come soon: interleaved order, 4 lanes."""
