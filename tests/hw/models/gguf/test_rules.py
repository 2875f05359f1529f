"""The rules of llama.cpp's loader that single keys follow, and where --follow makes a difference."""

import math

import numpy as np
import pytest
from ropewalk.errors import InputError

SMALL = {
    "block_count": 4,
    "context_length": 4096,
    "embedding_length": 256,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
}
YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 1024}


def refusal(read, architecture, keys, tensors=None, **arguments):
    with pytest.raises(InputError) as caught:
        read(architecture, keys, tensors, **arguments)
    return str(caught.value).split("model.gguf: ", 1)[1]


def only(found):
    (variant,) = found.variants
    return variant


def plain(base, width):
    return [base ** (-2 * pair / width) for pair in range(width // 2)]


def test_defaults(read):
    """Without any rope key: base 10,000, the whole head, no scaling."""
    found = read("llama", SMALL)
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (64, 64, 4, 2)
    assert only(found).inverse_frequency == pytest.approx(plain(1e4, 64), rel=1e-15)
    assert (only(found).amplitude, only(found).max_position, found.layers) == (1.0, 4096, ("default",) * 4)


def test_head_count_kv_is_head_count_where_absent(read):
    keys = {key: value for key, value in SMALL.items() if key != "attention.head_count_kv"}
    assert read("llama", keys).key_heads == 4


@pytest.mark.parametrize("key", ["rope.scaling.factor", "rope.scale_linear"])
def test_linear_is_the_type_where_none_is_given(read, key):
    found = read("llama", SMALL | {key: 4.0})
    assert only(found).inverse_frequency == pytest.approx([value / 4 for value in plain(1e4, 64)], rel=1e-15)
    assert only(read("llama", SMALL | {key: 0.0})).inverse_frequency == pytest.approx(plain(1e4, 64), rel=1e-15)


def test_the_newer_factor_wins(read):
    found = read("llama", SMALL | {"rope.scaling.factor": 2.0, "rope.scale_linear": 4.0})
    assert only(found).inverse_frequency[1] == pytest.approx(plain(1e4, 64)[1] / 2, rel=1e-15)


def test_type_none_never_scales(read):
    found = read("llama", SMALL | {"rope.scaling.type": "none", "rope.scaling.factor": 4.0})
    assert only(found).inverse_frequency == pytest.approx(plain(1e4, 64), rel=1e-15)


@pytest.mark.parametrize("kind", ["none", "linear", "yarn"])
def test_divisors_apply_whatever_the_type(read, kind):
    divisors = np.linspace(1, 8, 32, dtype=np.float32)
    keys = SMALL | YARN | {"rope.scaling.type": kind}
    bare, divided = read("llama", keys), read("llama", keys, {"rope_freqs.weight": divisors})
    ratio = np.array(only(bare).inverse_frequency) / np.array(only(divided).inverse_frequency)
    assert np.allclose(ratio, divisors.astype(float), rtol=1e-14, atol=0)
    assert only(bare).amplitude == only(divided).amplitude


def test_attn_factor_multiplies_the_amplitude(read):
    assert only(read("llama", SMALL | {"rope.scaling.attn_factor": 0.7})).amplitude == 0.7
    found = read("llama", SMALL | YARN | {"rope.scaling.attn_factor": 0.5})
    assert only(found).amplitude == pytest.approx(0.5 * (0.1 * math.log(4) + 1), rel=1e-15)


def test_original_length_is_the_context_where_absent(read):
    keys = SMALL | {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0}
    given = read("llama", keys | {"rope.scaling.original_context_length": 4096})
    assert only(read("llama", keys)) == only(given)
    assert only(given).max_position == 16384


def test_yarn_attn_factor(read):
    keys = SMALL | YARN | {"rope.scaling.yarn_attn_factor": 1.25}
    said = []
    assert only(read("llama", keys, notes=said.append)).amplitude == 1.25
    assert any("llama.cpp ignores it and takes 1.13863" in sentence for sentence in said)
    usual = 0.1 * math.log(4) + 1
    assert only(read("llama", keys, follow="llama.cpp")).amplitude == pytest.approx(usual, rel=1e-15)
    # the older key attn_factor, which converters write there too and every stack of today ignores
    older = keys | {"rope.scaling.yarn_attn_factor": 1 / usual}
    assert only(read("llama", older)).amplitude == pytest.approx(usual, rel=1e-15)


def test_betas_are_the_authors_or_llama_cpps(read):
    keys = SMALL | YARN | {"rope.scaling.yarn_beta_fast": 4.0}
    meant, computed = read("llama", keys), read("llama", keys, follow="llama.cpp")
    assert only(computed).inverse_frequency == only(read("llama", SMALL | YARN)).inverse_frequency
    assert only(meant).inverse_frequency != only(computed).inverse_frequency
    for follow in ("hf", "llama.cpp"):  # the loader reads the key in this architecture
        found = read("mistral3", keys, follow=follow)
        assert only(found).inverse_frequency == only(meant).inverse_frequency


def test_swapped_betas(read):
    keys = SMALL | YARN | {"rope.scaling.yarn_beta_fast": 1.0, "rope.scaling.yarn_beta_slow": 32.0}
    blend, step = read("mistral3", keys), read("mistral3", keys, follow="llama.cpp")
    ratios = np.array(only(step).inverse_frequency) / plain(1e4, 64)
    assert np.all(np.isclose(ratios, 1, rtol=1e-12) | np.isclose(ratios, 0.25, rtol=1e-12))
    assert only(blend).inverse_frequency != only(step).inverse_frequency


def test_ext_factor_of_grok(read):
    keys = SMALL | YARN
    whole = np.array(only(read("grok", keys)).inverse_frequency)
    linear = np.array(plain(1e4, 64)) / 4
    half = np.array(only(read("grok", keys | {"rope.scaling.yarn_ext_factor": 0.5})).inverse_frequency)
    assert np.allclose(half, (whole + linear) / 2, rtol=1e-14, atol=0)
    none = only(read("grok", keys | {"rope.scaling.yarn_ext_factor": 0.0, "rope.scaling.yarn_attn_factor": 1.5}))
    assert np.allclose(none.inverse_frequency, linear, rtol=1e-14, atol=0)
    assert none.amplitude == 1.5
    said = []
    other = read("llama", keys | {"rope.scaling.yarn_ext_factor": 0.5}, notes=said.append)
    assert only(other) == only(read("llama", keys))
    assert any("yarn_ext_factor 0.5 is ignored" in sentence for sentence in said)


def longrope(pairs):
    return {
        f"rope_factors_{name}.weight": np.linspace(1, last, pairs, dtype=np.float32)
        for name, last in (("short", 3.0), ("long", 60.0))
    }


LONGROPE = SMALL | {
    "context_length": 131072,
    "rope.scaling.type": "longrope",
    "rope.scaling.original_context_length": 4096,
}


def test_longrope_has_two_variants(read):
    exact = math.sqrt(1 + math.log(32) / math.log(4096))
    found = read("phi3", LONGROPE | {"rope.scaling.attn_factor": float(np.float32(exact))}, longrope(32))
    short, long = found.variants
    assert (short.name, short.max_position, long.name, long.max_position) == ("short", 4096, "long", 131072)
    assert short.inverse_frequency[-1] == pytest.approx(plain(1e4, 64)[-1] / 3, rel=1e-15)
    assert long.inverse_frequency[-1] == pytest.approx(plain(1e4, 64)[-1] / 60, rel=1e-15)
    # what the file keeps is the 32-bit float next to the formula's value, which is then taken
    assert short.amplitude == long.amplitude == pytest.approx(exact, rel=1e-15)
    other = read("phi3", LONGROPE | {"rope.scaling.attn_factor": 1.25}, longrope(32))
    assert [variant.amplitude for variant in other.variants] == [1.25, 1.25]


@pytest.mark.parametrize(
    ("follow", "length", "layer"),
    [
        ("hf", None, "short"),
        ("hf", 8192, "long"),
        ("hf", 4096, "short"),
        ("llama.cpp", None, "long"),
        ("llama.cpp", 4096, "short"),
    ],
)
def test_which_list_is_in_force(read, follow, length, layer):
    found = read("phi3", LONGROPE, longrope(32), follow=follow, sequence_length=length)
    assert found.layers == (layer,) * 4


def test_longrope_without_an_amplitude(read):
    assert read("minicpm3", LATENT, longrope(16), follow="llama.cpp").variants[0].amplitude == 1.0
    exact = math.sqrt(1 + math.log(32) / math.log(4096))
    assert read("minicpm3", LATENT, longrope(16)).variants[0].amplitude == pytest.approx(exact, rel=1e-15)


LATENT = LONGROPE | {"attention.key_length": 96, "rope.dimension_count": 32}


def test_latent_attention_is_the_rotary_slice_alone(read):
    found = read("minicpm3", LATENT, longrope(16))
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (32, 32, 4, 1)
    assert found.pairing == "half"


def test_log_multiplier_of_a_tenth(read):
    keys = SMALL | YARN | {"rope.dimension_count": 32}
    found = read("deepseek2", keys | {"rope.scaling.yarn_log_multiplier": 0.0707})
    assert only(found).amplitude == 1.0  # mscale is taken to be the same
    assert found.attention_scale == pytest.approx((0.1 * 0.707 * math.log(4) + 1) ** 2, rel=1e-9)
    gain = 0.1 * math.log(4) + 1
    other = read("deepseek32", keys | {"rope.scaling.yarn_log_multiplier": 0.0707})  # mscale is taken to be 1
    assert only(other).amplitude == pytest.approx(gain / (0.1 * 0.707 * math.log(4) + 1), rel=1e-9)


def test_interleaved_axes_past_the_sections_stand_still_in_llama_cpp(read):
    """Qwen3-VL's sections claim 62 of the 64 pairs: 61 and 62 are 1 and 2 modulo 3, past 3 x 20."""
    keys = SMALL | {"attention.key_length": 128, "rope.dimension_sections": [24, 20, 20, 0]}
    meant, computed = only(read("qwen3vl", keys)), only(read("qwen3vl", keys, follow="llama.cpp"))
    assert meant.axis == computed.axis
    assert meant.axis[60:] == (0, 0, 0, 0)
    changed = [pair for pair in range(64) if meant.inverse_frequency[pair] != computed.inverse_frequency[pair]]
    assert changed == [61, 62]
    assert [computed.inverse_frequency[pair] for pair in changed] == [0.0, 0.0]


def test_sections_of_one_axis_are_none(read):
    found = read("glm4", SMALL | {"rope.dimension_sections": [32, 0, 0, 0]})
    assert (only(found).axis, found.pairing) == (None, "interleaved")
    several = read("glm4", SMALL | {"rope.dimension_sections": [8, 12, 12, 0]})
    assert (only(several).axis, several.pairing) == ((0,) * 8 + (1,) * 12 + (2,) * 12, "half")


def test_static_ntk_of_hunyuan(read):
    found = read("hunyuan_vl", SMALL | {"rope.scaling.alpha": 1000.0})
    assert only(found).inverse_frequency == pytest.approx(plain(1e4 * 1000 ** (64 / 62), 64), rel=1e-14)


def kinds(found):
    return "".join(layer[0] if layer else "-" for layer in found.layers)


WINDOW = SMALL | {"block_count": 8, "attention.sliding_window": 512}


@pytest.mark.parametrize(
    ("architecture", "keys", "layers"),
    [
        ("gemma3", WINDOW, "sssssfss"),
        ("gemma3", SMALL, "dddd"),  # no window: all layers are global
        ("gemma3", WINDOW | {"attention.sliding_window_pattern": 4}, "sssfsssf"),
        ("gemma3", WINDOW | {"attention.sliding_window_pattern": [True, False] * 4}, "sfsfsfsf"),
        ("gemma3n", WINDOW, "ssssfsss"),
        ("modern-bert", WINDOW, "fssfssfs"),
        ("olmo2", WINDOW, "sssfsssf"),
        ("plamo3", WINDOW, "sssssssf"),
        ("gemma2", WINDOW, "dddddddd"),  # both kinds are rotated alike
        ("gemma2", WINDOW | {"rope.freq_base_swa": 500.0}, "sfsfsfsf"),
        ("cohere2", WINDOW, "ddd-ddd-"),
        ("exaone4", WINDOW, "ddd-ddd-"),
        ("exaone4", SMALL, "dddd"),
        ("llama4", SMALL, "ddd-"),
        ("llama4", SMALL | {"attention.sliding_window": 0}, "dddd"),
        ("smollm3", SMALL, "ddd-"),
        ("smallthinker", WINDOW, "-ddd-ddd"),
        ("smallthinker", SMALL, "dddd"),
        ("afmoe", WINDOW, "ddd-ddd-"),
        ("qwen3next", SMALL, "---d"),
        ("qwen3next", SMALL | {"full_attention_interval": 2}, "-d-d"),
        ("lfm2", SMALL | {"attention.head_count_kv": [0, 2, 0, 2]}, "-d-d"),
        ("qwen3", SMALL | {"nextn_predict_layers": 1}, "ddd"),
    ],
)
def test_layers(read, architecture, keys, layers):
    assert kinds(read(architecture, keys)) == layers


@pytest.mark.parametrize(
    ("architecture", "base", "scaled"),
    [
        ("gemma3", 1e4, False),
        ("modern-bert", 1e4, False),
        ("olmo2", 1e6, False),
        ("gpt-oss", None, True),
        ("gemma2", None, True),
        ("laguna", 1e6, False),
    ],
)
def test_windowed_layers_without_a_base_of_their_own(read, architecture, base, scaled):
    """TRUTH, section 5: 10,000 and unscaled, the global base and scaled, or the global base and unscaled."""
    found = read(architecture, WINDOW | {"rope.freq_base": 1e6, "rope.scaling.factor": 4.0})
    full = found.variants[0]
    assert full.inverse_frequency == pytest.approx([value / 4 for value in plain(1e6, 64)], rel=1e-14)
    assert len(found.variants) == (1 if scaled else 2)
    if not scaled:
        assert found.variants[1].inverse_frequency == pytest.approx(plain(base, 64), rel=1e-14)
        assert found.variants[1].amplitude == 1.0


def test_shapes_of_windowed_layers(read):
    keys = WINDOW | {"attention.key_length": 64, "rope.dimension_count": 32, "rope.dimension_count_swa": 64}
    found = read("laguna", keys)
    assert (found.of(0).rotary_dim, found.of(1).rotary_dim) == (32, 64)
    assert [len(variant.inverse_frequency) for variant in found.variants] == [16, 32]


def test_step_3_5_rotates_half_in_its_full_layers(read):
    found = read("step35", WINDOW | {"attention.sliding_window_pattern": [True, True, True, False] * 2})
    assert (found.of(0).rotary_dim, found.of(1).rotary_dim) == (32, 64)


def test_granites_switch(read):
    assert only(read("granite", SMALL | {"rope.scaling.finetuned": True})).amplitude == 1.0
    assert "turns rotation off" in refusal(read, "granite", SMALL | {"rope.scaling.finetuned": False})


@pytest.mark.parametrize(
    ("architecture", "keys", "mode", "computed", "slope"),
    [
        ("bloom", {}, "absolute", "relative", 2**-2),
        ("mpt", {"attention.max_alibi_bias": 8.0}, "mpt", "relative", 2**-2),
        ("mpt", {"attention.max_alibi_bias": 16.0}, "mpt", "relative", 2**-4),
        ("jina-bert-v2", {}, "symmetric", "symmetric", 2**-2),
        ("refact", {}, "relative", "relative", 2**-2),
        ("jais", {"attention.max_alibi_bias": 8.0}, "relative", "relative", 2**-2),
    ],
)
def test_alibi(read, architecture, keys, mode, computed, slope):
    found = read(architecture, SMALL | keys)
    assert (found.heads, found.mode, found.slopes[0], found.model_type) == (4, mode, slope, architecture)
    assert read(architecture, SMALL | keys, follow="llama.cpp").mode == computed


def test_baichuan_is_alibi_at_40_layers(read):
    assert read("baichuan", SMALL | {"block_count": 40}).mode == "relative"
    assert read("baichuan", SMALL | {"block_count": 32}).pairing == "interleaved"


TABLE = {"position_embd.weight": np.zeros((64, 16), dtype=np.float32)}


@pytest.mark.parametrize("architecture", ["gpt2", "bert", "starcoder", "mpt"])
def test_learned(read, architecture):
    keys = SMALL | {"context_length": 64, "embedding_length": 16}
    found = read(architecture, keys, TABLE)
    assert (found.rows, found.dimension, found.row_offset) == (64, 16, 0)


def test_unknown_architectures(read):
    said = []
    found = read("newmodel", SMALL | {"rope.freq_base": 5e5}, notes=said.append)
    assert found.pairing == "half"
    assert any("half pairing is assumed" in sentence for sentence in said)
    assert read("newmodel", SMALL | {"rope.freq_base": 5e5}, pairing="interleaved").pairing == "interleaved"
    assert "unknown and none of its keys" in refusal(read, "newmodel", SMALL)


def test_pairing_can_be_overridden(read):
    found = read("llama", SMALL, pairing="half")
    assert found.pairing == found.output_pairing == "half"


@pytest.mark.parametrize(
    ("architecture", "keys", "said"),
    [
        ("llama", {"rope.unknown": 1}, "the key llama.rope.unknown could change the geometry, and is not understood"),
        ("llama", {"rope.scaling.low_freq_factor": 1.0}, "llama.rope.scaling.low_freq_factor could change"),
        ("llama", {"attention.alibi": True}, "llama.attention.alibi could change"),
        ("llama", {"attention.compress_rope_freq_base": 1e5}, "llama.attention.compress_rope_freq_base could change"),
        ("deepseek4", {"rope.dimension_count": 32}, "deepseek4.attention.compress_ratios is missing"),
        ("llama", {"rope.scaling.alpha": 2.0}, "llama.rope.scaling.alpha is not one of llama"),
        ("llama", {"rope.scaling.type": "dynamic"}, "must be none, linear, yarn or longrope, not 'dynamic'"),
        ("llama", {"rope.scaling.type": "longrope"}, "rope_factors_long.weight and rope_factors_short.weight"),
        ("llama", {"rope.freq_base": math.nan}, "llama.rope.freq_base must be a number from 1 to 1e+30, not nan"),
        ("llama", {"rope.freq_base": math.inf}, "llama.rope.freq_base must be a number from 1"),
        ("llama", {"rope.freq_base": "10000"}, "llama.rope.freq_base must be a number"),
        ("llama", {"rope.freq_base_swa": 5.0}, "llama is not known to have layers with a window"),
        ("llama", {"rope.scaling.factor": -1.0}, "llama.rope.scaling.factor must be a number from 0"),
        ("llama", {"rope.scaling.factor": 1e-30}, "llama.rope.scaling.factor must be 0 or from"),
        ("llama", YARN | {"rope.scaling.yarn_log_multiplier": 0.1}, "is not one of the architecture llama"),
        ("llama", {"rope.dimension_count": 32}, "must be the head size 64: llama.cpp refuses anything else in llama"),
        ("qwen2", {"rope.dimension_count": 33}, "must be even and at most the head size 64"),
        ("qwen2", {"rope.dimension_count": 66}, "must be even and at most the head size 64"),
        ("llama", {"attention.head_count": 0}, "llama.attention.head_count must be an integer from 1 to 4096, not 0"),
        ("llama", {"attention.head_count": 6}, "llama.attention.head_count 6 does not divide embedding_length 256"),
        ("llama", {"attention.head_count_kv": 3}, "head_count_kv 3 does not divide attention.head_count 4"),
        ("llama", {"attention.head_count_kv": [2, 2]}, "a list of block_count = 4 numbers"),
        ("llama", {"attention.head_count_kv": [0, 0, 0, 0]}, "no layer of it is rotated"),
        ("llama", {"block_count": 0}, "llama.block_count must be an integer from 1"),
        ("llama", {"attention.max_alibi_bias": 8.0}, "asks for ALiBi, which llama.cpp does not have in llama"),
        ("llama", {"rope.dimension_sections": [16, 8, 8, 0]}, "several axes, which llama does not have"),
        ("qwen2vl", {}, "qwen2vl.rope.dimension_sections is missing"),
        ("qwen2vl", {"rope.dimension_sections": [8, 8, 8, 8]}, "two or three axes"),
        ("qwen2vl", {"rope.dimension_sections": [16, 24, 24]}, "sums to the 32 pairs"),
        ("gemma4", {"attention.sliding_window": 512}, "gemma4.attention.sliding_window_pattern is missing"),
        ("t5", {}, "the architecture t5 uses bucketed relative positions"),
        ("mamba", {}, "the architecture mamba has no positional encoding"),
        ("mpt", {}, "mpt.attention.max_alibi_bias is missing; it must be above 0"),
        ("deepseek2", {}, "deepseek2.rope.dimension_count is missing"),
        ("llama", {"general.type": "adapter"}, "general.type must be model, not 'adapter'"),
    ],
)
def test_refusals(read, architecture, keys, said):
    assert said in refusal(read, architecture, SMALL | keys)


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({"rope_freqs.weight": np.ones(31, np.float32)}, "must have 32 elements (rotary_dim / 2), not 31"),
        ({"rope_freqs.weight": np.ones(32, np.float16)}, "must hold 32-bit floats, not F16"),
        ({"rope_freqs.weight": np.zeros(32, np.float32)}, "must hold divisors from"),
        ({"rope_freqs.weight": np.full(32, np.nan, np.float32)}, "not nan for pair 0"),
        ({"rope_factors_long.weight": np.ones(32, np.float32)}, "only one is there"),
    ],
)
def test_refused_tensors(read, tensors, said):
    assert said in refusal(read, "phi3", SMALL, tensors)


def test_a_table_of_another_size_is_refused(read):
    keys = SMALL | {"context_length": 63, "embedding_length": 16}
    assert "has 64 rows of 16, but context_length is 63" in refusal(read, "gpt2", keys, TABLE)
