"""The golden vectors (``tests/data/golden_rope.md``), and the configuration file that a user would have for each."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "data"
META = json.loads((DATA / "golden_rope.json").read_text())
CONFIGURATIONS: dict[str, dict[str, Any]] = META["configurations"]
POSITIONS = np.array(META["positions"])
RAW = {
    "raw_ext0_fs025": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0},
    "raw_ext1_fs025_octx4096": {
        "rope_type": "yarn",
        "rope_theta": 10000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 4096,
    },
    "raw_attn07_fs1": {"rope_type": "default", "rope_theta": 10000.0},
}
"""What the parameters that llama.cpp was given directly (``llama_cpp_raw`` of the JSON file) are called elsewhere."""

RAW_AMPLITUDE = {"raw_attn07_fs1": 0.7}
_MULTI_AXIS = {"qwen2_vl_7b_mrope": "qwen2_vl_text", "qwen3_vl_8b_imrope": "qwen3_vl_text"}


@cache
def arrays() -> dict[str, np.ndarray]:
    """Every array by its name."""
    found = {}
    for file in ("golden_rope.npz", "golden_rope_keys.npz"):
        with np.load(DATA / file) as some:
            found |= dict(some)
    return found


def parameters_of(name: str) -> dict[str, Any]:
    """``rope_parameters`` as the software was given them."""
    if name in RAW:
        return RAW[name]
    known = CONFIGURATIONS[name]
    if name in _MULTI_AXIS:
        return {key: known[key] for key in ("rope_theta", "mrope_section")} | {"rope_type": "default"}
    return dict(known["rope_parameters"])


def known_of(name: str) -> dict[str, Any]:
    """What the JSON file says of a configuration; of the raw ones, what it says of the model they are based on."""
    return CONFIGURATIONS["llama2_7b" if name in RAW else name]


def config_of(name: str) -> dict[str, Any]:
    """A ``config.json`` in Hugging Face's keys."""
    known = known_of(name)
    family = _MULTI_AXIS.get(name) or {"llama4": "llama4_text"}.get(known["family"], known["family"])
    return {
        "model_type": family,
        "num_attention_heads": known.get("n_heads", 28),
        "num_key_value_heads": known.get("n_kv_heads", 4),
        "num_hidden_layers": 3,
        "max_position_embeddings": known.get("max_position_embeddings", 32768),
        ("qk_rope_head_dim" if family == "deepseek_v3" else "head_dim"): known["head_dim"],
        "rope_parameters": parameters_of(name),
    }


def inputs_of(name: str) -> np.ndarray:
    """The vectors that were rotated: doubles ``[heads, head_dim]``, queries first. llama.cpp was given the queries."""
    base = "llama2_7b" if name in RAW else name
    q = arrays()[f"hf/{base}/q"].reshape(-1, known_of(name)["head_dim"]).astype(float)
    key = arrays().get(f"hf/{base}/k")
    return q if key is None else np.concatenate([q, key.astype(float)])


def result_of(name: str, stack: str, suffix: str = "f32") -> np.ndarray:
    """What a stack made of them: doubles ``[tokens, heads, head_dim]``; of llama.cpp the query heads only."""
    parts = [
        arrays()[key] for head in "qk" if (key := f"{stack}/{name}/{head}_rot_{suffix}") in arrays()
    ]  # [heads, tokens, head_dim] each
    if suffix == "bf16":
        parts = [(part.astype(np.uint32) << 16).view(np.float32) for part in parts]
    return np.concatenate(parts).astype(float).swapaxes(0, 1)
