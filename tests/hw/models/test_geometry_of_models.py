"""Whole configurations as geometries: sizes, pairing, variants, layers, limits."""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.geometry.rotary import geometry_from_json, geometry_to_json
from ropewalk.models import read_model

DATA = Path(__file__).parents[2] / "data"
GOLDEN = json.loads((DATA / "golden_frequencies.json").read_text())
PAIRINGS = {
    "half": ("half", "half"),
    "interleaved": ("interleaved", "interleaved"),
    "interleaved_in_half_out": ("interleaved", "half"),
}
LLAMA = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def config_of(golden, *, old):
    """A configuration file as the family writes it, in older or newer keys."""
    config = {
        "model_type": golden["family"],
        "num_attention_heads": golden["n_heads"],
        "num_key_value_heads": golden["n_kv_heads"],
        "num_hidden_layers": 3,
        "max_position_embeddings": golden["max_position_embeddings"],
        "vocab_size": 32000,
    }
    config["qk_rope_head_dim" if golden["family"] == "deepseek_v3" else "head_dim"] = golden["head_dim"]
    parameters = dict(golden["rope_parameters"])
    if not old:
        return config | {"rope_parameters": parameters}
    config["rope_theta"] = parameters.pop("rope_theta")
    fraction = parameters.pop("partial_rotary_factor", None)
    if fraction is not None:
        config["partial_rotary_factor"] = fraction
    parameters["type"] = parameters.pop("rope_type")
    return config | {"rope_scaling": parameters if parameters["type"] != "default" else None}


@pytest.mark.parametrize("old", [False, True], ids=["newer keys", "older keys"])
@pytest.mark.parametrize("name", GOLDEN)
def test_configurations_of_the_golden_vectors(read, name, old):
    golden = GOLDEN[name]
    found = read(config_of(golden, old=old))
    latent = golden["family"] == "deepseek_v3"
    assert found.head_dim == golden["head_dim"]
    assert found.rotary_dim == golden["rotary_dim"]
    assert found.rotary_start == 0
    assert found.query_heads == golden["n_heads"]
    assert found.key_heads == (1 if latent else golden["n_kv_heads"])
    assert (found.pairing, found.output_pairing) == PAIRINGS[golden["pairing"]]
    assert found.layers == ("default",) * 3
    (variant,) = found.variants
    with np.load(DATA / "golden_frequencies.npz") as arrays:
        reference = arrays[f"hf/{name}/inv_freq_ref64"]
    assert np.max(np.abs(np.array(variant.inverse_frequency) / reference - 1)) < 1e-12
    assert variant.amplitude == pytest.approx(golden["attention_scaling"], rel=1e-15)
    if latent:
        scale = golden["softmax_scale_hf"] * 192**0.5
        assert found.attention_scale == pytest.approx(scale, rel=1e-12)
    else:
        assert found.attention_scale is None
    assert geometry_from_json(json.loads(json.dumps(geometry_to_json(found)))).variants == found.variants


def test_gemma_3_270m():
    found = read_model(str(DATA / "configs" / "gemma-3-270m"))
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (256, 256, 4, 1)
    assert found.pairing == found.output_pairing == "half"
    assert [variant.name for variant in found.variants] == ["full_attention", "sliding_attention"]
    assert [i for i, name in enumerate(found.layers) if name == "full_attention"] == [5, 11, 17]
    for variant, base in zip(found.variants, (1e6, 1e4), strict=True):
        assert np.allclose(variant.inverse_frequency, base ** (-np.arange(128) / 128), rtol=1e-12)
        assert (variant.amplitude, variant.max_position, variant.axis) == (1.0, 32768, None)
    assert found == read_model("gemma-3-270m")


def gemma(**changes):
    config = json.loads((DATA / "configs" / "gemma-3-270m" / "config.json").read_text())
    for key in ("rope_theta", "rope_local_base_freq", "rope_scaling"):
        del config[key]
    return config | changes


