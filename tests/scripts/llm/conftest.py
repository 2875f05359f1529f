"""Tiny models in folders, as transformers writes them, and the engine of one."""

import json

import numpy as np
import pytest
from ropewalk.models import read_model
from safetensors.numpy import save_file

LLAMA = {
    "model_type": "llama",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 64,
    "rope_theta": 10000.0,
    "vocab_size": 40,
}


@pytest.fixture
def folder(tmp_path):
    """Write a folder with a config.json (LLAMA with changes, or another type's own) and weights that nobody reads."""

    def write(name="model", weights="model.safetensors", **changes):
        place = tmp_path / name
        place.mkdir()
        (place / "config.json").write_text(json.dumps(changes if "model_type" in changes else LLAMA | changes))
        if weights.endswith(".safetensors"):
            save_file({"x": np.zeros(1, np.float32)}, place / weights)
        elif weights:
            (place / weights).write_bytes(b"\x80\x04N.")
        return place

    return write


@pytest.fixture
def geometry(folder):
    """The geometry of LLAMA."""
    return read_model(str(folder("geometry")))
