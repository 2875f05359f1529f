"""The model against the exact bias, and against what the libraries computed: within 0.51 LSB at every distance."""

from pathlib import Path

import mpmath
import numpy as np
import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.geometry.alibi import MODES, AlibiGeometry, alibi_slopes
from ropewalk.tables.slopes import slope_words
from ropewalk_sim.alibi.exact import exact_bias, exact_slopes
from ropewalk_sim.alibi.model import add_bias, bias_words

DATA = Path(__file__).parents[2] / "data"
TOP = 1 << 24

with np.load(DATA / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("alibi/"): arrays[name] for name in arrays.files if name.startswith("alibi/")}


def places(random, count):
    """Queries, keys and lengths at random, and the corners."""
    query = np.concatenate([random.integers(0, TOP, count), [0, TOP - 1, 0, TOP - 1, 5]])
    key = np.concatenate([random.integers(-9, TOP, count), [TOP - 1, 0, 0, TOP - 1, -1]])
    length = np.concatenate([random.integers(1, TOP + 1, count), [TOP, TOP, 1, 1, TOP]])
    return query, key, length


@pytest.mark.parametrize("fraction_bits", [0, 3, 8, 16, 24])
@pytest.mark.parametrize("mode", range(4))
def test_biases_at_any_distance(mode, fraction_bits):
    random = np.random.default_rng(fraction_bits)
    worst = 0
    for heads in (1, 12, 112, 256):
        words = np.array(slope_words(alibi_slopes(heads), fraction_bits), np.int64)
        query, key, length = places(random, 60)
        head = random.integers(0, heads, len(query))
        got = bias_words(words[head], mode, query, key, length)
        with mpmath.workprec(200):
            for index, bias in enumerate(got.tolist()):
                place = (int(query[index]), int(key[index]), int(length[index]))
                exact = exact_bias(exact_slopes(heads)[head[index]], MODES[mode], *place) * 2**fraction_bits
                worst = max(worst, abs(bias - exact))
    assert 0.4 < worst < 0.51 if fraction_bits else worst < 0.51


@pytest.mark.parametrize("width", range(8, 33))
def test_scores_of_every_width(width):
    """Saturation included: what comes out is the exact sum, clipped, within 0.51 LSB."""
    random = np.random.default_rng(width)
    fraction_bits = min(8, width - 6)
    heads = 20
    geometry = AlibiGeometry(model_type="test", heads=heads, slopes=alibi_slopes(heads), mode="relative")
    design = AlibiDesign(geometry=geometry, data_width=width, fraction_bits=fraction_bits)
    low, high = design.data.minimum, design.data.maximum
    query, key, length = places(random, 80)
    near = random.integers(0, 2, len(query)) == 1
    key = np.where(near, np.clip(query - random.integers(-200, 200, len(query)), -9, TOP - 1), key)
    score = random.integers(low, high + 1, len(query))
    head = random.integers(0, heads, len(query))
    words = np.array(design.slope_words)[head]
    for mode, name in enumerate(MODES):
        got = add_bias(design, score, words, mode, query, key, length, np.zeros(len(query), bool))
        with mpmath.workprec(200):
            for index, out in enumerate(got.tolist()):
                place = (int(query[index]), int(key[index]), int(length[index]))
                bias = exact_bias(exact_slopes(heads)[head[index]], name, *place) * 2**fraction_bits
                exact = min(max(int(score[index]) + bias, low), high)
                assert abs(out - exact) < 0.51, (name, place)


def test_ties_round_up_on_both_sides_of_the_query():
    """A slope of half an LSB: -1/2 becomes 0, -3/2 becomes -1, before the query and behind it."""
    word = np.int64(1 << 29)
    key = np.arange(0, 9)
    got = bias_words(word, 3, np.full(9, 4), key, np.ones(9, np.int64))
    assert got.tolist() == [-2, -1, -1, 0, 0, 0, -1, -1, -2]


def test_blooms_own_biases():
    """Left padding is keys below 0, whose bias is 0; the libraries' float32 is nearer than half an LSB of 2^-16."""
    words = np.array(slope_words(alibi_slopes(12), 16), np.int64)
    mask = GOLDEN["tensor_attention_mask"]
    bloom = GOLDEN["bloom_tensor_f32/12"].reshape(3, 12, 12)
    falcon = GOLDEN["falcon_tensor_f32/12"].reshape(3, 12, 12)
    for batch in range(3):
        # The unit's keys count up from the first one, so a row must be padding, then keys.
        real = np.flatnonzero(mask[batch])
        pad = int(real[0])
        key = np.arange(12) - pad
        got = bias_words(words[:, None], 1, np.zeros(12, np.int64), key, np.ones(12, np.int64)) * 2.0**-16
        keys = slice(0, int(real[-1]) + 1)
        assert mask[batch, pad : real[-1] + 1].all()
        np.testing.assert_allclose(got[:, keys], bloom[batch][:, keys], atol=0.51 * 2.0**-16, rtol=1e-6)
        np.testing.assert_allclose(got[:, keys], falcon[batch][:, keys], atol=0.51 * 2.0**-16, rtol=2.0**-8)


@pytest.mark.parametrize(("name", "heads", "bias_max"), [("12_len12", 12, 8), ("8_len12_biasmax16", 8, 16)])
def test_mpts_own_biases(name, heads, bias_max):
    words = np.array(slope_words(alibi_slopes(heads, bias_max), 16), np.int64)
    got = bias_words(words[:, None], 2, np.zeros(12, np.int64), np.arange(12), np.full(12, 12)) * 2.0**-16
    np.testing.assert_allclose(got, GOLDEN[f"mpt_tensor_f32/{name}"][:, 0], atol=0.51 * 2.0**-16, rtol=1e-6)


def bfloat16(values):
    """Rounded to nearest, ties to even, to 8 bits of mantissa."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1) >> 16 << 16).astype(np.uint32)).view(np.float32)


def test_blooms_bfloat16_is_8_off_at_key_4095_and_the_unit_is_not():
    exact = np.array(alibi_slopes(112)) * 4095
    software = bfloat16(np.array(alibi_slopes(112), np.float32) * np.float32(4095))
    words = np.array(slope_words(alibi_slopes(112), 8), np.int64)
    unit = bias_words(words, 1, np.zeros(112, np.int64), np.full(112, 4095), np.ones(112, np.int64)) / 256
    assert 7 < np.abs(software - exact).max() <= 8
    assert np.abs(unit - exact).max() < 0.51 / 256
