"""Positions of several axes in the model and in the arrays of a run: each pair turns by its own axis."""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.models import read_model
from ropewalk_sim import scenarios
from ropewalk_sim.beats import PASS, descriptor_words
from ropewalk_sim.exact import exact_axes, exact_inverse_frequency, exact_rotation, exact_turns
from ropewalk_sim.model import rotate, rows
from ropewalk_sim.statistics import error_statistics
from ropewalk_sim.stream import pack_run
from ropewalk_sim.stream_model import run_model, token_errors

PAIRS = 6
AXIS = (0, 1, 2, 0, 1, 0)
GEOMETRY = RotaryGeometry(
    model_type="test", head_dim=16, rotary_dim=2 * PAIRS, rotary_start=2, query_heads=2, key_heads=1,
    pairing="interleaved", output_pairing="interleaved", layers=None,
    variants=tuple(
        Variant(
            name=name,
            inverse_frequency=tuple(base ** (-i / PAIRS) for i in range(PAIRS)),
            amplitude=amplitude,
            max_position=limit,
            axis=axis,
        )
        for name, base, amplitude, limit, axis in (("vision", 1e4, 1.0, 5000, AXIS), ("text", 1e6, 1.25, 1 << 24, None))
    ),
)  # fmt: skip
DESIGN = Design(geometry=GEOMETRY, lanes=2)
PLAIN = Design(
    geometry=replace(GEOMETRY, variants=tuple(replace(one, axis=None) for one in GEOMETRY.variants)), lanes=2
)


@pytest.mark.parametrize(
    ("preset", "base", "axis"),
    [
        ("qwen2.5-vl-3b", 1e6, exact_axes([16, 24, 24])),
        ("qwen3-vl-30b-a3b", 5e6, exact_axes([24, 20, 20], interleaved=True)),
    ],
)
def test_rows_of_published_models_against_the_exact_angle(preset, base, axis):
    geometry = replace(read_model(preset), query_heads=1, key_heads=1)
    design = Design(geometry=geometry, lanes=4)
    assert design.axes == 3
    source = np.random.default_rng(1)
    positions = source.integers(0, design.limits[0], (4000, 3))
    positions[:4] = [[0, 0, 0], [5, 7, 11], [design.limits[0] - 1, 0, 0], [0, design.limits[0] - 1, 1]]
    most = int(0.7 * design.data.maximum)
    words = source.integers(-most, most + 1, (len(positions), 1, design.shapes[0].pairs, 2))
    found = rotate(design, words, rows(design, 0, positions)[:, None])
    frequencies = exact_inverse_frequency(base, 2 * len(axis))

    def worst(axis):
        exact = exact_rotation(words, exact_turns(frequencies, positions, axis)[:, None])
        return error_statistics(found, exact, design.data).worst_lsb

    assert worst(axis) <= 0.70
    # One pair that followed another axis would show.
    for pair in range(0, len(axis), 9):
        assert worst([*axis[:pair], (axis[pair] + 1) % 3, *axis[pair + 1 :]]) > 100


def test_each_pair_follows_its_own_axis_in_the_exact_reference():
    frequencies = exact_inverse_frequency(1e4, 2 * PAIRS)
    positions = np.random.default_rng(3).integers(0, 1 << 20, (50, 3))
    turns = exact_turns(frequencies, positions, AXIS)
    for pair, axis in enumerate(AXIS):
        assert np.array_equal(turns[:, pair], exact_turns(frequencies, positions[:, axis])[:, pair])
    assert exact_axes([2, 1, 1]) == [0, 0, 1, 2]
    # 24, 20 and 20 pairs in all; past 60 only time is left
    assert exact_axes([24, 20, 20], interleaved=True) == [0, 1, 2] * 20 + [0] * 4
    assert exact_axes([11, 11, 10], interleaved=True) == [0, 1, 2] * 10 + [0, 1]


def test_equal_positions_on_all_axes_are_those_of_one_axis():
    positions = np.array([0, 3, 3, 4999, 17, 0])
    spread = np.repeat(positions[:, None], 3, axis=1)
    for slot in range(2):
        expected = rows(PLAIN, slot, positions)
        assert np.array_equal(rows(DESIGN, slot, positions), expected)
        assert np.array_equal(rows(DESIGN, slot, spread), expected)


def test_repeated_rows_come_back_in_their_places():
    source = np.random.default_rng(2)
    positions = source.integers(0, 3, (400, 3))  # 27 different ones
    made = rows(DESIGN, 0, positions)
    for place in range(0, 400, 37):
        assert np.array_equal(made[place], rows(DESIGN, 0, positions[place : place + 1])[0])
    for pair, axis in enumerate(AXIS):
        assert np.array_equal(made[:, pair], rows(PLAIN, 0, positions[:, axis])[:, pair])


@pytest.mark.parametrize("shape", [(4, 2), (4, 4), (4, 3, 1), ()])
def test_rows_refuse_positions_of_other_axes(shape):
    with pytest.raises(ValueError, match=r"positions must be \[n\] or \[n, 3\]"):
        rows(DESIGN, 0, np.zeros(shape, int))


