"""Where rope parameters hide in published Hugging Face files: one test per place."""

import math

import numpy as np
import pytest

LLAMA = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 8,
    "max_position_embeddings": 16384,
    "rope_theta": 10000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SHORT, LONG = [1.0 + i / 64 for i in range(32)], [2.0 + i for i in range(32)]
LONGROPE = {"rope_type": "longrope", "short_factor": SHORT, "long_factor": LONG}
PLAIN = 10_000.0 ** (-np.arange(32) / 32)


def bare(config, *keys):
    return {key: value for key, value in config.items() if key not in keys}


def amplitudes(geometry):
    return [variant.amplitude for variant in geometry.variants]


def test_type_is_the_old_name_of_rope_type(read):
    for parameters in (YARN, LLAMA3 | {"original_max_position_embeddings": 4096}, LONGROPE):
        old = {"type": parameters["rope_type"]} | bare(parameters, "rope_type")
        assert read(LLAMA | {"rope_scaling": old}) == read(LLAMA | {"rope_scaling": parameters})


def test_deepseek_yarn_is_yarn(read):
    # the name that vLLM gives it
    assert read(LLAMA | {"rope_scaling": YARN | {"rope_type": "deepseek_yarn"}}) == read(LLAMA | {"rope_scaling": YARN})


