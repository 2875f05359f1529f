"""Configurations made to hurt: a sane geometry or one sentence comes out, and nothing else."""

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import geometry_from_json, geometry_to_json
from ropewalk.models.families import FAMILIES
from ropewalk.models.huggingface import geometry_from_config
from ropewalk.models.scaling import ROPE_TYPES
from ropewalk.strict_json import parse_json_object

SMALL = st.integers(-3, 300)
EDGE = st.sampled_from(
    [0, -1, 1, 2, 1 << 16, 1 << 31, 1 << 40, 10**39, 0.0, -0.0, 0.3, 0.5, 1.0, 1e-300, 5e-324, 1e308, 1.5, 4096, 1e6]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | EDGE | SMALL | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def some_of(values, most):
    """Up to ``most`` of the keys of ``values``, each with a value from its strategy."""
    return st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: values[key] for key in keys})
    )


DIVISORS = st.sampled_from([[1.0] * 32, [1.5] * 31 + [1e6], [2] * 32]) | st.lists(EDGE, min_size=32, max_size=32)
PARAMETERS = some_of(
    {
        "rope_type": st.sampled_from([*sorted(ROPE_TYPES), "mrope", "su", "axial", "deepseek_yarn", "", 3]),
        "type": st.sampled_from(["yarn", "default", None]),
        "rope_theta": EDGE | ANYTHING,
        "factor": EDGE | st.floats(0.1, 1e4) | ANYTHING,
        "original_max_position_embeddings": EDGE | SMALL | ANYTHING,
        "beta_fast": EDGE | SMALL | ANYTHING,
        "beta_slow": EDGE | SMALL | ANYTHING,
        "truncate": st.booleans() | ANYTHING,
        "mscale": EDGE | ANYTHING,
        "mscale_all_dim": EDGE | ANYTHING,
        "attention_factor": EDGE | ANYTHING,
        "low_freq_factor": EDGE | st.floats(0.1, 100) | ANYTHING,
        "high_freq_factor": EDGE | st.floats(0.1, 100) | ANYTHING,
        "short_factor": DIVISORS | ANYTHING,
        "long_factor": DIVISORS | ANYTHING,
        "short_mscale": EDGE | ANYTHING,
        "alpha": EDGE | st.floats(1, 1e6) | ANYTHING,
        "mixed_b": EDGE | st.floats(0, 2) | ANYTHING,
        "max_trained_positions": EDGE | SMALL | ANYTHING,
        "mrope_section": st.sampled_from([[16, 8, 8], [32], [8, 12, 12, 0], []]) | st.lists(SMALL | EDGE, max_size=4),
        "mrope_interleaved": st.booleans() | ANYTHING,
        "partial_rotary_factor": st.floats(0, 1) | ANYTHING,
    },
    most=3,
)
LAYERS = st.sampled_from(["full_attention", "sliding_attention", "linear_attention", "x"])
CONFIGURATIONS = some_of(
    {
        "model_type": st.sampled_from(sorted(FAMILIES)) | st.sampled_from(["unknown", "gemma3", "bloom"]),
        "hidden_size": st.sampled_from([64, 640, 3584]) | EDGE | ANYTHING,
        "num_attention_heads": st.sampled_from([1, 4, 8]) | SMALL | ANYTHING,
        "num_key_value_heads": st.sampled_from([1, 2]) | SMALL | ANYTHING,
        "head_dim": st.sampled_from([2, 64, 100]) | SMALL | ANYTHING,
        "num_hidden_layers": st.integers(1, 6) | ANYTHING,
        "max_position_embeddings": st.sampled_from([1, 4096, 1 << 24]) | EDGE | ANYTHING,
        "rope_theta": st.sampled_from([1, 1e4, 500000]) | EDGE | ANYTHING,
        "rope_scaling": PARAMETERS | ANYTHING,
        "rope_parameters": PARAMETERS | st.dictionaries(LAYERS, PARAMETERS | ANYTHING, max_size=3) | ANYTHING,
        "layer_types": st.lists(LAYERS, max_size=6) | ANYTHING,
        "partial_rotary_factor": st.floats(0, 1) | ANYTHING,
        "qk_rope_head_dim": SMALL | ANYTHING,
        "sliding_window_pattern": SMALL | st.sampled_from(["LLG", "G", ""]) | ANYTHING,
        "no_rope_layers": st.lists(st.integers(0, 1), max_size=6) | ANYTHING,
        "text_config": ANYTHING,
        "global_head_dim": SMALL | ANYTHING,
        "num_global_key_value_heads": SMALL | ANYTHING,
        "per_layer_config": st.dictionaries(st.text(max_size=2), PARAMETERS | ANYTHING, max_size=2) | ANYTHING,
        "compress_ratios": st.lists(st.sampled_from([0, 4, 128, 3]), max_size=4) | ANYTHING,
        "compress_rope_theta": EDGE | ANYTHING,
        "rope_ratio": EDGE | ANYTHING,
        "original_max_position_embeddings": EDGE | SMALL | ANYTHING,
        "full_attn_idxs": ANYTHING,
        "query_pre_attn_scalar": EDGE | ANYTHING,
    },
    most=4,
)