def test_every_axis_is_compared_with_the_limit():
    """Also for slot 1, no pair of which follows axis 1 or 2; pass alone lets any position through."""
    limit = np.array([5000, 1 << 24])
    for slot in range(2):
        inside = np.full((1, 3), limit[slot] - 1)
        assert token_errors(DESIGN, descriptor_words(slot, inside, axes=3)).tolist() == [False]
        for axis in range(3):
            for value in (limit[slot], 2**31, 2**32 - 1):
                outside = inside.copy()
                outside[0, axis] = value
                assert token_errors(DESIGN, descriptor_words(slot, outside, axes=3)).tolist() == [True], (slot, axis)
                passed = descriptor_words(slot, outside, axes=3, flags=PASS)
                assert token_errors(DESIGN, passed).tolist() == [False]


def test_descriptor_words_of_several_axes():
    words = descriptor_words(3, np.array([[1, 2, 3], [4, 5, 2**32 - 1]]), tag=7, axes=3)
    assert words.tolist() == [[3 | 7 << 16, 1, 2, 3], [3 | 7 << 16, 4, 5, 2**32 - 1]]
    assert descriptor_words(0, np.array([9]), axes=2).tolist() == [[0, 9, 9]]
    with pytest.raises(ValueError, match=r"\[tokens\] or \[tokens, 2\]"):
        descriptor_words(0, np.zeros((5, 3), int), axes=2)


def test_a_stream_of_other_axes_is_refused():
    stream = scenarios.plain(DESIGN, seed=1, tokens=2)
    with pytest.raises(ValueError, match="descriptors must have 2 words, not 4"):
        run_model(PLAIN, stream)
    assert stream.descriptors.shape == (2, 4)


def test_scenarios_reach_every_axis_by_itself():
    stream = scenarios.everything(DESIGN, seed=1, tokens=400)
    slot = stream.descriptors[:, 0] & 255
    known = slot < 2
    beyond = stream.descriptors[known, 1:] >= np.array(DESIGN.limits)[slot[known], None]
    alone = beyond.sum(axis=1) == 1
    assert (beyond[alone].sum(axis=0) > 5).all()
    unlike = stream.descriptors[1:] != stream.descriptors[:-1]
    unlike[:, 0] = (stream.descriptors[1:, 0] ^ stream.descriptors[:-1, 0]) & 0xFFFF != 0
    on_one = ~unlike[:, 0] & (unlike[:, 1:].sum(axis=1) == 1)
    assert (unlike[on_one, 1:].sum(axis=0) >= 3).all()


def run_arrays(design, position, tokens=4):
    shape = design.geometry.head_dim
    return {
        "q": np.ones((tokens, 2, shape), int),
        "k": np.ones((tokens, 1, shape), int),
        "position": np.asarray(position),
    }


def test_a_run_takes_positions_per_token_or_per_token_and_axis():
    given = np.arange(12).reshape(4, 3)
    packed = pack_run(DESIGN, run_arrays(DESIGN, given))
    assert packed.stream.descriptors[:, 1:].tolist() == given.tolist()
    text = pack_run(DESIGN, run_arrays(DESIGN, [4, 5, 6, 7]))
    assert text.stream.descriptors[:, 1:].tolist() == [[4] * 3, [5] * 3, [6] * 3, [7] * 3]
    one = pack_run(PLAIN, run_arrays(PLAIN, [[4], [5], [6], [7]]))
    assert one.stream.descriptors[:, 1:].tolist() == [[4], [5], [6], [7]]


@pytest.mark.parametrize(
    ("design", "position", "sentence"),
    [
        (
            DESIGN,
            np.zeros((4, 2), int),
            "position has the shape [4, 2], and this engine's positions have 3 axes: it must be [tokens, 3], or "
            "[tokens], the same on every axis",
        ),
        (
            PLAIN,
            np.zeros((4, 3), int),
            "position has the shape [4, 3], and this engine's positions have one axis: it must be [tokens]",
        ),
        (DESIGN, np.zeros((4, 3, 1), int), "position has the shape [4, 3, 1], and this engine's positions have 3 axes"),
        (DESIGN, np.array(3), "position has the shape [], and this engine's positions have 3 axes"),
        (DESIGN, [[0, 1, 2], [0, -1, 2], [0, 0, 0], [0, 0, 0]], "position[1, 1] is -1, and a position lies in 0 .."),
        (DESIGN, [[0, 0, 1 << 24]] * 4, "position[0, 2] is 16777216, and a position lies in 0 .. 16777215"),
        (DESIGN, np.zeros((4, 3)), "position must hold integers, not float64"),
        (DESIGN, np.zeros((5, 3), int), "q has the shape [4, 2, 16]"),
    ],
)
def test_a_run_refuses_positions_of_other_shapes(design, position, sentence):
    with pytest.raises(InputError) as error:
        pack_run(design, run_arrays(design, position))
    assert str(error.value).startswith(sentence)
