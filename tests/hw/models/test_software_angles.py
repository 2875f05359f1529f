"""Imported models against the cosines and sines of the software itself, at positions to 1,048,575."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.geometry.software import hf_frequencies, llamacpp_parameters
from ropewalk.tables.angle_models import running_angles, software_cos_sin

GOLDEN = json.loads((Path(__file__).parents[2] / "data" / "golden_rope.json").read_text())
POSITIONS = np.array(GOLDEN["positions"])
CONFIGURATIONS = [name for name, values in GOLDEN["configurations"].items() if "mrope_section" not in values]
NOT_IN_LLAMA_CPP = {"internlm2_dynamic2", "proportional_p025_hd512"}
UNIT = 2.0**-23
"""One unit of float32 at 1.0."""


def variant_at(read, config, length):
    """The variant of a model in force at a sequence length."""
    found = read(config, sequence_length=length)
    return next(variant for variant in found.variants if variant.name in found.layers)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_inverse_frequencies_of_hugging_face_bit_for_bit(name, read, golden, golden_config):
    variant = read(golden_config(name)).variants[0]
    assert variant.recipe is not None
    expected = golden[f"hf/{name}/inv_freq_f32"]
    assert np.array_equal(np.array(hf_frequencies(variant.recipe), np.float32), expected)
    if variant.recipe.kind == "longrope":
        long = read(golden_config(name)).variants[1]
        assert np.array_equal(np.array(hf_frequencies(long.recipe), np.float32), golden[f"hf/{name}/inv_freq_long_f32"])


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_cosines_and_sines_of_hugging_face(name, read, golden, golden_config):
    cosines, sines = golden[f"hf/{name}/cos_f32"], golden[f"hf/{name}/sin_f32"]
    config = golden_config(name)
    by_length = name in ("internlm2_dynamic2", "phi35_mini_longrope")
    whole = read(config).variants[0]
    for row, position in enumerate(POSITIONS[: len(cosines)].tolist()):
        variant = variant_at(read, config, position + 1) if by_length else whole
        cosine, sine = software_cos_sin(variant, "hf_f32", [position])
        assert cosine.shape == (1, cosines.shape[1])
        assert np.max(np.abs(cosine[0].astype(float) - cosines[row])) <= UNIT
        assert np.max(np.abs(sine[0].astype(float) - sines[row])) <= UNIT


@pytest.mark.parametrize("name", [name for name in CONFIGURATIONS if name not in NOT_IN_LLAMA_CPP])
def test_cosines_and_sines_of_llama_cpp(name, read, golden, golden_config):
    variant = read(golden_config(name)).variants[-1]  # longrope: the long list at every position
    cosine, sine = software_cos_sin(variant, "llamacpp_f32", POSITIONS)
    assert np.max(np.abs(cosine.astype(float) - golden[f"llama.cpp/{name}/cos_f32"])) <= UNIT
    assert np.max(np.abs(sine.astype(float) - golden[f"llama.cpp/{name}/sin_f32"])) <= UNIT


@pytest.mark.parametrize(
    ("name", "scaling", "magnitude"),
    [
        ("raw_ext0_fs025", {"rope_type": "linear", "factor": 4.0}, 1.0),
        ("raw_attn07_fs1", {"rope_type": "default"}, 0.7),
        (
            "raw_ext1_fs025_octx4096",
            {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096},
            1 + 0.1 * np.log(4),
        ),
    ],
)
def test_rotations_of_llama_cpp_with_parameters_of_their_own(name, scaling, magnitude, read, golden, golden_config):
    config = golden_config("llama2_7b")
    config["rope_parameters"] = {"rope_theta": 10000.0} | scaling
    variant = dataclasses.replace(read(config).variants[0], amplitude=float(magnitude))
    cosine, sine = (values.astype(float) for values in software_cos_sin(variant, "llamacpp_f32", POSITIONS))
    x, y = (half.astype(float)[:, None] for half in np.split(golden["hf/llama2_7b/q"], 2, axis=-1))
    rotated = np.concatenate((x * cosine - y * sine, x * sine + y * cosine), axis=-1)
    assert np.max(np.abs(rotated - golden[f"llama.cpp/{name}/q_rot_f32"])) < 4 * 2.0**-22  # |q| < 4


@pytest.mark.parametrize("name", ["qwen2_vl_7b_mrope", "qwen3_vl_8b_imrope"])
def test_several_axes(name, read, golden, golden_config):
    variant = read(golden_config(name)).variants[0]
    assert np.array_equal(np.array(hf_frequencies(variant.recipe), np.float32), golden[f"hf/{name}/inv_freq_f32"])
    places = golden[f"hf/{name}/thw"]
    per_axis = [software_cos_sin(variant, "hf_f32", places[:, axis]) for axis in range(3)]
    chosen = np.array(variant.axis)
    cosine, sine = (
        np.stack([per_axis[axis][part][:, pair] for pair, axis in enumerate(chosen)], axis=-1).astype(float)
        for part in (0, 1)
    )
    x, y = np.split(golden[f"hf/{name}/q"].astype(float), 2)
    rotated = np.concatenate((x * cosine - y * sine, x * sine + y * cosine), axis=-1)
    assert np.max(np.abs(rotated - golden[f"hf/{name}/q_rot_f32"][0])) < 4 * 2.0**-22


def test_where_llama_cpp_and_hugging_face_disagree(read, golden_config):
    # gpt-oss: llama.cpp rounds YaRN's range to whole pairs whatever the file says (a cosine is 0.025 off at 100).
    variant = read(golden_config("gpt_oss_20b")).variants[0]
    ours = [software_cos_sin(variant, model, [100])[0] for model in ("hf_f32", "llamacpp_f32")]
    assert 0.02 < np.max(np.abs(ours[0] - ours[1])) < 0.04


def test_a_running_product_is_a_product_per_pair(read, golden_config):
    variant = read(golden_config("qwen25_7b")).variants[0]
    parameters = llamacpp_parameters(variant.recipe, 1.0)
    angles = running_angles(parameters, np.array([1048575], np.float32))[0]
    theta = np.float32(1048575)
    for angle in angles:
        assert angle == theta
        theta = theta * np.float32(parameters.theta_scale)