def check(config, follow, length=None):
    said = []
    try:
        found = geometry_from_config(
            config, "x", follow=follow, sequence_length=length, note=said.append, ignored=said.append
        )
    except InputError as refusal:
        message = str(refusal)
        assert message.isprintable()
        assert len(message) < 600
        return
    for slot, variant in enumerate(found.variants):
        shape = found.of(slot)
        assert 2 <= shape.rotary_dim <= shape.head_dim
        assert 0 <= shape.rotary_start <= shape.head_dim - shape.rotary_dim
        assert shape.query_heads % shape.key_heads == 0
        assert len(variant.inverse_frequency) == shape.rotary_dim // 2
        assert variant.axis is None or len(variant.axis) == shape.rotary_dim // 2
        assert all(math.isfinite(f) and 0 <= f <= 1 << 20 for f in variant.inverse_frequency)
        assert 0 < variant.amplitude <= 1024
        assert 1 <= variant.max_position <= 1 << 40
    assert all(sentence.isprintable() for sentence in said)
    # whatever comes out must also be a geometry for those who read it back
    again = geometry_from_json(json.loads(json.dumps(geometry_to_json(found), allow_nan=False)))
    assert again.variants == found.variants


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "rope_theta": 1e4}
LLAMA = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "num_hidden_layers": 2}


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONGROPE = {"type": "su", "short_factor": [1.0] * 32, "long_factor": [2.0] * 32}
SOUND = [
    LLAMA,
    LLAMA | {"rope_scaling": YARN},
    LLAMA | {"model_type": "deepseek_v3", "rope_parameters": YARN | {"mscale": 1.0, "mscale_all_dim": 0.7}},
    LLAMA | {"model_type": "gemma3_text", "rope_local_base_freq": 1e4, "query_pre_attn_scalar": 168},
    LLAMA | {"model_type": "smollm3", "rope_theta": 2e6},
    LLAMA | {"rope_parameters": {"rope_type": "linear", "factor": 8.0}},
    LLAMA | {"rope_parameters": {"rope_type": "dynamic", "factor": 8.0}},
    LLAMA | {"rope_scaling": {"type": "dynamic", "alpha": 8.0}},
    LLAMA | {"rope_scaling": {"type": "ntk", "factor": 8.0, "mixed_b": 0.6}},
    LLAMA | {"rope_scaling": LLAMA3},
    LLAMA | {"model_type": "phi3", "rope_scaling": LONGROPE},
    LLAMA | {"model_type": "gemma4_text", "num_key_value_heads": 2},
    LLAMA | {"model_type": "deepseek_v4", "num_attention_heads": 4, "rope_scaling": YARN, "compress_ratios": [0, 4]},
    LLAMA
    | {
        "model_type": "qwen2_vl",
        "num_key_value_heads": 2,
        "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]},
    },
    LLAMA
    | {
        "model_type": "chatglm",
        "rope_ratio": 50,
        "seq_length": 8192,
        "multi_query_group_num": 2,
        "multi_query_attention": True,
    },
    LLAMA
    | {
        "layer_types": ["full_attention", "sliding_attention"],
        "rope_parameters": {"full_attention": YARN, "sliding_attention": {"rope_theta": 1e4}},
    },
]


FOLLOWS = st.sampled_from(["hf", "llama.cpp", "vllm"])


@settings(max_examples=500)
@given(st.sampled_from(SOUND), CONFIGURATIONS, FOLLOWS, st.none() | st.integers(1, 1 << 40))
def test_odd_values_in_sound_configurations(sound, changes, follow, length):
    check(sound | changes, follow, length)


def test_sound_configurations_are_sound():
    for sound in SOUND:
        assert geometry_from_config(sound, "x", note=str, ignored=str).variants


@settings(max_examples=300)
@given(st.sampled_from([YARN, LLAMA3, LONGROPE, {}]), PARAMETERS, FOLLOWS, st.booleans())
def test_odd_rope_parameters_in_a_sound_configuration(sound, parameters, follow, old):
    check(LLAMA | {"rope_scaling" if old else "rope_parameters": sound | parameters}, follow)


@settings(max_examples=400)
@given(st.sampled_from(sorted(FAMILIES)), PARAMETERS | ANYTHING, CONFIGURATIONS)
def test_odd_values_in_every_family(model_type, parameters, changes):
    check(LLAMA | {"num_key_value_heads": 2, "rope_scaling": parameters} | changes | {"model_type": model_type}, "hf")


@settings(max_examples=200)
@given(st.dictionaries(st.text(max_size=20), ANYTHING, max_size=5))
def test_odd_keys_in_a_sound_configuration(extra):
    check(LLAMA | extra, "hf")


@settings(max_examples=200)
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,0123456789eE+-.NaInfitylrus\\ud8', max_size=60).map(str.encode)
)
def test_bytes_that_may_be_json(data):
    try:
        found = parse_json_object(data, "x")
    except InputError as refusal:
        assert str(refusal).isprintable()
    else:
        check(found, "hf")
