"""Imported configurations against what four software stacks computed for them."""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.geometry.frequencies import yarn_amplitude, yarn_frequencies
from ropewalk.geometry.scaled_frequencies import linear_frequencies, ntk_frequencies

DATA = Path(__file__).parents[2] / "data"
META = json.loads((DATA / "golden_rope.json").read_text())
CONFIGURATIONS = META["configurations"]
ONE_AXIS = [name for name in CONFIGURATIONS if "mrope_section" not in CONFIGURATIONS[name]]
POSITIONS = np.array(META["positions"])
ULP = 2.0**-23


def frequencies(golden, name):
    """Pairs of one of our variants' names and the array of the software that it must equal."""
    if name == "phi35_mini_longrope":
        return {"short": f"hf/{name}/inv_freq_", "long": f"hf/{name}/inv_freq_long_"}
    return {"default": f"hf/{name}/inv_freq_"}


def variant_rows(geometry, positions, choose):
    """Exact cos and sin, amplitude included, and angle, of each position by the variant that ``choose`` names."""
    variants = {variant.name: variant for variant in geometry.variants}
    chosen = [variants[choose(position)] for position in positions]
    angle = np.array([position * np.array(v.inverse_frequency) for position, v in zip(positions, chosen, strict=True)])
    amplitude = np.array([v.amplitude for v in chosen])[:, None]
    return amplitude * np.cos(angle), amplitude * np.sin(angle), angle, amplitude


def list_by_length(name, stack):
    """Which variant a stack uses at a position."""
    if name != "phi35_mini_longrope":
        return lambda position: "default"
    if stack == "hf":
        return lambda position: "long" if position + 1 > 4096 else "short"
    return lambda position: "long"