def test_gemma_3_in_newer_keys_is_the_same(read):
    newer = gemma(
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        }
    )
    assert read(newer) == read_model("gemma-3-270m")


def test_gemma_3_by_its_defaults_alone_is_the_same(read):
    bare = gemma()
    del bare["layer_types"], bare["_sliding_window_pattern"], bare["head_dim"]
    assert read(bare) == read_model("gemma-3-270m")


def test_slots_follow_the_order_of_the_newer_keys(read):
    newer = gemma(
        rope_parameters={"sliding_attention": {"rope_theta": 10000.0}, "full_attention": {"rope_theta": 1000000.0}}
    )
    assert [variant.name for variant in read(newer).variants] == ["sliding_attention", "full_attention"]


def test_older_gemma_scaling_is_for_the_global_layers_only(read):
    found = read(gemma(rope_theta=1e6, rope_scaling=YARN, max_position_embeddings=4096))
    assert [variant.amplitude for variant in found.variants] == [pytest.approx(1.1386294), 1.0]
    assert [variant.max_position for variant in found.variants] == [16384, 4096]


def test_a_multimodal_configuration_is_its_text_part(read):
    inner = gemma()
    del inner["model_type"]
    assert read({"model_type": "gemma3", "text_config": inner, "vision_config": {"rope_theta": 7}}) == read_model(
        "gemma-3-270m"
    )


def test_a_text_part_may_leave_out_its_class_defaults(read):
    # LLaVA 1.5 publishes no sizes: those of LlamaConfig
    found = read({"model_type": "llava", "text_config": {"model_type": "llama", "max_position_embeddings": 4096}})
    assert (found.head_dim, found.query_heads, found.key_heads, len(found.layers)) == (128, 32, 32, 32)
    assert "class defaults of llama" in found.notes[0]


def test_qwen_2_5_7b_with_yarn():
    found = read_model(str(DATA / "configs" / "qwen2.5-7b-yarn" / "config.json"))
    (variant,) = found.variants
    assert variant.name == "default"
    assert round(variant.amplitude, 4) == 1.1386
    assert variant.max_position == 131072
    assert (found.head_dim, found.query_heads, found.key_heads) == (128, 28, 4)
    assert found.layers == ("default",) * 28


@pytest.mark.parametrize(("stated", "limit"), [(4096, 16384), (100_000, 100_000)])
def test_yarns_limit_is_the_larger_of_the_two(read, stated, limit):
    found = read(LLAMA | {"max_position_embeddings": stated, "rope_scaling": YARN})
    assert found.variants[0].max_position == limit


def test_a_factor_of_null_is_the_ratio_of_the_lengths(read):
    parameters = YARN | {"factor": None}
    found = read(LLAMA | {"max_position_embeddings": 16384, "rope_scaling": parameters})
    assert found.variants == read(LLAMA | {"max_position_embeddings": 16384, "rope_scaling": YARN}).variants
    assert "factor is absent" in found.notes[0]


def test_an_original_length_outside_wins(read):
    inside = read(LLAMA | {"rope_scaling": YARN | {"original_max_position_embeddings": 2048}})
    outside = read(LLAMA | {"rope_scaling": YARN, "original_max_position_embeddings": 2048})
    assert outside.variants == inside.variants


def test_key_heads_default_to_query_heads(read):
    assert read(LLAMA).key_heads == 8
    assert read(LLAMA | {"num_key_value_heads": None}).key_heads == 8


@pytest.mark.parametrize(
    ("changes", "heads"),
    [({}, 1), ({"multi_query": False}, 8), ({"new_decoder_architecture": True, "num_kv_heads": 2}, 2)],
)
def test_falcon_has_its_own_rules_for_key_heads(read, changes, heads):
    assert read(LLAMA | {"model_type": "falcon", "alibi": False} | changes).key_heads == heads


