"""The mistakes that the seeds name, as far as geometry goes: each impossible, or caught."""

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk.lanes import default_lanes
from ropewalk.tables.digest import geometry_digest

QWEN3 = {
    "model_type": "qwen3",
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "num_hidden_layers": 28,
    "max_position_embeddings": 32768,
    "rope_theta": 1e6,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}
LINEAR = {"rope_type": "linear", "factor": 4.0}


def digest(geometry):
    return geometry_digest(Design(geometry=geometry, lanes=default_lanes(geometry)))


def test_d_model_is_never_used_for_head_dim(read):
    # Qwen3 0.6B: neither hidden_size nor hidden_size / heads (64) is the head size
    found = read(QWEN3)
    assert (found.head_dim, found.rotary_dim) == (128, 128)
    assert len(found.variants[0].inverse_frequency) == 64
    expected = 1e6 ** (-np.arange(64) / 64)
    assert np.allclose(found.variants[0].inverse_frequency, expected, rtol=1e-14)
    of_d_model = 1e6 ** (-2 * np.arange(64) / 1024)
    assert not np.any(np.isclose(expected[1:], of_d_model[1:], rtol=1e-3))
    with pytest.raises(InputError, match="num_attention_heads is missing"):
        read(QWEN3 | {"num_attention_heads": None, "head_dim": None})


@pytest.mark.parametrize(("query", "key"), [(28, 4), (71, 1), (9, 3), (32, 32)])
def test_key_heads_are_counted_apart_from_query_heads(read, query, key):
    found = read(QWEN3 | {"num_attention_heads": query, "num_key_value_heads": key})
    assert (found.query_heads, found.key_heads) == (query, key)
    design = Design(geometry=found, lanes=4, value_heads=key)
    assert design.heads == (query, key, key)
    assert design.beats_per_token == (query + 2 * key) * 128 // 8


def test_key_heads_that_do_not_divide_are_refused(read):
    with pytest.raises(InputError, match="num_key_value_heads 5 does not divide num_attention_heads 16"):
        read(QWEN3 | {"num_key_value_heads": 5})


def test_naive_interpolation_is_not_taken_for_yarn(read):
    plain = np.array(read(QWEN3).variants[0].inverse_frequency)
    yarn = read(QWEN3 | {"rope_scaling": YARN}).variants[0]
    linear = read(QWEN3 | {"rope_scaling": LINEAR}).variants[0]
    assert np.allclose(plain / np.array(linear.inverse_frequency), 4.0)
    ratio = plain / np.array(yarn.inverse_frequency)
    assert np.all(ratio[:16] == 1.0)  # fast pairs keep their speed
    assert np.allclose(ratio[-16:], 4.0)  # slow ones are interpolated
    assert np.all(np.diff(ratio) >= 0)
    assert (yarn.amplitude, linear.amplitude) == (pytest.approx(1.1386294, abs=1e-7), 1.0)
    # keys of YaRN under the name of interpolation, or under none, are refused rather than dropped
    for kind in ({"rope_type": "linear"}, {"rope_type": None}):
        with pytest.raises(InputError, match="is not a key of the rope type"):
            read(QWEN3 | {"rope_scaling": YARN | {"beta_fast": 32} | kind})


def test_workers_with_different_scaling_have_different_digests(read):
    scalings = [
        None,
        YARN,
        YARN | {"factor": 4.001},
        YARN | {"attention_factor": 1.0},
        YARN | {"truncate": False},
        YARN | {"original_max_position_embeddings": 8193},
        LINEAR,
        {"rope_type": "dynamic", "factor": 4.0},
        {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    ]
    digests = {digest(read(QWEN3 | {"rope_scaling": scaling})) for scaling in scalings if scaling != scalings[-2]}
    assert len(digests) == len(scalings) - 1
    # dynamic scaling at the original length is plain RoPE, and says so; frozen elsewhere it is not
    dynamic = QWEN3 | {"rope_scaling": scalings[-2]}
    assert digest(read(dynamic)) == digest(read(QWEN3))
    assert digest(read(dynamic, sequence_length=65536)) not in digests


def test_workers_with_the_same_scaling_in_other_words_have_the_same_digest(read):
    newer = {key: value for key, value in QWEN3.items() if key != "rope_theta"}
    older = YARN | {"type": "yarn", "rope_type": None, "beta_fast": 32, "beta_slow": 1, "truncate": True}
    assert digest(read(QWEN3 | {"rope_scaling": older})) == digest(
        read(newer | {"rope_parameters": YARN | {"rope_theta": 1e6}})
    )