def test_the_type_mrope_is_default_with_sections(read):
    found = read(LLAMA | {"model_type": "qwen2_vl", "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}})
    (variant,) = found.variants
    assert np.allclose(variant.inverse_frequency, PLAIN, rtol=1e-14)
    assert variant.axis == (0,) * 8 + (1,) * 12 + (2,) * 12


@pytest.mark.parametrize("name", ["su", "yarn", "longrope"])
def test_su_and_yarn_mean_longrope_in_phi_3(read, name):
    scaling = {"type": name, "short_factor": SHORT, "long_factor": LONG}
    config = LLAMA | {"model_type": "phi3", "rope_scaling": scaling, "original_max_position_embeddings": 4096}
    short, long = read(config).variants
    assert (short.name, long.name) == ("short", "long")
    assert np.allclose(short.inverse_frequency, PLAIN / SHORT, rtol=1e-14)
    assert np.allclose(long.inverse_frequency, PLAIN / LONG, rtol=1e-14)
    assert amplitudes(read(config)) == [pytest.approx(math.sqrt(1 + math.log(4) / math.log(4096)), rel=1e-15)] * 2
    assert (short.max_position, long.max_position) == (4096, 16384)


@pytest.mark.parametrize("parameters", [YARN, LLAMA3, LONGROPE], ids=["yarn", "llama3", "longrope"])
def test_an_original_length_at_the_top_wins(read, parameters):
    inside = read(LLAMA | {"rope_scaling": parameters | {"original_max_position_embeddings": 2048}})
    other = parameters | {"original_max_position_embeddings": 8192}
    outside = read(LLAMA | {"rope_scaling": other, "original_max_position_embeddings": 2048})
    assert outside.variants == inside.variants
    assert outside.variants != read(LLAMA | {"rope_scaling": other}).variants


@pytest.mark.parametrize("parameters", [YARN, LLAMA3, LONGROPE], ids=["yarn", "llama3", "longrope"])
def test_without_an_original_length_it_is_the_models(read, parameters):
    parameters = bare(parameters, "original_max_position_embeddings")
    stated = parameters | {"original_max_position_embeddings": 16384}
    assert read(LLAMA | {"rope_scaling": parameters}) == read(LLAMA | {"rope_scaling": stated})


def test_an_explicit_attention_factor_wins_for_longrope_too(read):
    scaling = LONGROPE | {"attention_factor": 1.25, "factor": 4.0}
    config = LLAMA | {"rope_scaling": scaling, "original_max_position_embeddings": 4096}
    assert amplitudes(read(config)) == [1.25, 1.25]
    assert amplitudes(read(config | {"rope_scaling": LONGROPE | {"factor": 0.5}})) == [1.0, 1.0]


def test_multimodal_configurations_nest_the_language_model(read):
    text = LLAMA | {"model_type": "qwen2_5_vl_text", "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}
    # published files repeat the parameters at the top, under the older name of the type
    again = {"type": "default", "rope_type": "default", "mrope_section": [8, 12, 12]}
    found = read({"model_type": "qwen2_5_vl", "text_config": text, "rope_scaling": again, "vision_config": {}})
    assert found == read(text)
    assert found.model_type == "qwen2_5_vl_text"


def test_deepseek_v4s_rope_parameters_are_not_layer_types(read):
    compress = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 65536}
    config = {
        "model_type": "deepseek_v4",
        "num_hidden_layers": 5,
        "compress_ratios": [0, 0, 4, 128, 4, 0],
        "max_position_embeddings": 1048576,
    }
    flat = read(config | {"rope_scaling": compress, "rope_theta": 10000, "compress_rope_theta": 160000})
    nested = {"main": {"rope_theta": 10000}, "compress": compress | {"rope_theta": 160000}}
    assert read(config | {"rope_parameters": nested}) == flat
    assert [variant.name for variant in flat.variants] == ["main", "compress"]
    assert flat.layers == ("main", "main", "compress", "compress", "compress")
    assert (flat.head_dim, flat.rotary_dim, flat.rotary_start) == (512, 64, 448)
    assert (flat.query_heads, flat.key_heads, flat.pairing, flat.output_pairing) == (64, 1, *["interleaved"] * 2)
    assert amplitudes(flat) == [1.0, 1.0]
    assert flat.variants[0].inverse_frequency[1] == pytest.approx(10_000 ** (-1 / 32), rel=1e-15)
    assert flat.variants[1].inverse_frequency[1] == pytest.approx(160_000 ** (-1 / 32), rel=1e-15)
    assert flat.variants[1].inverse_frequency[31] == pytest.approx(160_000 ** (-31 / 32) / 16, rel=1e-15)
    assert read({"model_type": "deepseek_v4", "num_hidden_layers": 3}).layers == ("compress",) * 3


def test_older_olmo_3_and_gemma_3_keys_scale_the_full_attention_layers_only(read):
    olmo = read(LLAMA | {"model_type": "olmo3", "rope_scaling": YARN | {"attention_factor": 1.2079441541679836}})
    assert amplitudes(olmo) == [1.2079441541679836, 1.0]
    assert olmo.layers == (("sliding_attention",) * 3 + ("full_attention",)) * 2
    gemma = read(
        LLAMA
        | {
            "model_type": "gemma3_text",
            "rope_theta": 1e6,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0},
            "head_dim": 64,
            "num_key_value_heads": 2,
            "sliding_window_pattern": 4,
        }
    )
    assert gemma.layers == (("sliding_attention",) * 3 + ("full_attention",)) * 2
    full, sliding = gemma.variants
    assert (full.name, sliding.name) == ("full_attention", "sliding_attention")
    assert np.allclose(full.inverse_frequency, 1e6 ** (-np.arange(32) / 32) / 8, rtol=1e-14)
    assert np.allclose(sliding.inverse_frequency, PLAIN, rtol=1e-14)


@pytest.mark.parametrize(
    "keys",
    [
        {"partial_rotary_factor": 0.25},
        {"rope_parameters": {"partial_rotary_factor": 0.25, "rope_theta": 10000.0}},
        {"rope_parameters": {"partial_rotary_factor": 0.25, "rope_theta": 10000.0}, "partial_rotary_factor": 1.0},
        {"model_type": "gpt_neox", "rotary_pct": 0.25, "rope_theta": None, "rotary_emb_base": 10000},
        {"model_type": "gptj", "rotary_dim": 16, "rope_theta": None},
    ],
)
def test_a_partial_rotary_width_hides_in_five_places(read, keys):
    found = read(LLAMA | keys)
    assert (found.head_dim, found.rotary_dim) == (64, 16)
    assert np.allclose(found.variants[0].inverse_frequency, 10_000 ** (-np.arange(8) / 8), rtol=1e-14)


@pytest.mark.parametrize(
    ("model_type", "share"),
    [
        ("glm", 0.5), ("glm4", 0.5), ("glm4_moe", 0.5), ("phi", 0.5), ("persimmon", 0.5), ("nemotron", 0.5),
        ("gpt_neox", 0.25), ("stablelm", 0.25), ("qwen3_5_text", 0.25), ("qwen3_next", 0.25), ("llama", 1.0),
    ],
)  # fmt: skip
def test_the_share_that_a_class_rotates_by_default(read, model_type, share):
    sections = {"mrope_section": [4, 2, 2]} if model_type == "qwen3_5_text" else None
    config = bare(LLAMA, "rope_theta") | {"model_type": model_type, "head_dim": 64, "rope_scaling": sections}
    assert read(config).rotary_dim == 64 * share


def test_phimoes_mscales_are_the_amplitudes(read):
    scaling = LONGROPE | {"short_mscale": 1.243163121016122, "long_mscale": 1.3, "attention_factor": 1.5}
    config = LLAMA | {"model_type": "phimoe", "num_key_value_heads": 2, "original_max_position_embeddings": 4096}
    found = read(config | {"rope_scaling": scaling})
    assert amplitudes(found) == [1.243163121016122, 1.3]
    phi3 = read(config | {"model_type": "phi3", "rope_scaling": scaling})
    assert amplitudes(phi3) == [1.5, 1.5]
    assert any("short_mscale and long_mscale are ignored" in note for note in phi3.notes)


GEMMA_4 = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 6,
    "global_head_dim": 512,
    "num_global_key_value_heads": 2,
    "attention_k_eq_v": True,
}