def test_head_dim_is_independent_of_the_hidden_size(read):
    assert read(LLAMA | {"head_dim": 100}).head_dim == 100
    assert read(LLAMA | {"model_type": "qwen3"}).head_dim == 128  # the class default, where a file has none
    assert read(LLAMA).head_dim == 64


@pytest.mark.parametrize(
    ("head_dim", "keys", "rotary_dim"),
    [
        (80, {"partial_rotary_factor": 0.4}, 32),
        (64, {"partial_rotary_factor": 0.2}, 12),  # 12.8 is truncated
        (64, {"partial_rotary_factor": 0.3}, 20),  # 19 is odd: one more, as transformers 5.24 does
        (64, {"rope_parameters": {"partial_rotary_factor": 0.5, "rope_theta": 1e4}, "partial_rotary_factor": 1.0}, 32),
        (64, {}, 64),
    ],
)
def test_partial_rotation(read, head_dim, keys, rotary_dim):
    found = read(LLAMA | {"head_dim": head_dim} | keys)
    assert (found.rotary_dim, found.rotary_start) == (rotary_dim, 0)
    assert len(found.variants[0].inverse_frequency) == rotary_dim // 2


@pytest.mark.parametrize(
    ("model_type", "keys", "rotary_dim"),
    [
        ("phi", {}, 32),
        ("gpt_neox", {"rotary_pct": 0.5, "rotary_emb_base": 10000}, 32),
        ("gpt_neox", {}, 16),
        ("gptj", {"rotary_dim": 32}, 32),
        ("gptj", {}, 64),
        ("stablelm", {}, 16),
        ("glm4_moe", {}, 32),
        ("minimax_m2", {"rotary_dim": 32}, 32),
    ],
)
def test_rotated_share_of_a_family(read, model_type, keys, rotary_dim):
    config = {key: value for key, value in LLAMA.items() if key != "rope_theta"} | {"head_dim": 64}
    assert read(config | {"model_type": model_type} | keys).rotary_dim == rotary_dim


@pytest.mark.parametrize(
    ("model_type", "pairing"),
    [
        ("llama", "half"), ("mistral", "half"), ("qwen3", "half"), ("phi", "half"), ("gemma2", "half"),
        ("gpt_neox", "half"), ("stablelm", "half"), ("olmo2", "half"), ("gpt_oss", "half"), ("glm4_moe", "half"),
        ("gptj", "interleaved"), ("codegen", "interleaved"), ("glm", "interleaved"), ("glm4", "interleaved"),
        ("cohere", "interleaved"), ("cohere2", "interleaved"),
    ],
)  # fmt: skip
def test_pairing_of_a_family(read, model_type, pairing):
    config = {key: value for key, value in LLAMA.items() if key != "rope_theta"} | {"head_dim": 64}
    found = read(config | {"model_type": model_type})
    assert found.pairing == found.output_pairing == pairing
    other = "half" if pairing == "interleaved" else "interleaved"
    assert read(config | {"model_type": model_type}, pairing=other).pairing == other


def test_latent_attention_without_interleaving(read):
    config = config_of(GOLDEN["deepseek_v3"], old=True) | {"rope_interleave": False}
    found = read(config)
    assert found.pairing == found.output_pairing == "half"


def test_deepseek_v2_comes_out_as_it_goes_in(read):
    config = config_of(GOLDEN["deepseek_v3"], old=True) | {"model_type": "deepseek_v2"}
    found = read(config)
    assert (found.pairing, found.output_pairing) == ("interleaved", "interleaved")
    del config["qk_rope_head_dim"]
    assert read(config) == found  # 64 is the class default


def test_gpt_oss_by_its_class_defaults_is_the_golden_one(read):
    config = {"model_type": "gpt_oss", "num_hidden_layers": 2, "num_attention_heads": 64}
    found = read(config)
    with np.load(DATA / "golden_frequencies.npz") as arrays:
        assert np.allclose(found.variants[0].inverse_frequency, arrays["hf/gpt_oss_20b/inv_freq_ref64"], rtol=1e-12)
    assert found.variants[0].max_position == 131072