def rotated(geometry, x, cos, sin):
    """``x`` [heads, head_dim] rotated at each position by rows of cos and sin: [heads, positions, head_dim]."""
    start, width = geometry.rotary_start, geometry.rotary_dim
    half = np.arange(width // 2)
    first, second = {
        "half": (half, half + width // 2),
        "interleaved": (2 * half, 2 * half + 1),
    }[geometry.pairing]
    out_first, out_second = {
        "half": (half, half + width // 2),
        "interleaved": (2 * half, 2 * half + 1),
    }[geometry.output_pairing]
    a, b = x[:, None, start + first], x[:, None, start + second]
    y = np.repeat(x[:, None, :], len(cos), axis=1).astype(float)
    y[..., start + out_first] = a * cos - b * sin
    y[..., start + out_second] = a * sin + b * cos
    return y


def float32_error(angle, amplitude, frequency=None):
    """A bound on what float32 makes of a row: the error of its frequencies, half an ulp of their product, cos and sin.

    ``frequency`` are the software's own float32 frequencies and the exact ones, [..., pairs] each. Without them it is
    llama.cpp, which multiplies its way from pair to pair, so that its error grows with the pair.
    """
    if frequency is None:
        relative = (np.arange(angle.shape[-1]) / 2 + 4) * ULP
    else:
        theirs, ours = frequency
        relative = np.abs(theirs - ours) / np.where(ours == 0, 1, ours) + ULP / 2
    return amplitude * (np.abs(angle) * relative + 2 * ULP)


def own_frequencies(golden, name, geometry, positions, choose):
    """The software's frequencies and the exact ones at each position."""
    keys = frequencies(golden, name)
    ours = {variant.name: np.array(variant.inverse_frequency) for variant in geometry.variants}
    names = [choose(position) for position in positions]
    return np.array([golden[keys[one] + "f32"] for one in names]), np.array([ours[one] for one in names])


@pytest.mark.parametrize("old", [False, True], ids=["newer keys", "older keys"])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_frequencies_and_amplitude_are_those_of_hugging_face(read, golden, golden_config, name, old):
    found = read(golden_config(name, old=old))
    variants = {variant.name: variant for variant in found.variants}
    for variant, key in frequencies(golden, name).items():
        ours = np.array(variants[variant].inverse_frequency)
        for suffix, tolerance in (("f32", 1e-6), ("ref64", 1e-12)):
            theirs = golden[key + suffix]
            assert np.all(np.abs(ours - theirs) <= tolerance * theirs)
        amplitude = CONFIGURATIONS[name]["attention_scaling"]
        assert variants[variant].amplitude == pytest.approx(amplitude, rel=1e-12)
    assert found.rotary_dim == CONFIGURATIONS[name]["rotary_dim"]


@pytest.mark.parametrize("length", [32768, 32769, 65536, 131072, 262144])
def test_dynamic_ntk_frozen_at_a_length_is_hugging_faces_at_that_length(read, golden, golden_config, length):
    found = read(golden_config("internlm2_dynamic2"), sequence_length=length)
    ours = np.array(found.variants[0].inverse_frequency)
    for suffix, tolerance in (("f32", 1e-6), ("ref64", 1e-12)):
        theirs = golden[f"hf/internlm2_dynamic2/inv_freq_{suffix}_seq{length}"]
        assert np.all(np.abs(ours - theirs) <= tolerance * theirs)
    assert found.variants[0].max_position == length


@pytest.mark.parametrize("name", [name for name in ONE_AXIS if name != "internlm2_dynamic2"])
def test_rows_and_rotated_vectors_are_hugging_faces_within_its_float32_error(read, golden, golden_config, name):
    found = read(golden_config(name))
    theirs = golden[f"hf/{name}/cos_f32"]
    positions = POSITIONS[: len(theirs)]
    choose = list_by_length(name, "hf")
    cos, sin, angle, amplitude = variant_rows(found, positions, choose)
    bound = float32_error(angle, amplitude, own_frequencies(golden, name, found, positions, choose))
    assert np.all(np.abs(cos - theirs) <= bound)
    assert np.all(np.abs(sin - golden[f"hf/{name}/sin_f32"]) <= bound)
    q = golden[f"hf/{name}/q"]
    difference = np.abs(rotated(found, q, cos, sin) - golden[f"hf/{name}/q_rot_f32"])
    assert np.all(difference <= 2 * np.max(np.abs(q)) * np.max(bound, axis=1)[None, :, None])


def test_rows_of_dynamic_ntk_are_hugging_faces_each_at_its_length(read, golden, golden_config):
    name = "internlm2_dynamic2"
    for row, position in enumerate(POSITIONS):
        found = read(golden_config(name), sequence_length=int(position) + 1)
        cos, _, angle, amplitude = variant_rows(found, [position], lambda _: "default")
        key = f"hf/{name}/inv_freq_f32" + ("" if position < 32768 else f"_seq{position + 1}")
        if key not in golden:  # its frequencies at this length were not kept: as good as at the others
            key = f"hf/{name}/inv_freq_f32"
            assert position == 1048575
            own = np.array(found.variants[0].inverse_frequency) * (1 + 4 * ULP)
        else:
            own = golden[key]
        bound = float32_error(angle, amplitude, (own, np.array(found.variants[0].inverse_frequency)))
        assert np.all(np.abs(cos[0] - golden[f"hf/{name}/cos_f32"][row]) <= bound)


@pytest.mark.parametrize("name", [name for name in ONE_AXIS if "vllm_half" in CONFIGURATIONS[name]])
def test_rows_and_rotated_vectors_are_vllms(read, golden, golden_config, name):
    found = read(golden_config(name), follow="vllm")
    positions = golden[f"vllm/{name}/positions"]
    choose = list_by_length(name, "vllm")
    cos, sin, angle, amplitude = variant_rows(found, positions, choose)
    bound = float32_error(angle, amplitude, own_frequencies(golden, name, found, positions, choose))
    assert np.all(np.abs(cos - golden[f"vllm/{name}/cos_f32"]) <= bound)
    assert np.all(np.abs(sin - golden[f"vllm/{name}/sin_f32"]) <= bound)
    own = "half" if CONFIGURATIONS[name]["vllm_half"] else "interleaved"
    assert found.pairing == own
    found = read(golden_config(name), follow="vllm", pairing=own)  # the output in the same order, DeepSeek's too
    q = golden[f"hf/{name}/q"]
    difference = np.abs(rotated(found, q, cos, sin) - golden[f"vllm/{name}/q_rot_f32"])
    assert np.all(difference <= 2 * np.max(np.abs(q)) * np.max(bound, axis=1)[None, :, None])


def test_vllm_uses_the_long_list_for_good(read, golden_config):
    config = golden_config("phi35_mini_longrope")
    assert read(config, follow="vllm").layers == ("long",) * 3
    assert read(config, follow="vllm", sequence_length=4096).layers == ("short",) * 3
    assert read(config).layers == ("short",) * 3
    assert read(config, sequence_length=4097).layers == ("long",) * 3


@pytest.mark.parametrize("name", [name for name in ONE_AXIS if "llama_cpp" in CONFIGURATIONS[name]])
def test_rows_and_rotated_vectors_are_those_of_llama_cpp(read, golden, golden_config, name):
    stack = CONFIGURATIONS[name]["llama_cpp"]
    own = {"neox": "half", "norm": "interleaved"}[stack["mode"]]
    # ggml was given transformers' amplitude; llama.cpp's own loader would take both mscales to be equal here
    follow = "hf" if name == "deepseek_mscale_only" else "llama.cpp"
    found = read(golden_config(name), follow=follow, pairing=own)
    cos, sin, angle, amplitude = variant_rows(found, POSITIONS, list_by_length(name, "llama.cpp"))
    bound = float32_error(angle, amplitude)
    assert np.all(np.abs(cos - golden[f"llama.cpp/{name}/cos_f32"]) <= bound)
    assert np.all(np.abs(sin - golden[f"llama.cpp/{name}/sin_f32"]) <= bound)
    q = golden[f"hf/{name}/q"]
    difference = np.abs(rotated(found, q, cos, sin) - golden[f"llama.cpp/{name}/q_rot_f32"])
    assert np.all(difference <= 2 * np.max(np.abs(q)) * np.max(bound, axis=1)[None, :, None])


@pytest.mark.parametrize(
    ("name", "frequencies", "amplitude"),
    [
        ("raw_ext0_fs025", linear_frequencies(1e4, 128, factor=4.0), 1.0),
        ("raw_ext1_fs025_octx4096", yarn_frequencies(1e4, 128, factor=4.0, original=4096), yarn_amplitude(4.0)),
        ("raw_attn07_fs1", linear_frequencies(1e4, 128, factor=1.0), 0.7),
    ],
)
def test_raw_parameters_of_llama_cpp(read, golden, golden_config, name, frequencies, amplitude):
    found = read(golden_config("llama2_7b"))
    angle = POSITIONS[:, None] * np.array(frequencies)
    theirs = golden[f"llama.cpp/{name}/q_rot_f32"]
    q = golden["hf/llama2_7b/q"]
    ours = rotated(found, q, amplitude * np.cos(angle), amplitude * np.sin(angle))
    bound = float32_error(angle, amplitude)
    assert np.all(np.abs(ours - theirs) <= 2 * np.max(np.abs(q)) * np.max(bound, axis=1)[None, :, None])


def test_the_yarn_repository(golden):
    theirs = golden["repositories/yarn_llama2_128k/inv_freq_f32"]
    ours = np.array(yarn_frequencies(1e4, 128, factor=32.0, original=4096))
    assert np.all(np.abs(ours / theirs - 1) < 1e-6)
    angle = POSITIONS[:8, None] * ours
    theirs = golden["repositories/yarn_llama2_128k/cos_f32"][:, :64]
    bound = float32_error(angle, yarn_amplitude(32.0), (golden["repositories/yarn_llama2_128k/inv_freq_f32"], ours))
    assert np.all(np.abs(yarn_amplitude(32.0) * np.cos(angle) - theirs) <= bound)
    assert yarn_amplitude(32.0) == pytest.approx(META["repositories"]["yarn_llama2_128k"]["mscale"], rel=1e-15)


@pytest.mark.parametrize("length", [4096, 4097, 8192, 16384])
def test_the_yarn_repositorys_dynamic_yarn_is_yarn_of_the_ratio_of_lengths(golden, length):
    ours = np.array(yarn_frequencies(1e4, 128, factor=length / 4096, original=4096))
    theirs = golden[f"repositories/dynamic_yarn/inv_freq_f32_seq{length}"]
    assert np.all(np.abs(ours / theirs - 1) < 1e-6)
    assert yarn_amplitude(length / 4096) == pytest.approx(
        META["repositories"][f"dynamic_yarn_seq{length}_mscale"], rel=1e-12
    )


def test_static_ntk_is_that_of_the_yarn_repository(read, golden, golden_config):
    ours = np.array(ntk_frequencies(1e4, 128, alpha=4.0))
    assert np.all(np.abs(ours / golden["repositories/ntk_alpha4/inv_freq_f32"] - 1) < 1e-6)
    config = golden_config("llama2_7b") | {"rope_parameters": {"rope_type": "dynamic", "alpha": 4.0, "factor": 1.0}}
    assert read(config, follow="vllm").variants[0].inverse_frequency == tuple(ours)


def test_the_gpt_oss_repository(read, golden, golden_config):
    (variant,) = read(golden_config("gpt_oss_20b")).variants
    ours = np.array(variant.inverse_frequency)
    assert np.all(np.abs(ours / golden["repositories/gpt_oss/inv_freq_f32"] - 1) < 1e-6)
    assert variant.amplitude == pytest.approx(META["repositories"]["gpt_oss"]["concentration"], rel=1e-15)


@pytest.mark.parametrize("old", [False, True], ids=["newer keys", "older keys"])
@pytest.mark.parametrize("name", ["qwen2_vl_7b_mrope", "qwen3_vl_8b_imrope"])
def test_positions_of_three_axes(read, golden, golden_config, name, old):
    found = read(golden_config(name, old=old))
    (variant,) = found.variants
    theirs = golden[f"hf/{name}/inv_freq_f32"]
    ours = np.array(variant.inverse_frequency)
    assert np.all(np.abs(ours / theirs - 1) < 1e-6)
    position = golden[f"hf/{name}/thw"][:, list(variant.axis)]  # [tokens, pairs]
    angle = position * ours
    q = golden[f"hf/{name}/q"][None, :]
    turned = rotated(found, q, np.cos(angle), np.sin(angle))
    for stack, bound in (
        ("hf", float32_error(angle, 1.0, (theirs, ours))),
        ("llama.cpp", float32_error(angle, 1.0)),
    ):
        difference = np.abs(turned - golden[f"{stack}/{name}/q_rot_f32"])
        assert np.all(difference <= 2 * np.max(np.abs(q)) * np.max(bound))
    other = angle[:, ::-1]
    wrong = rotated(found, q, np.cos(other), np.sin(other))
    assert np.max(np.abs(wrong - turned)) > 0.1  # the positions do tell the axes apart
