"""Writing GGUF files with the ``gguf`` package's own writer, as llama.cpp's converters do."""

import math

import gguf
import numpy as np
import pytest
from ropewalk.models import read_model

KINDS = {
    bool: gguf.GGUFValueType.BOOL,
    int: gguf.GGUFValueType.UINT32,
    float: gguf.GGUFValueType.FLOAT32,
    str: gguf.GGUFValueType.STRING,
    list: gguf.GGUFValueType.ARRAY,
}


def write_gguf(path, architecture, keys, tensors=None, **arguments):
    """A file with ``keys`` (without the architecture before them where they have none) and ``tensors``."""
    writer = gguf.GGUFWriter(path, architecture, **arguments)
    for key, value in keys.items():
        name = key if key.startswith(("general.", "tokenizer.", "split.")) else f"{architecture}.{key}"
        if name == "general.alignment":
            writer.add_custom_alignment(value)
        elif isinstance(value, list):
            writer.add_array(name, value)
        else:
            writer.add_key_value(name, value, KINDS[type(value)])
    for name, values in (tensors or {}).items():
        writer.add_tensor(name, np.asarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def llama3_divisors(rope, head_dim):
    """``rope_freqs.weight`` as llama.cpp's ``conversion/llama.py`` computes it, in float32 at the end."""
    factor, low, high = rope["factor"], rope["low_freq_factor"], rope["high_freq_factor"]
    original = rope["original_max_position_embeddings"]
    divisors = []
    for pair in range(head_dim // 2):
        wave = 2 * math.pi * rope["rope_theta"] ** (2 * pair / head_dim)
        if wave < original / high:
            divisors.append(1.0)
        elif wave > original / low:
            divisors.append(factor)
        else:
            smooth = (original / wave - low) / (high - low)
            divisors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(divisors, dtype=np.float32)


def converted(config):
    """The keys and tensors of a Hugging Face configuration, as ``conversion/base.py`` writes them."""
    rope = dict(config.get("rope_parameters") or {})
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    keys = {
        "block_count": config["num_hidden_layers"],
        "context_length": config["max_position_embeddings"],
        "embedding_length": config.get("hidden_size", heads * head_dim),
        "attention.head_count": heads,
        "attention.head_count_kv": config.get("num_key_value_heads", heads),
        "attention.key_length": head_dim,
    }
    tensors = {}
    if "rope_theta" in rope:
        keys["rope.freq_base"] = float(rope["rope_theta"])
    kind = rope.get("rope_type", "default")
    fraction = rope.get("partial_rotary_factor")
    if fraction is not None:
        keys["rope.dimension_count"] = int(head_dim * fraction)
    if kind in ("linear", "yarn"):
        keys |= {"rope.scaling.type": kind, "rope.scaling.factor": float(rope["factor"])}
    if kind == "yarn":
        keys["rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]
        attention_factor = rope.get("attention_factor", rope.get("attn_factor"))
        if attention_factor is not None:
            keys["rope.scaling.yarn_attn_factor"] = attention_factor
        for beta in ("beta_fast", "beta_slow"):
            if beta in rope:
                keys[f"rope.scaling.yarn_{beta}"] = float(rope[beta])
    if kind == "llama3":
        tensors["rope_freqs.weight"] = llama3_divisors(rope, head_dim)
    if kind == "longrope":  # conversion/phi.py
        original = rope["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / original
        keys |= {
            "rope.scaling.type": "longrope",
            "rope.scaling.original_context_length": original,
            "rope.scaling.attn_factor": math.sqrt(1 + math.log(scale) / math.log(original)),
            "rope.dimension_count": head_dim,
        }
        for name in ("long", "short"):
            tensors[f"rope_factors_{name}.weight"] = np.array(rope[f"{name}_factor"], dtype=np.float32)
    if "mrope_section" in rope:
        sections = [*rope["mrope_section"], 0, 0][:4]
        keys["rope.dimension_sections"] = sections
    if config.get("sliding_window") is not None:
        keys["attention.sliding_window"] = config["sliding_window"]
    return keys, tensors


@pytest.fixture
def write(tmp_path):
    """A function that writes ``model.gguf``."""

    def write(architecture, keys, tensors=None, **arguments):
        return write_gguf(tmp_path / "model.gguf", architecture, keys, tensors, **arguments)

    return write


@pytest.fixture
def read(write):
    """A function that writes keys as a file and reads its geometry; ``arguments`` are those of ``read_model``."""

    def read(architecture, keys, tensors=None, **arguments):
        return read_model(str(write(architecture, keys, tensors)), **arguments)

    return read


@pytest.fixture
def convert():
    """:func:`converted`."""
    return converted
