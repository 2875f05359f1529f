"""Keys that programs read differently, that are ignored, or that deserve a note."""

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


def test_positional_keys_that_a_known_family_ignores(read):
    # Command R7B and ModernBERT are published with these
    cohere = LLAMA | {"model_type": "cohere2", "position_embedding_type": "rope_gptj", "rotary_pct": 1.0}
    assert read(cohere).pairing == "interleaved"
    modernbert = {key: value for key, value in LLAMA.items() if key != "rope_theta"} | {"model_type": "modernbert"}
    assert read(modernbert | {"position_embedding_type": "absolute"}) == read(modernbert)


def test_attention_scale_may_be_a_description(read):
    found = read(LLAMA | {"model_type": "ministral3", "head_dim": 64})
    assert "ln(1 + floor(position / 16384))" in found.attention_scale
    gemma_27b = {"model_type": "gemma3_text", "query_pre_attn_scalar": 168, "head_dim": 128}
    assert read(gemma_27b).attention_scale == pytest.approx((128 / 168) ** 0.5)


def test_an_unknown_family_is_half_with_a_note(read):
    said = []
    found = read(LLAMA | {"model_type": "brand_new"}, notes=said.append)
    assert found.variants == read(LLAMA).variants
    assert found.pairing == "half"
    assert len(said) == 1
    assert "half pairing is assumed" in said[0]
    assert found.notes == tuple(said)
    assert read(LLAMA | {"model_type": "brand_new"}, pairing="interleaved").notes == ()


def test_null_is_absent(read):
    nulls = dict.fromkeys(["head_dim", "rope_scaling", "rope_parameters", "partial_rotary_factor", "rope_ratio"])
    assert read(LLAMA | nulls) == read(LLAMA)


def test_ignored_keys_are_told(read):
    told = []
    read(LLAMA | {"vocab_size": 5, "torch_dtype": "bfloat16"}, ignored=told.append)
    assert told == ["torch_dtype", "vocab_size"]


def test_a_sequence_length_changes_nothing_and_says_so(read):
    found = read(LLAMA, sequence_length=100)
    assert found.variants == read(LLAMA).variants
    assert "dynamic NTK" in found.notes[0]


def test_doubtful_keys_of_yarn(read):
    published = YARN | {"attn_factor": 0.8782488562869419, "finetuned": True}
    found = read(LLAMA | {"rope_scaling": published})
    assert found.variants[0].amplitude == pytest.approx(1.1386294, abs=1e-7)
    assert "attn_factor is ignored" in found.notes[0]
    swapped = read(LLAMA | {"rope_scaling": YARN | {"beta_fast": 1, "beta_slow": 32}})
    assert "below beta_slow" in swapped.notes[0]
    plain = read(LLAMA).variants[0].inverse_frequency
    assert plain[0] / swapped.variants[0].inverse_frequency[0] == pytest.approx(4.0)


def test_what_is_followed_decides_doubtful_keys(read):
    config = LLAMA | {"rope_scaling": YARN | {"truncate": False}}
    truncated = read(LLAMA | {"rope_scaling": YARN}).variants
    assert read(config).variants != truncated
    assert read(config, follow="vllm").variants == read(config).variants
    assert read(config, follow="llama.cpp").variants == truncated
    nested = LLAMA | {
        "layer_types": ["full_attention"] * 2,
        "rope_parameters": {"full_attention": YARN | {"truncate": False}},
    }
    found = read(nested)  # Hugging Face looks for it beside the layer types only
    assert found.variants[0].inverse_frequency == truncated[0].inverse_frequency
    assert "truncate is ignored" in found.notes[-1]
    assert read(nested, follow="vllm").variants[0].inverse_frequency == read(config).variants[0].inverse_frequency


@pytest.mark.parametrize(
    ("follow", "keys", "amplitude"),
    [
        ("hf", {"mscale": 0.7}, 1.3688879),
        ("vllm", {"mscale": 0.7}, 1.2582216),
        ("vllm", {"mscale": 1.0, "mscale_all_dim": 0.707}, 1.0857264),
        ("llama.cpp", {"mscale": 1.0, "mscale_all_dim": 0.707}, 1.0),
        ("llama.cpp", {}, 1.3688879),
    ],
)
def test_amplitude_of_latent_attention_by_what_is_followed(read, follow, keys, amplitude):
    config = LLAMA | {"model_type": "deepseek_v3", "rope_parameters": YARN | {"factor": 40.0} | keys}
    assert read(config, follow=follow).variants[0].amplitude == pytest.approx(amplitude, abs=1e-7)