def test_gemma_4_has_heads_of_two_sizes(read):
    found = read(GEMMA_4)
    assert found.layers == ("sliding_attention",) * 5 + ("full_attention",)
    full, sliding = found.variants
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (512, 512, 8, 2)
    assert (sliding.head_dim, sliding.rotary_dim, sliding.query_heads, sliding.key_heads) == (256, 256, None, 4)
    assert np.allclose(full.inverse_frequency[:64], 1e6 ** (-np.arange(64) / 256), rtol=1e-14)
    assert full.inverse_frequency[64:] == (0.0,) * 192
    assert np.allclose(sliding.inverse_frequency, 1e4 ** (-np.arange(128) / 128), rtol=1e-14)
    only = found.only("sliding_attention")
    assert (only.head_dim, only.key_heads, only.layers[0], only.layers[5]) == (256, 4, "sliding_attention", None)


def test_gemma_4s_other_places(read):
    saved = bare(GEMMA_4, "global_head_dim", "num_global_key_value_heads")
    layers = {"5": {"head_dim": 512, "num_key_value_heads": 2}}
    assert read(saved | {"per_layer_config": layers}) == read(GEMMA_4)
    assert read(GEMMA_4 | {"attention_k_eq_v": False}).key_heads == 4
    forced = read(GEMMA_4 | {"layer_types": ["sliding_attention"] * 6})
    assert forced.layers[-1] == "full_attention"
    assert "the last layer has full attention" in forced.notes[0]


@pytest.mark.parametrize(
    ("keys", "layers"),
    [
        ({"model_type": "llama4_text", "head_dim": 64}, (0, 1, 2, 4, 5, 6)),
        ({"model_type": "llama4_text", "head_dim": 64, "no_rope_layers": []}, (0, 1, 2, 4, 5, 6)),
        ({"model_type": "llama4_text", "head_dim": 64, "no_rope_layers": [0, 1] * 4}, (1, 3, 5, 7)),
        ({"model_type": "smollm3", "num_key_value_heads": 4}, (0, 1, 2, 4, 5, 6)),
        ({"model_type": "smollm3", "num_key_value_heads": 4, "no_rope_layer_interval": 2}, (0, 2, 4, 6)),
        ({"model_type": "cohere2"}, (0, 1, 2, 4, 5, 6)),
        ({"model_type": "exaone4", "sliding_window": 4096}, (0, 1, 2, 4, 5, 6)),
        ({"model_type": "exaone4"}, tuple(range(8))),
        ({"model_type": "qwen3_next", "head_dim": 64, "num_key_value_heads": 2}, (3, 7)),
        ({"model_type": "lfm2", "full_attn_idxs": [2, 5]}, (2, 5)),
    ],
)
def test_layers_without_rotation(read, keys, layers):
    found = read(LLAMA | keys).layers
    assert tuple(layer for layer, name in enumerate(found) if name is not None) == layers


