"""What llama.cpp itself computed: the geometry of a file, followed as llama.cpp reads it, gives its cos and sin.

The vectors are ggml's own (``tests/data/golden_rope.md``). Its angles are a running product of 32-bit floats, whose
error grows with the position, so that the bounds do too.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.tables.angle_models import software_cos_sin

DATA = Path(__file__).parents[3] / "data"
GOLDEN = json.loads((DATA / "golden_rope.json").read_text())
POSITIONS = np.array(GOLDEN["positions"])

ARCHITECTURES = {
    "cohere": "command-r",
    "deepseek_v3": "deepseek2",
    "gemma3_text": "llama",  # the local layers' base alone
    "gpt_neox": "gptneox",
    "gpt_oss": "gpt-oss",
    "kimi_k2": "deepseek2",
    "llama": "llama",
    "llama4_text": "llama4",
    "phi": "phi2",
    "phi3": "phi3",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "qwen3_moe": "qwen3moe",
}
BOUNDS = {1: 3e-6, 2: 3e-6, 100: 4e-5, 4095: 2e-3, 4096: 2e-3}
"""Of cos and sin, per position, in units of the amplitude: up to three times the error of ggml's angle."""

with np.load(DATA / "golden_rope.npz") as arrays:
    NAMES = frozenset(arrays.files)

READ_AS_IS = sorted(
    name
    for name, golden in GOLDEN["configurations"].items()
    if f"llama.cpp/{name}/cos_f32" in NAMES
    and golden["family"] in ARCHITECTURES
    # the vectors were made with parameters that llama.cpp's loader would not read out of a file
    and name not in ("kimi_k2_betas_equal", "deepseek_mscale_only")
)


def config_of(golden):
    return {
        "model_type": golden["family"],
        "num_attention_heads": golden["n_heads"],
        "num_key_value_heads": golden["n_kv_heads"],
        "head_dim": golden["head_dim"],
        "num_hidden_layers": 3,
        "max_position_embeddings": golden["max_position_embeddings"],
        "rope_parameters": golden["rope_parameters"],
    }


def keys_of(golden, convert):
    keys, tensors = convert(config_of(golden))
    architecture = ARCHITECTURES[golden["family"]]
    if architecture == "deepseek2":
        keys["rope.dimension_count"] = golden["rotary_dim"]
        keys["rope.scaling.yarn_log_multiplier"] = 0.1 * golden["rope_parameters"].get("mscale_all_dim", 0.0)
    if architecture == "gpt-oss":
        keys["attention.sliding_window"] = 128
    return architecture, keys, tensors


def worst(variant, cos, sin):
    """The largest error of each row, per amplitude."""
    angles = POSITIONS[:, None] * np.array(variant.inverse_frequency)
    exact = variant.amplitude * np.cos(angles), variant.amplitude * np.sin(angles)
    return np.maximum(*(np.abs(a - b).max(axis=1) for a, b in zip(exact, (cos, sin), strict=True))) / variant.amplitude


def vectors(name):
    with np.load(DATA / "golden_rope.npz") as arrays:
        return arrays[f"llama.cpp/{name}/cos_f32"], arrays[f"llama.cpp/{name}/sin_f32"]


def check(variant, name):
    errors = dict(zip(POSITIONS.tolist(), worst(variant, *vectors(name)), strict=True))
    for position, bound in BOUNDS.items():
        assert errors[position] < bound, position


def test_most_configurations_are_compared():
    assert len(READ_AS_IS) >= 18


@pytest.mark.parametrize("name", READ_AS_IS)
def test_cos_and_sin_of_llama_cpp(read, convert, name):
    architecture, keys, tensors = keys_of(GOLDEN["configurations"][name], convert)
    found = read(architecture, keys, tensors, follow="llama.cpp")
    check(found.variants[-1], name)  # of longrope's two the long one, which llama.cpp uses throughout
    if "rope_freqs.weight" in tensors:
        return  # these tests make llama3's divisors with doubles, not with the converter's 32-bit floats
    # Its own single-precision angles, at every position.
    cos, sin = software_cos_sin(found.variants[-1], "llamacpp_f32", POSITIONS)
    for ours, theirs in zip((cos, sin), vectors(name), strict=True):
        assert np.max(np.abs(ours.astype(float) - theirs)) <= 2.0**-23


@pytest.mark.parametrize("name", ["gpt_oss_20b"])
def test_what_was_meant_differs_from_what_llama_cpp_computes(read, convert, name):
    """The fractional range of GPT-OSS: TRUTH has an error of 0.025 at position 100 and of 0.83 at 4095."""
    architecture, keys, tensors = keys_of(GOLDEN["configurations"][name], convert)
    said = []
    found = read(architecture, keys, tensors, notes=said.append)
    errors = dict(zip(POSITIONS.tolist(), worst(found.variants[0], *vectors(name)), strict=True))
    assert errors[100] == pytest.approx(0.0248 / 1.3466, rel=0.3)
    assert 0.4 < errors[4095] < 1.7
    assert any("llama.cpp rounds both to whole pairs" in sentence for sentence in said)


def test_betas_that_llama_cpp_does_not_read(read, convert):
    """Kimi K2's betas stand in its file and mean what the golden vectors have, but llama.cpp takes 32 and 1."""
    name = "kimi_k2_betas_equal"
    architecture, keys, tensors = keys_of(GOLDEN["configurations"][name], convert)
    said = []
    meant = read(architecture, keys, tensors)
    check(meant.variants[0], name)
    computed = read(architecture, keys, tensors, follow="llama.cpp", notes=said.append)
    assert computed.variants[0].inverse_frequency != meant.variants[0].inverse_frequency
    assert any("yarn_beta_fast 1 and yarn_beta_slow 1 are ignored" in sentence for sentence in said)


def test_rotated_queries_of_mrope(read):
    """Both ways of sharing pairs between axes, against queries that ggml rotated."""
    for name, architecture, theta in (
        ("qwen2_vl_7b_mrope", "qwen2vl", 1e6),
        ("qwen3_vl_8b_imrope", "qwen3vl", 5e6),
    ):
        golden = GOLDEN["configurations"][name]
        keys = {
            "block_count": 2,
            "context_length": 32768,
            "embedding_length": 1024,
            "attention.head_count": 8,
            "attention.key_length": 128,
            "rope.freq_base": theta,
            "rope.dimension_sections": [*golden["mrope_section"], 0],
        }
        with np.load(DATA / "golden_rope.npz") as arrays:
            rotated = arrays[f"llama.cpp/{name}/q_rot_f32"]
            queries, positions = arrays[f"hf/{name}/q"], arrays[f"hf/{name}/thw"]
        (variant,) = read(architecture, keys, follow="llama.cpp").variants
        assert variant.axis is not None
        angles = positions[:, list(variant.axis)] * np.array(variant.inverse_frequency)
        x, y = queries[:64], queries[64:]
        wanted = np.concatenate([x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles)], -1)
        errors = np.abs(wanted - rotated[0]).max(axis=1)
        assert np.all(errors < [1e-6, 1e-5, 1e-4, 2e-3, 1e-2])  # positions to 0, 11, 100, 4095, 32767
