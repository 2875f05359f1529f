"""What is refused, and that the sentence names the file, the key and the value."""

import pytest
from ropewalk.errors import InputError

LLAMA = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


@pytest.fixture
def refusal(read):
    def refusal(config, **arguments):
        with pytest.raises(InputError) as error:
            read(config, **arguments)
        message = str(error.value)
        assert "config.json: " in message
        assert "\n" not in message
        return message.split("config.json: ")[1]

    return refusal


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model_type", None, "model_type is missing"),
        ("model_type", 3, "model_type must be a name"),
        ("model_type", "a/b", "model_type must be a name"),
        ("num_attention_heads", None, "num_attention_heads is missing"),
        ("num_attention_heads", 0, "num_attention_heads must be an integer from 1 to 4096, not 0"),
        ("num_attention_heads", -8, "num_attention_heads must be an integer from 1 to 4096, not -8"),
        ("num_attention_heads", True, "num_attention_heads must be an integer from 1 to 4096, not true"),
        ("num_attention_heads", 8.0, "num_attention_heads must be an integer"),
        ("num_attention_heads", "8", "num_attention_heads must be an integer from 1 to 4096, not '8'"),
        ("num_attention_heads", 7, "num_attention_heads 7 does not divide hidden_size 512"),
        ("num_attention_heads", 512, "hidden_size / num_attention_heads must be from 2"),
        ("num_attention_heads", 10**30, "num_attention_heads must be an integer"),
        ("hidden_size", None, "hidden_size is missing"),
        ("hidden_size", 0, "hidden_size must be an integer from 1"),
        ("head_dim", 0, "head_dim must be an integer from 2 to 65536, not 0"),
        ("head_dim", -64, "head_dim must be an integer from 2"),
        ("head_dim", 63, "head_dim must be even, not 63"),
        ("head_dim", 1 << 20, "head_dim must be an integer from 2 to 65536, not 1048576"),
        ("num_key_value_heads", 3, "num_key_value_heads 3 does not divide num_attention_heads 8"),
        ("num_key_value_heads", 0, "num_key_value_heads must be"),
        ("num_hidden_layers", 0, "num_hidden_layers must be"),
        ("max_position_embeddings", 0, "max_position_embeddings must be"),
        ("max_position_embeddings", 1e5, "max_position_embeddings must be an integer"),
        ("rope_theta", 0, "rope_theta must be a number from 1 to 1e+30, not 0"),
        ("rope_theta", -10000, "rope_theta must be a number"),
        ("rope_theta", True, "rope_theta must be a number from 1 to 1e+30, not true"),
        ("rope_theta", "10000", "rope_theta must be a number from 1 to 1e+30, not '10000'"),
        ("rope_theta", [10000], "rope_theta must be a number from 1 to 1e+30, not a list of 1"),
        ("partial_rotary_factor", 1.5, "partial_rotary_factor must be a number from 0 to 1, not 1.5"),
        ("partial_rotary_factor", 0, "partial_rotary_factor 0 of head_dim 64 leaves nothing to rotate"),
        ("rope_scaling", [1], "rope_scaling must be an object, not a list of 1"),
        ("rope_scaling", "yarn", "rope_scaling must be an object"),
        ("rope_parameters", False, "rope_parameters must be an object, not false"),
        ("layer_types", ["full_attention"], "layer_types lists 1 layers, but num_hidden_layers is 2"),
        ("layer_types", ["full_attention", "surprise"], "the kind 'surprise' of layer 1 is not understood"),
        ("layer_types", ["full_attention", 1], "layer_types must be a list of names"),
        ("layer_types", "full_attention", "layer_types must be a list"),
        ("text_config", [], "text_config must be an object"),
        ("alibi", True, "asks for ALiBi, which this family does not have"),
        ("position_embedding_type", "alibi", "asks for ALiBi"),
        ("position_embedding_type", "learned", "position_embedding_type must be rope or rotary"),
        ("use_rope", False, "use_rope must be true in a rotary model, not false"),
        ("use_dynamic_ntk", True, "use_dynamic_ntk must be false"),
        ("rope_ratio", 2, "the key rope_ratio is a key of chatglm, not of model_type 'llama'"),
        ("rope_offset", 2, "the key rope_offset could change the geometry, and is not understood"),
        ("my_rotary_thing", 1, "the key my_rotary_thing could change"),
        ("max_source_positions", 1500, "the key max_source_positions could change"),
        ("global_head_dim", 512, "the key global_head_dim is a key of gemma4_text and gemma4_unified_text, not of"),
        ("swa_head_dim", 512, "the key swa_head_dim could change"),
        ("per_layer_config", {}, "the key per_layer_config is a key of gemma4_text and"),
        ("rotary_dim", 32, "the key rotary_dim is a key of codegen and gptj and minimax_m2, not of"),
        ("rope_local_base_freq", 1e4, "the key rope_local_base_freq is a key of gemma3_text and"),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(refusal, key, value, message):
    assert message in refusal(LLAMA | {key: value})