def test_llama4_at_the_top_is_the_multimodal_class(read):
    text = LLAMA | {"model_type": "llama4_text", "head_dim": 64}
    found = read({"model_type": "llama4", "text_config": text, "vision_config": {"rope_theta": 1}})
    assert found == read(text)
    assert found.model_type == "llama4_text"
    assert read({"model_type": "llama4", "text_config": bare(text, "model_type")}) == found


def test_null_is_absent_and_harmless_keys_are_harmless(read):
    nulls = dict.fromkeys(["factor", "attention_factor", "beta_fast", "mscale", "truncate", "surprise"])
    plain = read(LLAMA | {"max_position_embeddings": 16384, "rope_scaling": YARN})
    assert read(LLAMA | {"rope_scaling": YARN | nulls}).variants == plain.variants
    harmless = {"finetuned": True, "max_position_embeddings": 1 << 20, "llama_4_scaling_beta": 0.1}
    found = read(LLAMA | {"rope_scaling": YARN | harmless})
    assert found.variants == plain.variants
    assert "floor(position / 4096)" in found.attention_scale


def test_published_files_leave_out_class_defaults(read):
    # Gemma 3 4B's text_config: no head count, no head size, no base
    text = {
        "hidden_size": 2560,
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window": 1024,
    }
    found = read({"model_type": "gemma3", "text_config": text})
    assert (found.head_dim, found.query_heads, found.key_heads) == (256, 8, 4)
    assert found.variants[0].inverse_frequency[1] == pytest.approx(1e6 ** (-1 / 128) / 8, rel=1e-15)
    assert found.variants[1].inverse_frequency[1] == pytest.approx(1e4 ** (-1 / 128), rel=1e-15)
    assert found.variants[0].max_position == 131072


@pytest.mark.parametrize(("model_type", "base", "factor"), [("apertus", 12e6, 8.0), ("cwm", 1e6, 16.0)])
def test_class_defaults_may_be_scaled(read, model_type, base, factor):
    found = read({"model_type": model_type, "num_attention_heads": 32, "head_dim": 128, "num_hidden_layers": 2})
    (variant,) = found.variants
    assert variant.inverse_frequency[1] == pytest.approx(base ** (-1 / 64), rel=1e-14)
    assert variant.inverse_frequency[63] == pytest.approx(base ** (-63 / 64) / factor, rel=1e-14)


def test_layers_with_an_indexer_are_rotated(read):
    kinds = ["indexed_attention", "deepseek_sparse_attention", "full_attention"]
    config = {"model_type": "deepseek_v32", "num_attention_heads": 128, "num_hidden_layers": 3, "layer_types": kinds}
    assert read(config).layers == ("default",) * 3


def test_betas_the_wrong_way_round_are_imported_as_hugging_face_computes_with_a_warning(read):
    found = read(LLAMA | {"rope_scaling": YARN | {"beta_fast": 1, "beta_slow": 32}})
    assert "below beta_slow" in found.notes[0]
    ratio = PLAIN / np.array(found.variants[0].inverse_frequency)
    assert ratio[0] == pytest.approx(4.0)
    assert ratio[-1] == pytest.approx(1.0)


def test_chatglms_own_keys(read):
    config = {
        "model_type": "chatglm",
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "multi_query_attention": True,
        "multi_query_group_num": 2,
        "kv_channels": 128,
        "num_layers": 40,
        "seq_length": 1048576,
        "rope_ratio": 10000,
        "original_rope": True,
    }
    found = read(config)
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (128, 64, 32, 2)
    assert found.pairing == "interleaved"
    assert len(found.layers) == 40
    assert found.variants[0].inverse_frequency[1] == pytest.approx(1e8 ** (-1 / 32), rel=1e-15)
    assert found.variants[0].max_position == 1048576
    assert read(config | {"multi_query_attention": False}).key_heads == 32


def test_hunyuans_alpha_makes_ntk_static(read):
    scaling = {"type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0}
    config = LLAMA | {"model_type": "hunyuan_v1_dense", "use_rotary_pos_emb": True, "attention_head_dim": 128}
    found = read(config | {"rope_scaling": scaling})
    assert found.head_dim == 128
    base = 10_000.0 * 1000.0 ** (128 / 126)
    assert np.allclose(found.variants[0].inverse_frequency, base ** (-np.arange(64) / 64), rtol=1e-13)
    assert found.variants[0].max_position == 16384
    assert not found.notes
