"""q and k quantised, rotated, compared: all without torch."""

import math

import numpy as np
import pytest
from ropewalk_llm.design import Widths, design_of
from ropewalk_llm.rotation import Rotation, scales_of
from ropewalk_sim.errors import EngineError


def complex_rotation(x, positions, base=10000.0):
    """Half pairing by complex numbers: the published formula, in float64."""
    half = x.shape[-1] // 2
    angle = positions[:, None] * base ** (-np.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)[:, None]
    return np.concatenate([turned.real, turned.imag], axis=-1)


def tensors(seed=1, tokens=5):
    random = np.random.default_rng(seed)
    return random.normal(size=(tokens, 4, 8)), random.normal(size=(tokens, 2, 8)), np.arange(tokens) * 11


@pytest.mark.parametrize("per", ["tensor", "head", "vector"])
@pytest.mark.parametrize(("width", "coefficient"), [(16, 18), (24, 24)])
def test_the_result_is_the_rotation(geometry, per, width, coefficient):
    q, k, position = tensors()
    rotation = Rotation(design_of(geometry, Widths(data=width, coefficient=coefficient)), per=per)
    for found, given in zip(rotation(0, 0, q, k, position), (q, k), strict=True):
        # Half an LSB of each of two words, turned, and 0.7 LSB of the rotation, at the largest scale.
        lsb = scales_of(given, "tensor", rotation.design, 0).item()
        assert np.abs(found - complex_rotation(given, position)).max() < 1.5 * lsb
    assert 0.3 < rotation.statistics.worst_lsb < (0.75 if width == 16 else 0.95)
    assert rotation.statistics.rotations == 2
    assert rotation.statistics.layers[0].calls == 2


def test_scales_are_the_smallest_powers_of_two_at_which_nothing_saturates(geometry):
    design = design_of(geometry, Widths(data=8))
    values = np.zeros((2, 2, 8))
    # Alone in their pairs: the room is 127 LSB less what roundings add (1.21). 125 fits, 126 does not.
    values[0, 0, 0], values[0, 1, 0], values[1, 0, 0], values[1, 1, 0] = 1.0, 0.01, 125.0, 126.0
    assert scales_of(values, "vector", design, 0)[..., 0].tolist() == [[2.0**-6, 2.0**-13], [1.0, 2.0]]
    assert scales_of(values, "head", design, 0)[..., 0].tolist() == [[1.0, 2.0]]
    assert scales_of(values, "tensor", design, 0).ravel().tolist() == [2.0]
    # With a partner of the same size (element 4 of 8, in halves) a pair is 1.414 times as long: 88 fits, 89 does not.
    for size, scale in ((88.0, 1.0), (89.0, 2.0)):
        values = np.zeros((1, 1, 8))
        values[0, 0, 1] = values[0, 0, 5] = size
        assert scales_of(values, "vector", design, 0).item() == scale


@pytest.mark.parametrize("width", [4, 8, 16])
def test_nothing_saturates_at_any_angle(geometry, width):
    random = np.random.default_rng(width)
    design = design_of(geometry, Widths(data=width))
    q, k = random.normal(size=(3000, 4, 8)), random.normal(size=(3000, 2, 8))
    rotation = Rotation(design, per="vector")
    found = rotation(0, 0, q, k, random.integers(0, 1 << 24, 3000))[0] / scales_of(q, "vector", design, 0)
    assert np.abs(found).max() <= design.data.maximum
    # Saturated words would be far from the exact rotation, which is what they are compared with here.
    exact = np.abs(q / scales_of(q, "vector", design, 0))
    lengths = np.hypot(exact[..., :4], exact[..., 4:]).max(axis=-1)
    assert 0.4 * design.data.maximum < lengths.min() <= lengths.max() <= design.data.maximum


def test_zeros_stay_zeros(geometry):
    rotation = Rotation(design_of(geometry, Widths()), per="vector")
    zero = np.zeros((3, 4, 8))
    q, k = rotation(0, 0, zero, zero[:, :2], np.arange(3))
    assert not q.any()
    assert not k.any()


def test_a_finer_scale_is_closer(geometry):
    q, k, position = tensors(tokens=40)
    q *= np.logspace(0, -3, 40)[:, None, None]
    errors = {}
    for per in ("tensor", "vector"):
        found = Rotation(design_of(geometry, Widths(data=8)), per=per)(0, 0, q, k, position)[0]
        wanted = complex_rotation(q, position)
        errors[per] = (np.abs(found - wanted).max(axis=(1, 2)) / np.abs(q).max(axis=(1, 2))).max()
    assert errors["vector"] < 0.02
    assert errors["tensor"] > 0.5


class Faulty:
    """Hardware that is the model, but for one bit of one word."""

    def __init__(self, geometry):
        self._inner = Rotation(design_of(geometry, Widths()))

    def rotate(self, slot, q, k, position):
        rows, _ = self._inner._angles_of(slot, position)
        q, k = (self._inner._model(slot, words, rows) for words in (q, k))
        k[2, 1, 3] ^= 1 << 15
        return q, k


def test_a_bit_that_differs_is_counted_and_named(geometry):
    rotation = Rotation(design_of(geometry, Widths()), hardware=Faulty(geometry))
    rotation(7, 0, *tensors())
    # The sign bit of a 16-bit word, whatever an int64 has above it.
    assert rotation.statistics.differing_bits == 1
    assert (rotation.statistics.first_difference or "").startswith("layer 7, k, token 2, head 1, element 3: ")


def test_hardware_that_agrees_has_no_difference(geometry):
    class Same(Faulty):
        def rotate(self, slot, q, k, position):
            q, k = super().rotate(slot, q, k, position)
            k[2, 1, 3] ^= 1 << 15
            return q, k

    rotation = Rotation(design_of(geometry, Widths()), hardware=Same(geometry))
    rotation(0, 0, *tensors())
    assert rotation.statistics.differing_bits == 0
    assert rotation.statistics.first_difference is None


def test_a_position_past_the_limit_is_said(geometry):
    rotation = Rotation(design_of(geometry, Widths()))
    q, k, _ = tensors()
    with pytest.raises(EngineError, match=r"position 16777216 is past the engine's limit of 16777216 positions"):
        rotation(0, 0, q, k, np.arange(5) + (1 << 24) - 4)


def test_relative_scores_do_not_drift(geometry):
    q, k, position = tensors()
    rotation = Rotation(design_of(geometry, Widths(data=24, coefficient=24)))
    wanted = None
    for shift in (0, 1_000_000, 16_000_000):
        turned_q, turned_k = rotation(0, 0, q, k, position + shift)
        scores = np.einsum("qd,kd->qk", turned_q[:, 0], turned_k[:, 0])
        wanted = scores if wanted is None else wanted
        assert np.abs(scores - wanted).max() < 2e-5
    assert math.isfinite(float(np.abs(wanted).max()))
