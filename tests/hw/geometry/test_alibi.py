"""Slopes against the libraries' own, and against the papers' formulas written again here."""

from pathlib import Path

import mpmath
import numpy as np
import pytest
from ropewalk.geometry.alibi import alibi_slopes

DATA = Path(__file__).parents[2] / "data"

with np.load(DATA / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("alibi/"): arrays[name] for name in arrays.files if name.startswith("alibi/")}

SLOPES = sorted(name for name in GOLDEN if "slopes" in name)


def recursive_slopes(heads):
    """As the paper's authors wrote it (get_slopes), in 50 digits."""
    power = 1 << (heads.bit_length() - 1)
    if power == heads:
        start = mpmath.power(2, -mpmath.mpf(8) / heads)
        return [start ** (head + 1) for head in range(heads)]
    return recursive_slopes(power) + recursive_slopes(2 * power)[0::2][: heads - power]


def shuffled_slopes(heads, bias_max):
    """As MPT's authors wrote it, from the power of two above, in 50 digits."""
    power = 1 << (heads - 1).bit_length()
    slopes = [mpmath.power(2, -mpmath.mpf(head + 1) * bias_max / power) for head in range(power)]
    return slopes if power == heads else (slopes[1::2] + slopes[0::2])[:heads]


def llamacpp_slopes(heads, bias_max):
    """As llama.cpp's soft_max writes it: two bases and their powers, in 50 digits."""
    power = 1 << (heads.bit_length() - 1)
    first, second = mpmath.power(2, -mpmath.mpf(bias_max) / power), mpmath.power(2, -mpmath.mpf(bias_max) / 2 / power)
    return [first ** (h + 1) if h < power else second ** (2 * (h - power) + 1) for h in range(heads)]


def test_the_golden_arrays_have_all_four_forms():
    assert len(SLOPES) == 4 * 29
    assert {name.split("/")[0] for name in SLOPES} == {
        "ref_slopes",
        "bloom_slopes",
        "mpt_slopes",
        "llamacpp_formula_slopes_f32",
    }


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_the_libraries_own(name):
    heads = int(name.split("/")[1])
    tolerance = 1e-12 if name.startswith("ref") else 2e-6
    np.testing.assert_allclose(alibi_slopes(heads), GOLDEN[name], rtol=tolerance, atol=0)


@pytest.mark.parametrize("form", [recursive_slopes, lambda n: shuffled_slopes(n, 8), lambda n: llamacpp_slopes(n, 8)])
def test_slopes_of_every_head_count_are_the_nearest_doubles(form):
    with mpmath.workprec(200):
        for heads in range(1, 129):
            assert alibi_slopes(heads) == tuple(float(slope) for slope in form(heads)), heads


@pytest.mark.parametrize("bias_max", [4, 8, 10.5, 16, 32])
@pytest.mark.parametrize("heads", [1, 3, 8, 12, 40, 112])
def test_another_largest_exponent(heads, bias_max):
    with mpmath.workprec(200):
        expected = [float(slope) for slope in shuffled_slopes(heads, bias_max)]
        assert expected == [float(slope) for slope in llamacpp_slopes(heads, bias_max)]
    assert list(alibi_slopes(heads, bias_max)) == expected


def test_the_last_of_a_power_of_two_is_two_to_the_minus_eight():
    for heads in (1, 2, 4, 8, 16, 32, 64, 128, 4096):
        assert alibi_slopes(heads)[-1] == 2.0**-8


def test_bloom_multiplies_slopes_with_the_number_of_unmasked_keys_before():
    mask = GOLDEN["tensor_attention_mask"]
    positions = (np.cumsum(mask, axis=1) - 1) * mask
    expected = positions[:, None, :] * np.array(alibi_slopes(12))[None, :, None]
    np.testing.assert_allclose(GOLDEN["bloom_tensor_f32/12"].reshape(3, 12, 12), expected, rtol=2e-6)


def test_falcon_rounds_to_bfloat16_what_bloom_does_not():
    mask = GOLDEN["tensor_attention_mask"]
    positions = (np.cumsum(mask, axis=1) - 1) * mask
    exact = positions[:, None, :] * np.array(alibi_slopes(12))[None, :, None]
    falcon = GOLDEN["falcon_tensor_f32/12"].reshape(3, 12, 12)
    # Two roundings to 8 bits of mantissa: the slope, the product.
    np.testing.assert_allclose(falcon, exact, rtol=2.0**-8)
    assert np.abs(falcon - exact).max() > 1e-3


@pytest.mark.parametrize(("name", "heads", "bias_max"), [("12_len12", 12, 8), ("8_len12_biasmax16", 8, 16)])
def test_mpt_multiplies_slopes_with_the_distance_from_the_last_key(name, heads, bias_max):
    expected = np.array(alibi_slopes(heads, bias_max))[:, None] * np.arange(-11, 1)
    np.testing.assert_allclose(GOLDEN[f"mpt_tensor_f32/{name}"][:, 0], expected, rtol=2e-6)