@pytest.mark.parametrize("key", ["properties", "composition", "torch_dtype", "rms_norm_eps", "sliding_window"])
def test_keys_that_only_sound_alike_are_not_refused(read, key):
    assert read(LLAMA | {key: 1}).head_dim == 64


@pytest.mark.parametrize("key", ["rope_type", "type"])
def test_scaling_types_of_other_models_are_refused_by_name(refusal, key):
    assert "the rope type 'axial' is for vision towers" in refusal(LLAMA | {"rope_scaling": {key: "axial"}})
    assert "the rope type 'xdrope' has positions of four axes" in refusal(LLAMA | {"rope_scaling": {key: "xdrope"}})


def test_an_unknown_scaling_type_is_refused_with_the_known_ones(refusal):
    message = refusal(LLAMA | {"rope_scaling": {"type": "magic"}})
    assert message == (
        "the rope type 'magic' is unknown; "
        "known are default, dynamic, linear, llama3, longrope, ntk, proportional, yarn"
    )


LISTS = {"short_factor": [1.0] * 32, "long_factor": [2.0] * 32, "original_max_position_embeddings": 1024}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"type": "linear"}, "rope_scaling.factor is missing"),
        ({"type": "linear", "factor": 0}, "rope_scaling.factor must be a number"),
        ({"type": "linear", "factor": 2, "beta_fast": 1}, "rope_scaling.beta_fast is not a key of the rope type"),
        ({"type": "dynamic"}, "rope_scaling.factor is missing"),
        ({"type": "dynamic", "factor": 2, "beta_fast": 32}, "is not a key of the rope type 'dynamic' without alpha"),
        ({"type": "dynamic", "alpha": 0.5}, "rope_scaling.alpha must be a number from 1 to"),
        ({"type": "ntk", "factor": "2"}, "rope_scaling.factor must be a number"),
        ({"type": "ntk", "factor": 2, "mixed_b": -1}, "rope_scaling.mixed_b must be a number"),
        ({"type": "llama3", "factor": 8}, "rope_scaling.low_freq_factor is missing"),
        ({"type": "llama3", "factor": 8, "low_freq_factor": 1}, "rope_scaling.high_freq_factor is missing"),
        ({"type": "llama3", "low_freq_factor": 1, "high_freq_factor": 4}, "rope_scaling.factor is missing"),
        ({"type": "llama3", "low_freq_factor": 0, "high_freq_factor": 4}, "rope_scaling.low_freq_factor must be"),
        ({"type": "longrope", "short_factor": [1.0] * 32}, "rope_scaling.long_factor is missing"),
        (
            LISTS | {"type": "su", "long_factor": [1.0] * 31},
            "long_factor must be a list of 32 numbers (rotary_dim / 2)",
        ),
        (LISTS | {"type": "su", "short_factor": [1.0] * 31 + [0]}, "short_factor must hold numbers from 2**-20 to"),
        (LISTS | {"type": "su", "short_factor": [1.0] * 31 + ["1"]}, "short_factor must hold numbers from 2**-20 to"),
        (LISTS | {"type": "su", "attention_factor": 0}, "rope_scaling.attention_factor must be above 0"),
        (LISTS | {"type": "su", "short_mscale": 0}, "rope_scaling.short_mscale must be above 0"),
        (LISTS | {"type": "su", "original_max_position_embeddings": 1}, "must be at least 2 for longrope, not 1"),
        ({"type": "proportional", "partial_rotary_factor": 0.01}, "leaves nothing to rotate"),
        ({"type": "mrope"}, "rope_scaling.mrope_section is missing"),
        ({"mrope_interleaved": True}, "rope_scaling.mrope_section is missing"),
        ({"mrope_section": [8, 12, 11]}, "rope_scaling.mrope_section must add up to 32 (rotary_dim / 2), not 31"),
        ({"mrope_section": [8, 8, 8, 8]}, "rope_scaling.mrope_section has 4 axes; Ropewalk has up to 3"),
        ({"mrope_section": [8, 12, -12]}, "rope_scaling.mrope_section must be a list of whole numbers"),
        ({"mrope_section": "8"}, "rope_scaling.mrope_section must be a list"),
    ],
)
def test_a_wrong_value_of_another_type_is_refused_by_its_key(refusal, parameters, message):
    assert message in refusal(LLAMA | {"rope_scaling": parameters})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factor": 0}, "rope_scaling.factor must be a number"),
        ({"factor": -4}, "rope_scaling.factor must be a number"),
        ({"factor": "4"}, "rope_scaling.factor must be a number"),
        ({"factor": 1e300}, "rope_scaling.factor must be a number"),
        ({"original_max_position_embeddings": 0}, "rope_scaling.original_max_position_embeddings must be an integer"),
        ({"original_max_position_embeddings": 4096.5}, "original_max_position_embeddings must be an integer"),
        ({"original_max_position_embeddings": 1 << 39}, "factor x original_max_position_embeddings must be at most"),
        ({"beta_fast": -1}, "rope_scaling.beta_fast must be a number"),
        ({"beta_slow": True}, "rope_scaling.beta_slow must be a number from 0 to 1e+09, not true"),
        ({"truncate": 1}, "rope_scaling.truncate must be true or false, not 1"),
        ({"truncate": "no"}, "rope_scaling.truncate must be true or false"),
        ({"mscale": -1.0}, "rope_scaling.mscale must be a number"),
        ({"mscale_all_dim": "1"}, "rope_scaling.mscale_all_dim must be a number"),
        ({"attention_factor": 0}, "rope_scaling.attention_factor must be above 0, not 0"),
        ({"attention_factor": -1.0}, "rope_scaling.attention_factor must be a number"),
        ({"attn_factor": "x"}, "rope_scaling.attn_factor must be a number"),
        ({"surprise": 1}, "rope_scaling.surprise is not a key of the rope type 'yarn'"),
        ({"low_freq_factor": 1}, "rope_scaling.low_freq_factor is not a key of the rope type 'yarn'"),
        ({"rope_theta": 1}, "rope_theta must be above 1 for YaRN"),
        ({"rope_theta": 0.5}, "rope_scaling.rope_theta must be a number from 1"),
        ({"partial_rotary_factor": 0.3}, "YaRN needs an even number of rotated elements, not 19"),
        ({"rope_type": 7}, "rope_scaling.rope_type must be a name"),
    ],
)
def test_a_wrong_value_of_yarn_is_refused_by_its_key(refusal, changes, message):
    assert message in refusal(LLAMA | {"rope_scaling": YARN | changes})


