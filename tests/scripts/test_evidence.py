"""The measurements of `verify` and the demo, on results whose errors are known."""

import math

import numpy as np
import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk_cli.evidence import accuracy, exact_pairs, slot_bits, some_tokens
from ropewalk_cli.sample import corner_tokens, random_stream
from ropewalk_sim.stream import INVERSE, PASS, StreamOutput, descriptor_words, whole_tokens


@pytest.fixture(scope="module")
def design(engine):
    return load_rotary(engine)


def output_of(design, stream, pairs):
    """An output that holds ``pairs`` as its elements, in half order, without errors."""
    return StreamOutput(
        data=pairs.astype(np.int64).swapaxes(-1, -2).reshape(-1, design.elements),
        tid=stream.tid,
        last=stream.last,
        user=np.zeros(stream.beats, np.uint8),
    )


def rounded(design, stream):
    """The exact rotation of a stream, and its nearest words."""
    exact = exact_pairs(design, stream.descriptors, stream.data.reshape(-1, 3, 2, 4).swapaxes(-1, -2), 0)
    return exact, np.rint(exact)


def test_the_exact_rotation_by_hand(design):
    descriptors = descriptor_words(0, np.array([0, 1, 1, 1]), flags=np.array([0, 0, INVERSE, PASS]))
    pairs = np.full((4, 3, 4, 2), 100.0)
    found = exact_pairs(design, descriptors, pairs, 0)[:, 0, 0]
    plus, minus = 100 * (math.cos(1) + math.sin(1)), 100 * (math.cos(1) - math.sin(1))
    assert found.ravel() == pytest.approx([100, 100, minus, plus, plus, minus, 100, 100], rel=1e-14)


def test_perfect_rounding_measures_as_such(design):
    stream = random_stream(design, 60, 1)
    exact, nearest = rounded(design, stream)
    (found,) = accuracy(design, stream, output_of(design, stream, nearest))
    assert (found.tokens, found.pairs) == (60, 60 * 12)
    assert found.worst_lsb == pytest.approx(np.abs(nearest - exact).max())
    assert found.worst_lsb <= 0.5


def test_a_bias_measures_as_such(design):
    stream = random_stream(design, 60, 1)
    exact, nearest = rounded(design, stream)
    (found,) = accuracy(design, stream, output_of(design, stream, nearest + 3))
    assert found.bias_lsb == pytest.approx(3 + (nearest - exact).mean())
    assert found.rms_lsb == pytest.approx(np.sqrt(np.mean((nearest + 3 - exact) ** 2)))


def test_saturation_as_specified_is_no_error(design):
    data = np.full((1, 3, 8), 32767, np.int64)
    stream = whole_tokens(design, descriptor_words(0, np.array([1])), data)
    exact, _ = rounded(design, stream)
    assert exact.max() > 40000
    (found,) = accuracy(design, stream, output_of(design, stream, np.clip(np.rint(exact), -32768, 32767)))
    assert found.worst_lsb <= 0.5


def test_tokens_in_error_do_not_count(design):
    stream = random_stream(design, 2, 1)
    _, nearest = rounded(design, stream)
    output = output_of(design, stream, nearest)
    output.user[0] = 1
    assert accuracy(design, stream, output)[0].tokens == 1
    output.user[:] = 1
    assert accuracy(design, stream, output)[0].worst_lsb is None


def test_bits_are_counted_by_slot(design):
    descriptors = descriptor_words(np.array([0, 7]), np.array([1, 1]), tag=np.array([0, 1]))
    stream = whole_tokens(design, descriptors, np.zeros((2, 3, 8), np.int64))
    one = output_of(design, stream, np.zeros((2, 3, 4, 2)))
    other = output_of(design, stream, np.zeros((2, 3, 4, 2)))
    other.data[0, 0] = -1  # 16 bits of a container
    other.data[-1, 2] = 5
    other.user[-1] ^= 7
    assert slot_bits(design, stream, one, other, 0) == 16
    assert slot_bits(design, stream, one, other, 7) == 2 + 3


def test_some_tokens_are_whole(design):
    stream = random_stream(design, 5, 3)
    part = some_tokens(design, stream, slice(1, 3))
    assert np.array_equal(part.descriptors, stream.descriptors[1:3])
    assert np.array_equal(part.data, stream.data[3:9])
    assert part.last.tolist() == [False, False, True] * 2


def test_the_sample_is_the_same_every_time_and_cannot_saturate(design):
    corners = corner_tokens(design)
    assert {(0, 0, 0), (0, 0, 63), (0, 0, 64), (1, 0, 0), (0, INVERSE, 63), (0, PASS, 32)} <= set(corners)
    stream = random_stream(design, 100, 7)
    assert np.array_equal(stream.data, random_stream(design, 100, 7).data)
    # 70 % of the largest word.
    assert np.abs(stream.data).max() == pytest.approx(22936, abs=30)
    assert np.abs(stream.data).max() <= 22936
