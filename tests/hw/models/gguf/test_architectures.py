"""Models of many architectures: their GGUF file means the same as their Hugging Face configuration.

The parameters are those of published configurations; the files are made as llama.cpp's converters make them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.models import read_model

DATA = Path(__file__).parents[3] / "data"
PHI_35 = json.loads((DATA / "golden_rope.json").read_text())["configurations"]["phi35_mini_longrope"]

FLOAT32 = 1.2e-7
"""How far a divisor that is kept as a 32-bit float may be off."""


def model(model_type, heads, key_heads, head_dim, positions, theta, layers=8, **rope):
    """A configuration in newer keys."""
    more = rope.pop("more", {})
    return {
        "model_type": model_type,
        "num_attention_heads": heads,
        "num_key_value_heads": key_heads,
        "head_dim": head_dim,
        "hidden_size": heads * head_dim,
        "num_hidden_layers": layers,
        "max_position_embeddings": positions,
        "rope_parameters": {"rope_theta": theta, "rope_type": "default"} | rope,
    } | more


def llama3(factor, low=1.0, high=4.0):
    return {
        "rope_type": "llama3",
        "factor": factor,
        "low_freq_factor": low,
        "high_freq_factor": high,
        "original_max_position_embeddings": 8192,
    }


def yarn(factor, original, **more):
    return {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original} | more


# name: architecture, configuration, pairing of the file's weights, relative error of the frequencies
SAME = {
    "LLaMA 1 7B": ("llama", model("llama", 32, 32, 128, 2048, 1e4), "interleaved", 0),
    "Llama 2 70B": ("llama", model("llama", 64, 8, 128, 4096, 1e4), "interleaved", 0),
    "LLaMA 2 7B 32K": (
        "llama",
        model("llama", 32, 32, 128, 32768, 1e4, rope_type="linear", factor=8.0),
        "interleaved",
        0,
    ),
    "Yarn Llama 2 7B 128k": ("llama", model("llama", 32, 32, 128, 131072, 1e4, **yarn(32.0, 4096)), "interleaved", 0),
    "Llama 3.1 8B": ("llama", model("llama", 32, 8, 128, 131072, 5e5, **llama3(8.0)), "interleaved", FLOAT32),
    "Llama 3.2 1B": ("llama", model("llama", 32, 8, 64, 131072, 5e5, **llama3(32.0)), "interleaved", FLOAT32),
    "Falcon3 1B": ("llama", model("llama", 8, 4, 256, 4096, 1000042.0), "interleaved", 0),
    "Mixtral 8x7B": ("llama", model("mixtral", 32, 8, 128, 32768, 1e6), "interleaved", 0),
    "Qwen2.5 7B with YaRN": ("qwen2", model("qwen2", 28, 4, 128, 131072, 1e6, **yarn(4.0, 32768)), "half", 0),
    "Qwen3 0.6B": ("qwen3", model("qwen3", 16, 8, 128, 40960, 1e6, more={"hidden_size": 1024}), "half", 0),
    "Qwen3 8B with the older key attn_factor": (
        "qwen3",
        model("qwen3", 32, 8, 128, 131072, 1e6, **yarn(4.0, 32768, attn_factor=0.8782488562869419)),
        "half",
        0,
    ),
    "Qwen3 235B": ("qwen3moe", model("qwen3_moe", 64, 4, 128, 262144, 5e6), "half", 0),
    "Phi 2": ("phi2", model("phi", 32, 32, 80, 2048, 1e4, partial_rotary_factor=0.4), "half", 0),
    "Phi 3 mini 4k": ("phi3", model("phi3", 32, 32, 96, 4096, 1e4), "half", 0),
    "Phi 3.5 mini": (
        "phi3",
        model("phi3", 32, 32, 96, 131072, 1e4) | {"rope_parameters": PHI_35["rope_parameters"]},
        "half",
        FLOAT32,
    ),
    "Gemma 2B": ("gemma", model("gemma", 8, 1, 256, 8192, 1e4), "half", 0),
    "Gemma 2 27B": (
        "gemma2",
        model("gemma2", 32, 16, 128, 8192, 1e4, 46, more={"hidden_size": 4608, "sliding_window": 4096})
        | {"query_pre_attn_scalar": 144},
        "half",
        0,
    ),
    "GPT-OSS 20B": (
        "gpt-oss",
        model("gpt_oss", 64, 8, 64, 131072, 1.5e5, **yarn(32.0, 4096, beta_fast=32.0, beta_slow=1.0, truncate=False))
        | {"sliding_window": 128},
        "half",
        0,
    ),
    "Pythia 6.9B": ("gptneox", model("gpt_neox", 32, 32, 128, 2048, 1e4, partial_rotary_factor=0.25), "half", 0),
    "GLM-4 9B": ("glm4", model("glm4", 32, 2, 128, 131072, 1e4, partial_rotary_factor=0.5), "interleaved", 0),
    "GLM-4.5": ("glm4moe", model("glm4_moe", 96, 8, 128, 131072, 1e6, partial_rotary_factor=0.5), "half", 0),
    "Command-R": ("command-r", model("cohere", 64, 64, 128, 8192, 8e6), "interleaved", 0),
    "Command-R7B": (
        "cohere2",
        model("cohere2", 32, 8, 128, 8192, 5e4, more={"sliding_window": 4096}),
        "interleaved",
        0,
    ),
    "OLMo 1B": ("olmo", model("olmo", 16, 16, 128, 2048, 1e4), "interleaved", 0),
    "OLMo 2 7B": ("olmo2", model("olmo2", 32, 32, 128, 4096, 5e5), "half", 0),
    "BitNet 2B": ("bitnet", model("bitnet", 20, 5, 128, 4096, 5e5), "half", 0),
    "StableLM 2": ("stablelm", model("stablelm", 32, 32, 64, 4096, 1e4, partial_rotary_factor=0.25), "half", 0),
    "StarCoder 2 3B": ("starcoder2", model("starcoder2", 24, 2, 128, 16384, 999999.4420358813), "half", 3e-8),
    "SmolLM3 3B": ("smollm3", model("smollm3", 16, 4, 128, 65536, 5e6, 36), "interleaved", 0),
    "EXAONE 4 32B": (
        "exaone4",
        model("exaone4", 40, 8, 128, 131072, 1e6, 64, **llama3(16.0), more={"sliding_window": 4096}),
        "half",
        FLOAT32,
    ),
    "Llama 4 Scout": (
        "llama4",
        model("llama4_text", 40, 8, 128, 10485760, 5e5, 48, **llama3(16.0, 1.0, 1.0)),
        "interleaved",
        FLOAT32,
    ),
    "Seed OSS 36B": ("seed_oss", model("seed_oss", 80, 8, 128, 524288, 1e7), "half", 0),
    "Granite 3.3 8B": ("granite", model("granite", 32, 8, 128, 131072, 1e7), "interleaved", 0),
    "Qwen2.5-VL 3B": (
        "qwen2vl",
        model("qwen2_5_vl_text", 16, 2, 128, 128000, 1e6, mrope_section=[16, 24, 24]),
        "half",
        0,
    ),
    "Qwen3-VL 30B": (
        "qwen3vlmoe",
        model("qwen3_vl_moe_text", 32, 4, 128, 262144, 5e6, mrope_section=[24, 20, 20], mrope_interleaved=True),
        "half",
        0,
    ),
}


def same_variants(found, wanted, error):
    """The variants of ``found`` are those of ``wanted``, frequencies to ``error`` (0: to the bit)."""
    assert [variant.name for variant in found.variants] == [variant.name for variant in wanted.variants]
    for one, other in zip(found.variants, wanted.variants, strict=True):
        if error == 0:
            assert one.inverse_frequency == other.inverse_frequency
        else:
            ours, theirs = np.array(one.inverse_frequency), np.array(other.inverse_frequency)
            assert np.all(np.abs(ours - theirs) <= error * theirs)
        assert one.amplitude == pytest.approx(other.amplitude, rel=1e-12)
        assert one.max_position == other.max_position
        assert one.axis == other.axis


@pytest.mark.parametrize("name", SAME)
def test_file_and_configuration_of_a_model(read, convert, tmp_path, name):
    architecture, config, pairing, error = SAME[name]
    (tmp_path / "config.json").write_text(json.dumps(config))
    wanted = read_model(str(tmp_path / "config.json"))
    found = read(architecture, *convert(config))
    same_variants(found, wanted, error)
    for key in ("head_dim", "rotary_dim", "rotary_start", "query_heads", "key_heads", "layers", "attention_scale"):
        assert getattr(found, key) == getattr(wanted, key), key
    assert found.pairing == found.output_pairing == pairing
    assert found.model_type == architecture


def read_both(read, tmp_path, architecture, config, keys, tensors=None):
    (tmp_path / "config.json").write_text(json.dumps(config))
    return read(architecture, keys, tensors), read_model(str(tmp_path / "config.json"))


@pytest.mark.parametrize("scaling", [None, {"rope_type": "linear", "factor": 8.0}], ids=["1B", "27B"])
def test_gemma_3(read, convert, tmp_path, scaling):
    config = model("gemma3_text", 32, 16, 128, 131072, 1e6, 62, more={"hidden_size": 5376, "sliding_window": 1024})
    keys, _ = convert(config | {"rope_parameters": config["rope_parameters"] | (scaling or {})})
    config |= {"query_pre_attn_scalar": 168, "rope_scaling": scaling, "rope_theta": 1e6, "rope_local_base_freq": 1e4}
    del config["rope_parameters"]
    for key in (None, 1e4):  # files of today leave the local base out
        found, wanted = read_both(
            read, tmp_path, "gemma3", config, keys | ({} if key is None else {"rope.freq_base_swa": key})
        )
        same_variants(found, wanted, 0)
        assert found.layers == wanted.layers
        assert found.layers[4:7] == ("sliding_attention", "full_attention", "sliding_attention")
        assert found.attention_scale == wanted.attention_scale == (128 / 168) ** 0.5


def test_modernbert(read, convert, tmp_path):
    config = {
        "model_type": "modernbert",
        "num_attention_heads": 12,
        "hidden_size": 768,
        "num_hidden_layers": 22,
        "max_position_embeddings": 8192,
        "global_rope_theta": 160000.0,
        "local_rope_theta": 10000.0,
        "local_attention": 128,
    }
    keys, _ = convert(config)
    keys |= {"rope.freq_base": 160000.0, "rope.freq_base_swa": 10000.0, "attention.sliding_window": 128}
    found, wanted = read_both(read, tmp_path, "modern-bert", config, keys | {"rope.scaling.type": "none"})
    same_variants(found, wanted, 0)
    assert found.layers == wanted.layers
    assert found.layers[:4] == ("full_attention", "sliding_attention", "sliding_attention", "full_attention")


def test_olmo_3(read, convert, tmp_path):
    config = model("olmo3", 32, 32, 128, 65536, 5e5, 32, **yarn(8.0, 8192), more={"sliding_window": 4096})
    keys, _ = convert(config)
    parameters = config.pop("rope_parameters")
    config["rope_theta"] = parameters.pop("rope_theta")
    config["rope_scaling"] = parameters
    pattern = [layer % 4 != 3 for layer in range(32)]
    found, wanted = read_both(read, tmp_path, "olmo2", config, keys | {"attention.sliding_window_pattern": pattern})
    same_variants(found, wanted, 0)
    assert found.layers == wanted.layers
    assert [variant.amplitude for variant in found.variants] == [pytest.approx(1.2079441541679836), 1.0]


def test_gemma_4(read, tmp_path):
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    config = {
        "model_type": "gemma4_text",
        "hidden_size": 2816,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "num_global_key_value_heads": 2,
        "head_dim": 256,
        "global_head_dim": 512,
        "num_hidden_layers": 12,
        "max_position_embeddings": 262144,
        "sliding_window": 1024,
        "layer_types": kinds * 2,
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    }
    keys = {  # conversion/gemma.py
        "block_count": 12,
        "context_length": 262144,
        "embedding_length": 2816,
        "attention.head_count": 16,
        "attention.head_count_kv": ([8] * 5 + [2]) * 2,
        "attention.key_length": 512,
        "attention.key_length_swa": 256,
        "attention.sliding_window": 1024,
        "attention.sliding_window_pattern": ([True] * 5 + [False]) * 2,
        "rope.dimension_count": 512,
        "rope.dimension_count_swa": 256,
        "rope.freq_base": 1e6,
        "rope.freq_base_swa": 1e4,
    }
    divisors = np.array([1.0] * 64 + [1e30] * 192, dtype=np.float32)
    found, wanted = read_both(read, tmp_path, "gemma4", config, keys, {"rope_freqs.weight": divisors})
    same_variants(found, wanted, 0)
    assert found.layers == wanted.layers
    for slot in (0, 1):
        assert found.of(slot) == wanted.of(slot)
    assert (found.of(0).head_dim, found.of(0).key_heads) == (512, 2)
    assert (found.of(1).head_dim, found.of(1).key_heads) == (256, 8)
    assert found.variants[0].inverse_frequency[64:] == (0.0,) * 192


LATENT = {
    "DeepSeek-V2.5": ("deepseek_v2", 128, 163840, 1e4, yarn(40.0, 4096, mscale=1.0, mscale_all_dim=1.0)),
    "DeepSeek-V2 Lite": ("deepseek_v2", 16, 163840, 1e4, yarn(40.0, 4096, mscale=0.707, mscale_all_dim=0.707)),
    "DeepSeek-V3": ("deepseek_v3", 128, 163840, 1e4, yarn(40.0, 4096, mscale=1.0, mscale_all_dim=1.0)),
    "Kimi K2": (
        "kimi_k2",
        64,
        131072,
        5e4,
        yarn(32.0, 4096, mscale=1.0, mscale_all_dim=1.0, beta_fast=1.0, beta_slow=1.0),
    ),
}


@pytest.mark.parametrize("name", LATENT)
def test_latent_attention(read, convert, tmp_path, name):
    model_type, heads, positions, theta, rope = LATENT[name]
    config = model(model_type, heads, heads, 192, positions, theta, **rope, more={"qk_rope_head_dim": 64})
    keys, _ = convert(config)
    del config["head_dim"]
    keys |= {  # conversion/deepseek.py
        "attention.head_count_kv": 1,
        "attention.key_length": 576,
        "attention.key_length_mla": 192,
        "rope.dimension_count": 64,
        "rope.scaling.yarn_log_multiplier": 0.1 * rope["mscale_all_dim"],
    }
    found, wanted = read_both(read, tmp_path, "deepseek2", config, keys)
    same_variants(found, wanted, 0)
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (64, 64, heads, 1)
    assert found.pairing == found.output_pairing == "interleaved"
    assert found.attention_scale == pytest.approx(wanted.attention_scale, rel=1e-12)


def test_deepseek_v4(read, convert, tmp_path):
    rope = {"factor": 16.0, "original_max_position_embeddings": 65536, "beta_fast": 32.0, "beta_slow": 1.0}
    config = {
        "model_type": "deepseek_v4",
        "num_attention_heads": 64,
        "num_key_value_heads": 1,
        "head_dim": 512,
        "qk_rope_head_dim": 64,
        "hidden_size": 4096,
        "num_hidden_layers": 5,
        "max_position_embeddings": 1048576,
        "rope_theta": 10000.0,
        "compress_rope_theta": 160000.0,
        "compress_ratios": [0, 0, 4, 128, 4],
        "rope_scaling": {"rope_type": "yarn"} | rope,
    }
    keys, _ = convert(config | {"rope_parameters": config["rope_scaling"] | {"rope_theta": 1e4}})
    keys |= {  # conversion/deepseek.py
        "rope.dimension_count": 64,
        "attention.compress_ratios": [0, 0, 4, 128, 4],
        "attention.compress_rope_freq_base": 160000.0,
        "attention.sliding_window": 128,
    }
    found, wanted = read_both(read, tmp_path, "deepseek4", config, keys)
    same_variants(found, wanted, 0)
    assert found.layers == wanted.layers == ("main", "main", "compress", "compress", "compress")
    assert found.of(0) == found.of(1) == wanted.of(0) == wanted.of(1)
    assert (found.head_dim, found.rotary_start, found.rotary_dim, found.key_heads) == (512, 448, 64, 1)
    assert [variant.amplitude for variant in found.variants] == [1.0, 1.0]


def test_ministral_3(read, convert, tmp_path):
    rope = yarn(16.0, 16384, mscale=1.0, mscale_all_dim=1.0, beta_fast=32.0, beta_slow=1.0)
    config = model("ministral3", 32, 8, 128, 262144, 1e6, **rope, llama_4_scaling_beta=0.1)
    keys, _ = convert(config)
    keys |= {"rope.scaling.yarn_log_multiplier": 1.0, "attention.temperature_scale": 0.1}  # conversion/mistral3.py
    found, wanted = read_both(read, tmp_path, "mistral3", config, keys)
    same_variants(found, wanted, 0)
    assert found.variants[0].amplitude == 1.0
    assert found.attention_scale == wanted.attention_scale
    assert found.pairing == "interleaved"


def test_dynamic_scaling_is_not_in_a_file(read, convert):
    """Converters drop it: the file of InternLM2 has the plain frequencies, which are the dynamic ones at no length."""
    config = model("internlm2", 32, 8, 128, 32768, 1e6, rope_type="dynamic", factor=2.0)
    found = read("internlm2", *convert(config))
    (variant,) = found.variants
    assert variant.inverse_frequency[1] == pytest.approx(1e6 ** (-2 / 128), rel=1e-15)
    assert (variant.amplitude, variant.max_position) == (1.0, 32768)
