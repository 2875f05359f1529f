"""The independent reference against closed forms and plain multiple precision."""

import mpmath
import numpy as np
import pytest
from ropewalk_sim import exact
from ropewalk_sim.exact import exact_cosine_sine, exact_inverse_frequency, exact_rotation, exact_turns


def test_the_witness_is_independent():
    assert not [name for name, value in vars(exact).items() if "ropewalk." in str(getattr(value, "__module__", ""))]
    source = exact.__loader__.get_source(exact.__name__)
    assert "import ropewalk" not in source
    assert "from ropewalk" not in source


def test_frequencies_of_plain_rope_have_their_closed_form():
    assert [float(f) for f in exact_inverse_frequency(10_000.0, 8)] == [1.0, 0.1, 0.01, 0.001]


def test_yarn_keeps_fast_pairs_and_slows_slow_ones_by_the_factor():
    plain = exact_inverse_frequency(1e6, 128)
    yarn = exact_inverse_frequency(1e6, 128, factor=4.0, original=32768)
    ratio = [float(a / b) for a, b in zip(plain, yarn, strict=True)]
    assert ratio[0] == 1.0
    assert ratio[-1] == pytest.approx(4.0)
    # the range of Qwen2.5 with factor 4: floor and ceiling of 64 log_b(32768 / (2 pi r)), r = 32 and 1
    low = int(np.floor(64 * np.log(32768 / (2 * np.pi * 32)) / np.log(1e6)))
    high = int(np.ceil(64 * np.log(32768 / (2 * np.pi)) / np.log(1e6)))
    assert [i for i, r in enumerate(ratio) if 1.0 < r < 3.9999] == list(range(low + 1, high))


def test_yarn_needs_the_original_length():
    with pytest.raises(ValueError, match="original context length"):
        exact_inverse_frequency(1e6, 128, factor=4.0)


def test_turns_are_good_to_the_last_bit_of_a_double():
    frequencies = exact_inverse_frequency(10_000.0, 64)
    positions = np.random.default_rng(1).integers(0, 1 << 24, 40)
    turns = exact_turns(frequencies, positions)
    with mpmath.workprec(300):
        for row, position in enumerate(positions):
            for pair, frequency in enumerate(frequencies):
                true = mpmath.frac(mpmath.mpf(frequency) * int(position) / (2 * mpmath.pi))
                assert abs(true - mpmath.mpf(float(turns[row, pair]))) <= mpmath.mpf(2) ** -53


def test_turns_wrap_exactly():
    eighth = mpmath.mpf(0)
    with mpmath.workprec(256):
        eighth = 2 * mpmath.pi / 8
    positions = np.array([0, 1, 2, 7, 8, (1 << 24) - 1, (1 << 32) - 1], np.uint32)
    assert exact_turns([eighth], positions)[:, 0].tolist() == [0, 0.125, 0.25, 0.875, 0, 0.875, 0.875]


def test_turns_stay_below_one():
    # one step of a turn less 2**-90: the double nearest to it is 1, which is 0
    with mpmath.workprec(256):
        almost = 2 * mpmath.pi * (1 - mpmath.mpf(2) ** -90)
    assert exact_turns([almost], [1, 0])[:, 0].tolist() == [0.0, 0.0]


def test_a_double_is_taken_exactly():
    turns = exact_turns([0.1], [(1 << 24) - 1])
    with mpmath.workprec(300):
        true = mpmath.frac(mpmath.mpf(0.1) * ((1 << 24) - 1) / (2 * mpmath.pi))
    assert turns[0, 0] == float(true)


@pytest.mark.parametrize("positions", [[-1], [1 << 32], [0.5]])
def test_positions_that_are_none_are_refused(positions):
    with pytest.raises(ValueError, match="positions"):
        exact_turns([1.0], positions)


def test_quarter_turns_are_exact():
    cosine, sine = exact_cosine_sine([0.0, 0.25, 0.5, 0.75])
    assert cosine.tolist() == [1, 0, -1, 0]
    assert sine.tolist() == [0, 1, 0, -1]


def test_cosine_and_sine_are_good_to_two_ulps():
    turns = np.random.default_rng(2).random(200)
    cosine, sine = exact_cosine_sine(turns)
    with mpmath.workprec(100):
        for value, c, s in zip(turns, cosine, sine, strict=True):
            angle = 2 * mpmath.pi * mpmath.mpf(float(value))
            assert abs(mpmath.cos(angle) - float(c)) < 2.0**-52
            assert abs(mpmath.sin(angle) - float(s)) < 2.0**-52


def test_rotation_is_that_of_complex_numbers():
    generator = np.random.default_rng(3)
    x = generator.standard_normal((5, 4, 2))
    turns = generator.random((5, 4))
    rotated = exact_rotation(x, turns, 1.25)
    expected = 1.25 * (x[..., 0] + 1j * x[..., 1]) * np.exp(2j * np.pi * turns)
    assert np.allclose(rotated[..., 0] + 1j * rotated[..., 1], expected, rtol=0, atol=1e-14)
    assert rotated.shape == x.shape
    assert exact_rotation(x, 0.0).tolist() == x.tolist()