def test_scaling_keys_without_a_type_are_refused_with_a_hint(refusal):
    message = refusal(LLAMA | {"rope_scaling": {"factor": 4.0}})
    assert message == (
        "rope_scaling.factor is not a key of the rope type 'default' (no rope_type is given, which means default)"
    )


def test_two_styles_that_differ_are_refused(refusal, read):
    both = LLAMA | {"rope_scaling": YARN, "rope_parameters": YARN | {"factor": 8.0}}
    assert "both given and differ" in refusal(both)
    assert read(both | {"rope_parameters": YARN}) == read(LLAMA | {"rope_parameters": YARN})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"full_attention": {}, "rope_theta": 1e4}, "rope_parameters.rope_theta is mixed with objects per layer type"),
        ({"main": {}, "compress": {}}, "rope_parameters.main is not a layer type of this model"),
        ({"full_attention": {"factor": 4}}, "rope_parameters.full_attention.factor is not a key of the rope type"),
        ({"full_attention": {"rope_type": "linear"}}, "rope_parameters.full_attention.factor is missing"),
        ({"sliding_attention": {}}, "the kind 'full_attention' of layer 0 has no rope parameters"),
        ({"../up": {}}, "rope_parameters.../up must be a name"),
    ],
)
def test_wrong_objects_per_layer_type_are_refused(refusal, parameters, message):
    assert message in refusal(LLAMA | {"rope_parameters": parameters})


@pytest.mark.parametrize(
    ("model_type", "why"),
    [
        ("t5", "bucketed relative bias), which Ropewalk does not cover"),
        ("nanochat", "turns its pairs the other way round"),
        ("hunyuan_vl", "four axes"),
        ("qwen", "keys of its own"),
    ],
)
def test_what_is_not_covered_is_refused_by_name(refusal, model_type, why):
    message = refusal(LLAMA | {"model_type": model_type})
    assert message.startswith(f"model_type '{model_type}' ")
    assert why in message


def test_an_unknown_family_must_say_that_it_is_rotary(refusal):
    config = {key: value for key, value in LLAMA.items() if key != "rope_theta"} | {"model_type": "brand_new"}
    assert "none of its keys says that it is a rotary model" in refusal(config)
    assert "max_position_embeddings is missing" in refusal(
        {"model_type": "brand_new", "head_dim": 64, "num_attention_heads": 2, "rope_theta": 1e4}
    )


def test_keys_beside_a_text_config_must_agree(refusal, read):
    outer = {"model_type": "llava", "text_config": LLAMA}
    assert read(outer).model_type == "llama"
    assert read(outer | {"rope_theta": 10000.0}) == read(outer)
    assert "rope_theta stands outside text_config and differs" in refusal(outer | {"rope_theta": 5.0})


def test_a_multimodal_configuration_needs_its_text_part(refusal):
    assert "needs a text_config" in refusal({"model_type": "gemma3"})
    assert "model_type is missing" in refusal({"model_type": "brand_new", "text_config": {"rope_theta": 1e4}})


def test_latent_attention_must_agree_with_a_rotated_share(refusal):
    config = {"model_type": "deepseek_v3", "num_attention_heads": 4, "rope_theta": 1e4, "qk_nope_head_dim": 64}
    assert "contradicts qk_rope_head_dim 64" in refusal(config | {"partial_rotary_factor": 0.25})
    assert "qk_rope_head_dim must be even" in refusal(config | {"qk_rope_head_dim": 33})


def test_layers_of_another_count_are_refused(refusal):
    config = LLAMA | {"model_type": "smollm3", "no_rope_layers": [1, 0, 1]}
    assert "no_rope_layers must be a list of 2 zeros" in refusal(config)
    exaone = LLAMA | {"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LGLG"}
    assert "sliding_window_pattern must be a number, or L's and one G" in refusal(exaone)
