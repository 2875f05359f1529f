"""Public bug reports about rotary geometry, each as a test; ``tests/data/field_reports.md`` says which is where."""

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.geometry.frequencies import yarn_frequencies, yarn_gain, yarn_range
from ropewalk_sim.exact import exact_rotation, exact_turns

LLAMA = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "num_hidden_layers": 6,
    "max_position_embeddings": 4096,
    "rope_theta": 10000.0,
}
PLAIN = 10_000.0 ** (-np.arange(32) / 32)


def turned(x, geometry, position, pairing):
    """Heads ``x`` [heads, head_dim] at ``position``, in the element order of ``pairing``."""
    turns = exact_turns(geometry.variants[0].inverse_frequency, np.array([position]))
    order = np.arange(x.shape[-1])
    if pairing == "half":  # to interleaved order
        order = np.stack([order[: len(order) // 2], order[len(order) // 2 :]], axis=-1).ravel()
    pairs = x[:, order].reshape(len(x), -1, 2)
    back = np.empty(x.shape[-1], dtype=int)
    back[order] = np.arange(x.shape[-1])
    return exact_rotation(pairs, turns, 1.0).reshape(len(x), -1)[:, back]


def permuted(x):
    """What conversion does to each head's rows of a weight: half order from interleaved order."""
    return np.concatenate([x[:, 0::2], x[:, 1::2]], axis=1)


def test_half_pairing_is_interleaved_pairing_of_permuted_heads(read):
    # nanochat 264, LLMs-from-scratch 747
    found = read(LLAMA)
    x = np.random.default_rng(1).normal(size=(3, 64))
    assert np.array_equal(permuted(turned(x, found, 1234, "interleaved")), turned(permuted(x), found, 1234, "half"))


@pytest.mark.parametrize(("query", "key"), [(32, 8), (9, 3), (64, 8)])
def test_queries_and_keys_are_permuted_by_their_own_head_counts(read, query, key):
    # transformers 31788, llama.cpp 2376: a key weight permuted with the query head count breaks the scores
    found = read(LLAMA | {"num_attention_heads": query, "num_key_value_heads": key, "head_dim": 64})
    assert (found.query_heads, found.key_heads) == (query, key)
    random = np.random.default_rng(query)
    q, k = random.normal(size=(query, 64)), random.normal(size=(key, 64))
    shared = np.repeat(np.arange(key), query // key)  # ONNXim 34: head h reads key head h // (query / key)

    def scores(q, k, pairing):
        return np.sum(turned(q, found, 90, pairing) * turned(k, found, 17, pairing)[shared], axis=1)

    right = scores(permuted(q), permuted(k), "half")
    assert np.allclose(right, scores(q, k, "interleaved"), rtol=1e-12, atol=1e-12)
    if 64 * key % query == 0:  # the whole key weight cut into as many heads as there are query heads
        wrong = permuted(k.reshape(query, -1)).reshape(key, 64)
        assert not np.allclose(scores(permuted(q), wrong, "half"), right, atol=0.1)


def test_a_pairing_comes_from_the_family_or_is_said_to_be_assumed(read):
    # TinyLlama 24: the configuration does not record it; tt-metal 46507: both are wanted
    assert not read(LLAMA).notes
    assert "half pairing is assumed" in read(LLAMA | {"model_type": "brand_new"}).notes[0]
    for pairing in ("half", "interleaved"):
        found = read(LLAMA | {"model_type": "brand_new"}, pairing=pairing)
        assert (found.pairing, found.output_pairing, found.notes) == (pairing, pairing, ())


def test_the_partner_lies_in_the_rotary_slice(read):
    # hipfire 241: Qwen3.5, head 256, 64 rotated: element 0 pairs with 32, not with 128
    found = read({"model_type": "qwen3_5_text", "num_attention_heads": 16, "num_hidden_layers": 4})
    assert (found.head_dim, found.rotary_dim, found.rotary_start, found.pairing) == (256, 64, 0, "half")
    assert len(found.variants[0].inverse_frequency) == 32


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("interleaved", [False, True])
def test_section_interleaving_and_pairing_are_independent(read, pairing, interleaved):
    # lattice 96: mrope_interleaved says which axis, not which partner
    scaling = {"rope_type": "default", "mrope_section": [12, 10, 10], "mrope_interleaved": interleaved}
    found = read(LLAMA | {"model_type": "brand_new", "rope_scaling": scaling}, pairing=pairing)
    assert found.pairing == pairing
    expected = (0, 1, 2) * 10 + (0, 0) if interleaved else (0,) * 12 + (1,) * 10 + (2,) * 10
    assert found.variants[0].axis == expected


def test_three_equal_positions_are_plain_rope(read):
    # llama.cpp 13870: sections choose an axis and change no frequency
    axes = read(LLAMA | {"rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}}).variants[0]
    assert axes.inverse_frequency == read(LLAMA).variants[0].inverse_frequency


def test_sections_of_qwen3_vl_are_interleaved_and_bounded(read):
    # MNN 4133, mojo_opset 276
    scaling = {"rope_type": "default", "mrope_section": [24, 20, 20], "mrope_interleaved": True}
    config = {"model_type": "qwen3_vl_moe", "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 4}
    axis = read(config | {"rope_scaling": scaling}).variants[0].axis
    assert axis[:6] == (0, 1, 2, 0, 1, 2)
    assert axis[60:] == (0, 0, 0, 0)
    assert [axis.count(which) for which in range(3)] == [24, 20, 20]


def test_a_rotary_width_is_fixed_and_never_nothing(read):
    # vllm 16904: halved once per layer, to 0
    config = {"model_type": "glm", "num_attention_heads": 32, "num_hidden_layers": 6}
    assert [read(config).rotary_dim for _ in range(3)] == [64] * 3
    with pytest.raises(InputError, match="leaves nothing to rotate"):
        read(config | {"partial_rotary_factor": 0.0})


def test_a_partial_factor_is_not_hidden_by_the_head_size(read):
    # vllm 43770
    assert read(LLAMA | {"head_dim": 128, "partial_rotary_factor": 0.5}).rotary_dim == 64


def test_a_slice_and_a_padded_head_have_other_partners(read):
    # cascadia 69: the same frequencies, but element 0 pairs with 8 in one and with 32 in the other
    slice_ = read(LLAMA | {"model_type": "gpt_neox", "rope_theta": None, "head_dim": 64})
    padded = read(LLAMA | {"rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 0.25}})
    assert (slice_.rotary_dim, padded.rotary_dim) == (16, 64)
    assert padded.variants[0].inverse_frequency[8:] == (0.0,) * 24
    assert np.allclose(padded.variants[0].inverse_frequency[:8], PLAIN[:8], rtol=1e-14)
    assert np.allclose(slice_.variants[0].inverse_frequency, 10_000.0 ** (-np.arange(8) / 8), rtol=1e-14)


def test_longropes_lists_are_as_long_as_half_the_rotary_width(read):
    # relax 337: Phi-4-mini, 48 of 64
    config = {"model_type": "phi3", "num_attention_heads": 24, "hidden_size": 3072, "partial_rotary_factor": 0.75}
    lists = {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48}
    found = read(config | {"rope_scaling": lists, "original_max_position_embeddings": 4096})
    assert (found.head_dim, found.rotary_dim) == (128, 96)
    with pytest.raises(InputError, match="short_factor must be a list of 48 numbers"):
        read(config | {"rope_scaling": lists | {"short_factor": [1.0] * 64}})


def test_the_factor_of_yarn_is_outside_the_power():
    # tvm 18576: (factor * base) ** exponent instead of factor * base ** exponent
    ours = np.array(yarn_frequencies(1e4, 64, factor=8.0, original=4096))
    assert np.allclose(ours[-8:], PLAIN[-8:] / 8, rtol=1e-14)
    wrong = (8.0 * 1e4) ** (-np.arange(32) / 32)
    assert not np.any(np.isclose(ours[-8:], wrong[-8:], rtol=0.05))


def test_yarns_two_corrections_are_apart(read):
    # transformers 47435, mobius 548, imp 880, exllamav3 259: the ratio on cos and sin, the square on the scores
    scaling = {"rope_type": "yarn", "factor": 40.0, "original_max_position_embeddings": 4096}
    config = LLAMA | {"model_type": "deepseek_v2"}
    lite = read(config | {"rope_scaling": scaling | {"mscale": 0.707, "mscale_all_dim": 0.707}})
    assert lite.variants[0].amplitude == 1.0
    assert lite.attention_scale / 192**0.5 == pytest.approx(0.11472, abs=5e-6)
    both = read(config | {"rope_scaling": scaling | {"mscale": 1.0, "mscale_all_dim": 1.0}})
    assert both.variants[0].amplitude == 1.0
    assert both.attention_scale / 192**0.5 == pytest.approx(0.13523, abs=5e-6)


@pytest.mark.parametrize(
    ("mscales", "amplitude"),
    [
        ({}, yarn_gain(16.0, 1.0)),
        ({"mscale": 1.0}, yarn_gain(16.0, 1.0)),
        ({"mscale_all_dim": 1.0}, yarn_gain(16.0, 1.0)),
        ({"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
        ({"mscale": 1.0, "mscale_all_dim": 1.0, "attention_factor": 1.2079441541679836}, 1.2079441541679836),
        ({"attention_factor": 0.5}, 0.5),
        ({"attention_factor": 1.0}, 1.0),
    ],
)
def test_the_amplitude_with_none_one_or_both_mscales(read, mscales, amplitude):
    # sglang 22711, llama.cpp 18006, mlx-lm 1507
    scaling = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 256}
    assert read(LLAMA | {"rope_scaling": scaling | mscales}).variants[0].amplitude == amplitude


def test_ministral_3_by_its_class_defaults(read):
    # sglang 22711: amplitude 1, not 1.277; vllm 48623: and queries have a gain by position
    found = read({"model_type": "ministral3", "num_attention_heads": 32, "num_hidden_layers": 6})
    assert found.variants[0].amplitude == 1.0
    assert found.attention_scale == "queries x (1 + 0.1 ln(1 + floor(position / 16384)))"


def test_yarns_ramp_counts_pairs():
    # ggml 913: at its ends, pair low keeps its speed and pair high is slowed down by the whole factor
    low, high = yarn_range(1e4, 64, original=4096)
    ratio = PLAIN / np.array(yarn_frequencies(1e4, 64, factor=8.0, original=4096))
    assert ratio[int(low)] == pytest.approx(1.0, rel=1e-15)
    assert ratio[int(low) + 1] > 1.0
    assert ratio[int(high)] == pytest.approx(8.0, rel=1e-15)
    assert ratio[int(high) - 1] < 7.9


def test_kimi_k2_with_equal_betas_and_k2_5_with_the_usual_ones(read):
    # ik_llama.cpp 1298
    config = {"model_type": "kimi_k2", "num_attention_heads": 64, "rope_theta": 50_000.0}
    scaling = {"type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096, "mscale": 1.0}
    usual = scaling | {"beta_fast": 32.0, "beta_slow": 1.0, "mscale_all_dim": 1.0}
    plain = 50_000.0 ** (-np.arange(32) / 32)
    ratio = plain / np.array(read(config | {"rope_scaling": usual}).variants[0].inverse_frequency)
    assert np.sum((ratio > 1.001) & (ratio < 63.9)) > 5
    equal = usual | {"beta_fast": 1.0}
    ratio = plain / np.array(read(config | {"rope_scaling": equal}).variants[0].inverse_frequency)
    assert np.sum((ratio > 1.001) & (ratio < 63.9)) == 0  # the ramp is one pair wide


def test_dynamic_ntk_scales_no_positions(read):
    # mlxcel 1324: the factor is no position scale; transformers 25104: one variant is one frozen length
    config = LLAMA | {"model_type": "internlm2", "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    assert read(config).variants[0].inverse_frequency == read(LLAMA).variants[0].inverse_frequency
    found = read(config, sequence_length=8192)
    assert found.variants[0].inverse_frequency[0] == 1.0
    assert found.variants[0].max_position == 8192
    assert "frozen at length 8192" in found.notes[0]


def test_dynamic_ntk_by_what_is_followed(read):
    # vllm 3488: a static base from the longest length, different by design
    config = LLAMA | {"rope_scaling": {"type": "dynamic", "factor": 2.0}}
    plain = read(LLAMA).variants[0].inverse_frequency
    for follow, sentence in (("vllm", "vLLM freezes"), ("llama.cpp", "llama.cpp has no dynamic NTK")):
        found = read(config, follow=follow, sequence_length=8192)
        assert found.variants[0].inverse_frequency == plain
        assert any(sentence in note for note in found.notes)
        assert found.variants[0].max_position == 4096
    trained = LLAMA | {"rope_scaling": {"type": "dynamic", "factor": 2.0, "max_trained_positions": 2048}}
    base = 10_000.0 * (2.0 * 4096 / 2048 - 1) ** (64 / 62)
    found = read(trained, follow="vllm").variants[0].inverse_frequency
    assert np.allclose(found, base ** (-np.arange(32) / 32), rtol=1e-13)


@pytest.mark.parametrize(
    ("follow", "length", "layer", "sentence"),
    [
        ("hf", None, "short", "for all tokens of a call whose highest position is 1024 or more"),
        ("hf", 1024, "short", "Hugging Face uses the long list"),
        ("hf", 1025, "long", "Hugging Face uses the long list"),
        ("vllm", None, "long", "vllm chooses one list for good"),
        ("llama.cpp", None, "long", "llama.cpp chooses one list for good"),
        ("llama.cpp", 1024, "short", "1024 against 1024: short"),
    ],
)
def test_longropes_list_by_what_is_followed(read, follow, length, layer, sentence):
    # llama.cpp 24823, transformers 33129: the choice is explicit and said
    lists = {"type": "longrope", "short_factor": [1.0] * 32, "long_factor": [2.0] * 32}
    config = LLAMA | {"rope_scaling": lists, "original_max_position_embeddings": 1024}
    found = read(config, follow=follow, sequence_length=length)
    assert [variant.name for variant in found.variants] == ["short", "long"]
    assert found.layers == (layer,) * 6
    assert any(sentence in note for note in found.notes)


def test_llama3_mixes_frequencies_not_wavelengths(read):
    # mlx-examples 907
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    found = read(LLAMA | {"rope_scaling": scaling | {"original_max_position_embeddings": 1024}})
    ours = np.array(found.variants[0].inverse_frequency)
    turns = PLAIN * 1024 / (2 * np.pi)
    smooth = np.clip((turns - 1) / 3, 0, 1)
    assert np.allclose(ours, PLAIN * ((1 - smooth) / 8 + smooth), rtol=1e-13)
    middle = (smooth > 0.05) & (smooth < 0.95)
    assert np.any(middle)
    assert not np.any(np.isclose(ours, PLAIN / ((1 - smooth) * 8 + smooth), rtol=1e-2)[middle])


def test_gemma_3_has_two_bases_and_scales_one(read):
    # ferrox 39, mlx-vlm 1709, transformers 41922
    config = {"model_type": "gemma3_text", "head_dim": 128, "num_hidden_layers": 6, "rope_theta": 1e6}
    older = config | {"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "rope_local_base_freq": 1e4}
    newer = config | {
        "rope_theta": None,
        "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    }
    assert read(older) == read(newer)
    variants = {variant.name: np.array(variant.inverse_frequency) for variant in read(older).variants}
    assert np.allclose(variants["full_attention"], 1e6 ** (-np.arange(64) / 64) / 8, rtol=1e-14)
    assert np.allclose(variants["sliding_attention"], 1e4 ** (-np.arange(64) / 64), rtol=1e-14)
    assert read(older).layers == ("sliding_attention",) * 5 + ("full_attention",)


def test_flat_parameters_of_gemma_3_are_the_global_layers_with_a_note(read):
    flat = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
    found = read({"model_type": "gemma3_text", "rope_parameters": flat})
    older = {"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "rope_theta": 1e6}
    assert found.variants == read({"model_type": "gemma3_text"} | older).variants
    assert "Hugging Face ignores others" in found.notes[0]
