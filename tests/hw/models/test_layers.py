"""Which variant rotates each layer."""

import pytest

LLAMA = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}


def test_layers_without_rotation(read):
    config = LLAMA | {"num_hidden_layers": 8}
    assert read(config | {"model_type": "smollm3"}).layers == (("default",) * 3 + (None,)) * 2
    assert read(config | {"model_type": "smollm3", "no_rope_layers": [1, 0] * 4}).layers == ("default", None) * 4
    assert read(config | {"model_type": "cohere2"}).layers == (("default",) * 3 + (None,)) * 2
    windowed = config | {"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLLG"}
    assert read(windowed).layers == (("default",) * 3 + (None,)) * 2
    assert read(config | {"model_type": "exaone4", "sliding_window": None}).layers == ("default",) * 8
    assert read(config | {"model_type": "qwen3_next"}).layers == ((None,) * 3 + ("default",)) * 2
    mixed = config | {"model_type": "qwen3_next", "layer_types": ["linear_attention", "full_attention"] * 4}
    assert read(mixed).layers == (None, "default") * 4


def test_a_layer_type_with_null_parameters_is_not_rotated(read):
    config = LLAMA | {
        "layer_types": ["full_attention", "sliding_attention"],
        "rope_parameters": {"full_attention": None, "sliding_attention": {"rope_type": "default"}},
    }
    found = read(config)
    assert found.layers == (None, "sliding_attention")
    assert [variant.name for variant in found.variants] == ["sliding_attention"]


def test_layers_are_unknown_without_a_count(read):
    assert read({key: value for key, value in LLAMA.items() if key != "num_hidden_layers"}).layers is None


def test_older_olmo_3_scales_its_full_attention_layers_only(read):
    found = read(LLAMA | {"model_type": "olmo3", "num_hidden_layers": 4, "rope_scaling": YARN})
    assert found.layers == ("sliding_attention",) * 3 + ("full_attention",)
    assert {variant.name: variant.amplitude == 1.0 for variant in found.variants} == {
        "full_attention": False,
        "sliding_attention": True,
    }


def test_modernbert_has_two_bases(read):
    config = {key: value for key, value in LLAMA.items() if key != "rope_theta"}
    found = read(config | {"model_type": "modernbert", "num_hidden_layers": 4, "local_rope_theta": 5000.0})
    assert found.layers == ("full_attention", "sliding_attention", "sliding_attention", "full_attention")
    assert [variant.inverse_frequency[1] for variant in found.variants] == [
        pytest.approx(160_000 ** (-1 / 32)),
        pytest.approx(5000 ** (-1 / 32)),
    ]
