"""The frequencies against the libraries' own, and against a reference of more precision."""

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from ropewalk.geometry.frequencies import (
    default_frequencies,
    yarn_amplitude,
    yarn_frequencies,
    yarn_gain,
    yarn_range,
    yarn_score_scale,
)
from ropewalk_sim.exact import exact_inverse_frequency

DATA = Path(__file__).parents[2] / "data"
CONFIGURATIONS = json.loads((DATA / "golden_frequencies.json").read_text())
YARN_KEYS = ("beta_fast", "beta_slow", "truncate")


@pytest.fixture(scope="module")
def golden():
    with np.load(DATA / "golden_frequencies.npz") as arrays:
        return dict(arrays)


def computed(configuration):
    parameters = configuration["rope_parameters"]
    width = int(configuration["head_dim"] * parameters.get("partial_rotary_factor", 1.0))
    if parameters["rope_type"] == "default":
        return default_frequencies(parameters["rope_theta"], width)
    return yarn_frequencies(
        parameters["rope_theta"],
        width,
        factor=parameters["factor"],
        original=parameters["original_max_position_embeddings"],
        **{key: parameters[key] for key in YARN_KEYS if key in parameters},
    )


def nearest_double(value):
    """The double nearest to an mpf, by exact rational arithmetic."""
    mantissa, exponent = value.man_exp
    return float(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_frequencies_are_those_of_hugging_face(golden, name):
    ours = np.array(computed(CONFIGURATIONS[name]))
    assert np.max(np.abs(ours / golden[f"hf/{name}/inv_freq_f32"] - 1)) < 1e-6
    reference = golden.get(f"hf/{name}/inv_freq_ref64")
    assert reference is not None
    assert np.max(np.abs(ours / reference - 1)) < 1e-12


def test_yarn_is_that_of_its_own_repository(golden):
    ours = np.array(yarn_frequencies(1e4, 128, factor=32.0, original=4096))
    assert np.max(np.abs(ours / golden["yarn_repository/inv_freq_f32"] - 1)) < 1e-6


def test_untruncated_yarn_is_that_of_the_gpt_oss_repository(golden):
    ours = np.array(yarn_frequencies(150_000.0, 64, factor=32.0, original=4096, truncate=False))
    assert np.max(np.abs(ours / golden["gpt_oss_repository/inv_freq_f32"] - 1)) < 1e-6
    rounded = np.array(yarn_frequencies(150_000.0, 64, factor=32.0, original=4096))
    assert np.max(np.abs(rounded / golden["gpt_oss_repository/inv_freq_f32"] - 1)) > 0.4


@pytest.mark.parametrize(
    "name", ["qwen25_7b_yarn4", "yarn_llama2_7b_128k", "gpt_oss_20b", "gpt_oss_20b_truncate_true", "deepseek_v3",
             "deepseek_mscale_only", "kimi_k2_betas_equal", "pythia_6_9b"]
)  # fmt: skip
def test_cosines_are_those_of_vllm(golden, name):
    parameters = CONFIGURATIONS[name]["rope_parameters"]
    amplitude = 1.0
    if parameters["rope_type"] == "yarn":
        amplitude = yarn_amplitude(
            parameters["factor"], **{key: parameters[key] for key in ("mscale", "mscale_all_dim") if key in parameters}
        )
    angle = golden[f"vllm/{name}/positions"][:, None] * np.array(computed(CONFIGURATIONS[name]))
    # float32 is off by half an ulp of an angle of up to 100
    assert np.max(np.abs(amplitude * np.cos(angle) - golden[f"vllm/{name}/cos_f32"])) < 2e-5
    assert np.max(np.abs(amplitude * np.sin(angle) - golden[f"vllm/{name}/sin_f32"])) < 2e-5


@pytest.mark.parametrize(
    ("base", "width", "yarn"),
    [
        (10_000.0, 128, {}),
        (1e6, 256, {}),
        (1_000_042.0, 100, {}),
        (1e6, 128, {"factor": 4.0, "original": 32768}),
        (150_000.0, 64, {"factor": 32.0, "original": 4096, "truncate": False}),
        (50_000.0, 64, {"factor": 32.0, "original": 4096, "beta_fast": 1.0, "beta_slow": 1.0}),
        (10_000.0, 64, {"factor": 7.3, "original": 131072, "truncate": False}),
        (10_000.0, 128, {"factor": 4.0, "original": 4096, "beta_fast": 1.0, "beta_slow": 32.0}),
    ],
)
def test_frequencies_are_rounded_once(base, width, yarn):
    ours = yarn_frequencies(base, width, **yarn) if yarn else default_frequencies(base, width)
    assert list(ours) == [nearest_double(value) for value in exact_inverse_frequency(base, width, **yarn)]


def test_results_do_not_depend_on_the_callers_precision():
    before = yarn_frequencies(1e6, 128, factor=4.0, original=32768)
    with mpmath.workprec(12):
        assert yarn_frequencies(1e6, 128, factor=4.0, original=32768) == before
        assert yarn_gain(4.0, 1.0) == 1.138629436111989


def test_exact_powers_are_exact():
    assert default_frequencies(10_000.0, 8) == (1.0, 0.1, 0.01, 0.001)
    assert default_frequencies(1.0, 4) == (1.0, 1.0)


def test_an_odd_width_has_a_pair_more():
    # transformers 5.24 on 64 x 0.3 = 19: arange(0, 19, 2) / 19
    ours = default_frequencies(10_000.0, 19)
    assert np.allclose(ours, 1.0 / 10_000.0 ** (np.arange(0, 19, 2) / 19), rtol=1e-14)


def test_yarns_range():
    # vLLM issue 27722: gpt-oss's range is fractional
    low, high = yarn_range(150_000.0, 64, original=4096, beta_fast=32.0, beta_slow=1.0, truncate=False)
    assert low == pytest.approx(8.0928, abs=5e-5)
    assert high == pytest.approx(17.398, abs=5e-4)
    assert yarn_range(150_000.0, 64, original=4096) == (8.0, 18.0)
    # keras-hub issue 2981: raw 34.55 is above d / 2 - 1 = 31 and stays
    assert yarn_range(10_000.0, 64, original=131072)[1] == 35.0
    assert yarn_range(2.0, 64, original=131072)[1] == 63.0
    assert yarn_range(10_000.0, 64, original=64)[0] == 0.0


@pytest.mark.parametrize("absent", [None, 0, 0.0])
def test_a_beta_of_none_or_zero_is_the_default(absent):
    given = yarn_frequencies(1e4, 64, factor=40.0, original=4096, beta_fast=32.0, beta_slow=1.0)
    assert yarn_frequencies(1e4, 64, factor=40.0, original=4096, beta_fast=absent, beta_slow=absent) == given


def test_betas_the_wrong_way_round_invert_the_blend_or_step():
    swapped = {"factor": 4.0, "original": 4096, "beta_fast": 1.0, "beta_slow": 32.0}
    plain = np.array(default_frequencies(1e4, 128))
    blend = plain / np.array(yarn_frequencies(1e4, 128, **swapped))
    assert blend[0] == pytest.approx(4.0)  # the fastest pairs are slowed down: Hugging Face's inverted blend
    assert blend[-1] == pytest.approx(1.0)
    step = plain / np.array(yarn_frequencies(1e4, 128, **swapped, inverted="step"))
    low, high = yarn_range(1e4, 128, original=4096, beta_fast=1.0, beta_slow=32.0)
    assert low > high
    assert np.allclose(step, np.where(np.arange(64) <= low, 1.0, 4.0))


@pytest.mark.parametrize(
    ("factor", "amplitude"), [(4.0, 1.1386), (8.0, 1.2079), (32.0, 1.3466), (64.0, 1.4159), (1.0, 1.0), (0.5, 1.0)]
)
def test_amplitudes_met_in_published_models(factor, amplitude):
    assert yarn_amplitude(factor) == pytest.approx(amplitude, abs=5e-5)


@pytest.mark.parametrize(
    "name", [name for name, c in CONFIGURATIONS.items() if c["rope_parameters"]["rope_type"] == "yarn"]
)
def test_amplitudes_are_those_of_hugging_face(name):
    parameters = CONFIGURATIONS[name]["rope_parameters"]
    ours = yarn_amplitude(
        parameters["factor"], mscale=parameters.get("mscale"), mscale_all_dim=parameters.get("mscale_all_dim")
    )
    assert ours == pytest.approx(CONFIGURATIONS[name]["attention_scaling"], rel=1e-15)


def test_the_ratio_of_mscales_needs_both():
    # DeepSeek-V3 has both equal: exactly 1; one of them alone counts for nothing
    assert yarn_amplitude(40.0, mscale=1.0, mscale_all_dim=1.0) == 1.0
    alone = yarn_amplitude(40.0)
    assert alone == pytest.approx(0.1 * math.log(40) + 1, rel=1e-15)
    assert yarn_amplitude(40.0, mscale=0.7) == alone
    assert yarn_amplitude(40.0, mscale_all_dim=0.7) == alone
    assert yarn_amplitude(40.0, mscale=0.0, mscale_all_dim=0.7) == alone


def test_an_explicit_amplitude_wins():
    assert yarn_amplitude(40.0, attention_factor=1.25, mscale=1.0, mscale_all_dim=0.5) == 1.25


@pytest.mark.parametrize(("name", "mscale"), [("deepseek_v3", 1.0), ("deepseek_mscale_only", 0.707)])
def test_deepseeks_score_scale(name, mscale):
    # its softmax scale is 1 / sqrt(192) times ours
    expected = CONFIGURATIONS[name]["softmax_scale_hf"] * math.sqrt(192)
    assert yarn_score_scale(40.0, mscale) == pytest.approx(expected, rel=1e-12)
