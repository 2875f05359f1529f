"""``--rounding floor`` and ``--coefficients q15``: what other designs do, bit for bit, in gateware and model."""

import math

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import INVERSE, PASS, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.stream_model import run_model

POSITIONS = [0, 1, 2, 3, 7, 11, 22, 44, 333, 355, 710]
"""Among them near whole and half turns of pair 0, whose step is 1 radian: 22 and 355 are near 7 pi and 113 pi."""


def q15(value: float) -> int:
    """A Q1.15 word: rounded, then clipped."""
    return max(-32768, min(32767, math.floor(value * 32768 + 0.5)))


def stream_of(design, words, flags=0):
    return whole_tokens(design, descriptor_words(0, np.array(POSITIONS), flags=flags), words)


def words_of(design, seed: int = 1):
    shape = (len(POSITIONS), sum(design.heads), design.geometry.head_dim)
    words = np.random.default_rng(seed).integers(-32768, 32768, shape)
    words[:, 0] = -32768
    return words


@pytest.mark.parametrize("source", ["synth", "table"])
@pytest.mark.parametrize("rounding", ["half-up", "floor"])
@pytest.mark.parametrize("flags", [0, INVERSE])
def test_a_q15_engine_is_the_textbook_q15_rotator(source, rounding, flags, make_design) -> None:
    design = make_design(
        coefficients="q15", coefficient_width=16, rounding=rounding, source=source, bases=(1e4,), amplitudes=(1.0,),
        positions=720,
    )  # fmt: skip
    words = words_of(design)
    stream = stream_of(design, words, flags)
    expected = words.copy()
    half = 1 << 14 if rounding == "half-up" else 0
    for token, position in enumerate(POSITIONS):
        for pair, frequency in enumerate(design.variants[0].inverse_frequency):
            cos, sin = q15(math.cos(position * frequency)), q15(math.sin(position * frequency))
            sin = -sin if flags else sin
            for head in range(sum(design.heads)):
                x, y = (int(word) for word in words[token, head, 2 * pair : 2 * pair + 2])
                for offset, value in enumerate((x * cos - y * sin, x * sin + y * cos)):
                    expected[token, head, 2 * pair + offset] = max(-32768, min(32767, value + half >> 15))
    model = run_model(design, stream)
    found = model.data.reshape(words.shape)
    if source == "table":
        np.testing.assert_array_equal(found, expected)
    else:
        # The generator's words are within one unit of the correctly rounded ones, so the results within two.
        assert np.abs(found - expected).max() <= 2
        np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(simulate(RotaryPorts(design), design, stream).data, model.data)


def test_position_0_of_q15_is_no_identity_and_pass_is(make_design) -> None:
    design = make_design(coefficients="q15", coefficient_width=16, rounding="floor", bases=(1e4,), amplitudes=(1.0,))
    words = words_of(design)
    rotated = run_model(design, stream_of(design, words)).data.reshape(words.shape)
    assert (rotated[0] != words[0]).any()
    assert (rotated[0] == (words[0] * 32767 >> 15)).all()
    passed = run_model(design, stream_of(design, words, PASS)).data.reshape(words.shape)
    np.testing.assert_array_equal(passed, words)


def test_floor_is_half_an_lsb_low_on_average(make_design) -> None:
    words = None
    means = {}
    for rounding in ("half-up", "floor"):
        design = make_design(rounding=rounding, bases=(1e4,), amplitudes=(1.0,), heads=(200, 1))
        words = words_of(design) // 2
        found = run_model(design, stream_of(design, words)).data.reshape(words.shape)
        angles = np.outer(POSITIONS, design.variants[0].inverse_frequency)[:, None]
        x, y = words[..., ::2], words[..., 1::2]
        exact = np.stack((x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles)), -1)
        means[rounding] = float((found - exact.reshape(words.shape))[1:].mean())
    assert abs(means["half-up"]) < 0.01
    assert abs(means["floor"] + 0.5) < 0.01


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"coefficients": "q15"}, "q15 coefficients have a width of 16, not 18"),
        ({"coefficients": "q16", "coefficient_width": 16}, "coefficients must be exact or q15, not 'q16'"),
        ({"rounding": "even"}, "rounding must be half-up or floor, not 'even'"),
    ],
)
def test_what_does_not_fit_is_refused(options, sentence, make_design) -> None:
    with pytest.raises(InputError) as error:
        make_design(**options)
    assert str(error.value) == sentence
