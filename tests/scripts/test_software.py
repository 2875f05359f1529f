"""The float32 path in numpy against what the software itself computed for the captured layers."""

import numpy as np
from ropewalk_cli.demo import LAYERS_KNOWN, in_pairs, load_capture
from ropewalk_cli.software import float32_angles, float32_rotation

BASES = (10_000.0, 1_000_000.0)


def test_half_order_becomes_pairs():
    assert in_pairs(np.array([[0, 1, 2, 3], [4, 5, 6, 7]])).tolist() == [[[0, 2], [1, 3]], [[4, 6], [5, 7]]]


def test_the_capture_is_18_layers_of_16_tokens():
    capture = load_capture()
    shapes = {name: array.shape for name, array in capture.arrays.items()}
    assert shapes == {"q": (288, 4, 256), "k": (288, 1, 256), "position": (288,), "variant": (288,)}
    # The variant changes with the layer: five local layers, then a global one.
    assert capture.arrays["variant"][:6].tolist() == ["sliding_attention"] * 5 + ["full_attention"]
    assert capture.arrays["position"].tolist() == sorted(list(range(16)) * 18)


def test_the_same_arithmetic_as_the_software():
    capture = load_capture()
    for layer, base, software in zip(LAYERS_KNOWN, BASES, capture.software, strict=True):
        chosen = capture.layer == layer
        floats = np.concatenate([capture.arrays["q"], capture.arrays["k"]], axis=1)[chosen]
        angles = float32_angles(base, 256, capture.arrays["position"][chosen])
        found = float32_rotation(in_pairs(floats), angles)
        # numpy's and torch's float32 sines differ by an ulp here and there.
        assert np.abs(found - in_pairs(software)).max() <= 2.0**-22 * np.abs(software).max()


def test_angles_are_rounded_as_float32():
    angles = float32_angles(10_000.0, 256, np.array([16_777_215]))
    assert angles.dtype == np.float32
    assert angles[0, 0] == 16_777_215
