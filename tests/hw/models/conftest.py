"""Reading a configuration that a test makes up, and the configurations of the golden vectors."""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.models import read_model

DATA = Path(__file__).parents[2] / "data"
MULTI_AXIS = {"qwen2_vl_7b_mrope": "qwen2_vl_text", "qwen3_vl_8b_imrope": "qwen3_vl_text"}


@pytest.fixture
def read(tmp_path):
    """A function that writes a configuration and reads it; keyword arguments are those of ``read_model``."""

    def read(config, **arguments):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return read_model(str(path), **arguments)

    return read


@pytest.fixture(scope="session")
def golden():
    """Every array of the software stacks, by name."""
    with np.load(DATA / "golden_rope.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="session")
def golden_config():
    """A function: the configuration file, in older or newer keys, that gave the golden vectors of a name."""
    configurations = json.loads((DATA / "golden_rope.json").read_text())["configurations"]

    def config(name, *, old=False):
        golden = configurations[name]
        if name in MULTI_AXIS:
            parameters = {"rope_type": "default", "rope_theta": golden["rope_theta"]}
            parameters["mrope_section"] = golden["mrope_section"]
            golden = golden | {"n_heads": 28, "n_kv_heads": 4, "max_position_embeddings": 32768}
        else:
            parameters = dict(golden["rope_parameters"])
        family = {"llama4": "llama4_text"}.get(golden.get("family"), golden.get("family")) or MULTI_AXIS[name]
        made = {
            "model_type": family,
            "num_attention_heads": golden["n_heads"],
            "num_key_value_heads": golden["n_kv_heads"],
            "num_hidden_layers": 3,
            "max_position_embeddings": golden["max_position_embeddings"],
            "vocab_size": 32000,
        }
        made["qk_rope_head_dim" if family == "deepseek_v3" else "head_dim"] = golden["head_dim"]
        if not old:
            return made | {"rope_parameters": parameters}
        made["rope_theta"] = parameters.pop("rope_theta")
        fraction = parameters.pop("partial_rotary_factor", None)
        if fraction is not None:
            made["partial_rotary_factor"] = fraction
        parameters["type"] = parameters.pop("rope_type")
        if golden.get("mrope_section"):
            parameters["type"] = "mrope"
        return made | {"rope_scaling": parameters if parameters != {"type": "default"} else None}

    return config
