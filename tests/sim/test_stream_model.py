"""The stream model against results worked out by hand.

Both variants turn pair 0 by a quarter and pair 1 by a half turn per position, so every result is a change of places
and signs: (x, y) becomes (-y, x) after a quarter turn, (-x, -y) after two.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim import stream_model
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE, StreamInput, descriptor_words, whole_tokens
from ropewalk_sim.stream_model import run_model, token_errors

GEOMETRY = RotaryGeometry(
    model_type="test", head_dim=8, rotary_dim=4, rotary_start=2, query_heads=1, key_heads=1, pairing="interleaved",
    output_pairing="interleaved", layers=None,
    variants=(
        Variant(name="plain", inverse_frequency=(math.pi / 2, math.pi), amplitude=1.0, max_position=100),
        Variant(name="loud", inverse_frequency=(math.pi / 2, math.pi), amplitude=1.5, max_position=50),
    ),
)  # fmt: skip
SYNTH = Design(geometry=GEOMETRY, lanes=2, value_heads=1)
TABLE = replace(SYNTH, source="table")
HEAD = [1, 2, 3, 4, 5, 6, 7, 8]
"""Elements 2 to 5 are rotated: pair 0 is (3, 4), pair 1 is (5, 6)."""


def run_one(design: Design, head: list[int], position: int, *, slot: int = 0, flags: int = 0) -> tuple[list, list]:
    """The query head that comes back for ``head`` in all three heads, and TUSER of the token's beats."""
    descriptors = descriptor_words(slot, np.array([position]), flags=flags, tag=9)
    output = run_model(design, whole_tokens(design, descriptors, np.array([[head] * 3])))
    heads = output.data.reshape(3, 8).tolist()
    assert heads[0] == heads[1]
    assert heads[2] == head, "values pass"
    assert set(output.tid.tolist()) == {9}
    assert output.last.tolist() == [False] * 5 + [True]
    return heads[0], output.user.tolist()


@pytest.mark.parametrize("design", [SYNTH, TABLE], ids=["synth", "table"])
class TestBothSources:
    @pytest.mark.parametrize(
        ("position", "middle"),
        [(0, [3, 4, 5, 6]), (1, [-4, 3, -5, -6]), (2, [-3, -4, 5, 6]), (3, [4, -3, -5, -6]), (99, [4, -3, -5, -6])],
    )
    def test_quarter_turns_stay_inside_the_rotary_slice(self, design, position, middle):
        assert run_one(design, HEAD, position) == ([1, 2, *middle, 7, 8], [0, 0, 2, 2, 4, 4])

    def test_inverse(self, design):
        assert run_one(design, HEAD, 1, flags=INVERSE)[0] == [1, 2, 4, -3, -5, -6, 7, 8]

    def test_amplitude_is_rounded_half_up(self, design):
        # 1.5 x (-4, 3, -5, -6) is (-6, 4.5, -7.5, -9)
        assert run_one(design, HEAD, 1, slot=1)[0] == [1, 2, -6, 5, -7, -9, 7, 8]

    def test_saturation_and_the_largest_negative_word(self, design):
        head = [0, 0, -32768, -32768, 30000, -30000, 0, 0]
        assert run_one(design, head, 1)[0] == [0, 0, 32767, -32768, -30000, 30000, 0, 0]
        assert run_one(design, head, 0, slot=1)[0] == [0, 0, -32768, -32768, 32767, -32768, 0, 0]

    def test_the_limit(self, design):
        assert run_one(design, HEAD, 49, slot=1)[1] == [0, 0, 2, 2, 4, 4]
        for position in (50, 2**24, 2**32 - 1):
            assert run_one(design, HEAD, position, slot=1) == (HEAD, [1, 1, 3, 3, 5, 5])

    @pytest.mark.parametrize("slot", [2, 7, 8, 255])
    def test_empty_slots_are_errors_for_tokens_to_pass_too(self, design, slot):
        assert run_one(design, HEAD, 1, slot=slot) == (HEAD, [1, 1, 3, 3, 5, 5])
        assert run_one(design, HEAD, 1, slot=slot, flags=PASS) == (HEAD, [1, 1, 3, 3, 5, 5])

    def test_a_token_to_pass_may_have_any_position(self, design):
        assert run_one(design, HEAD, 2**32 - 1, flags=PASS) == (HEAD, [0, 0, 2, 2, 4, 4])

    def test_flags_that_mean_nothing_change_nothing(self, design):
        assert run_one(design, HEAD, 1, flags=0xF8)[0] == [1, 2, -4, 3, -5, -6, 7, 8]


def test_unit_amplitude_where_rows_are_made():
    assert run_one(SYNTH, HEAD, 1, slot=1, flags=UNIT_AMPLITUDE)[0] == [1, 2, -4, 3, -5, -6, 7, 8]


def test_unit_amplitude_of_a_table_that_has_another():
    assert run_one(TABLE, HEAD, 1, slot=1, flags=UNIT_AMPLITUDE) == (HEAD, [1, 1, 3, 3, 5, 5])
    assert run_one(TABLE, HEAD, 1, slot=0, flags=UNIT_AMPLITUDE)[0] == [1, 2, -4, 3, -5, -6, 7, 8]


def test_only_the_data_width_of_a_container_counts():
    design = replace(SYNTH, data_width=12)
    head = [value + 4096 * place for place, value in enumerate(HEAD)]
    descriptors = descriptor_words(0, np.array([1]))
    output = run_model(design, whole_tokens(design, descriptors, np.array([[head] * 3])))
    assert output.data[:2].reshape(-1).tolist() == [1, 2, -4, 3, -5, -6, 7, 8]


def test_a_faulty_token_is_rotated_as_far_as_it_came():
    heads = np.array([[HEAD, HEAD, HEAD]] * 2)
    whole = whole_tokens(SYNTH, descriptor_words(0, np.array([1, 2]), tag=np.array([4, 5])), heads)
    keep = np.array([0, 1, 2, 6, 7, 8, 9, 10, 11])
    last = whole.last[keep]
    last[2] = True
    stream = StreamInput(descriptors=whole.descriptors, data=whole.data[keep], tid=whole.tid[keep], last=last)
    output = run_model(SYNTH, stream)
    assert output.user.tolist() == [0, 0, 3, 0, 0, 2, 2, 4, 4]
    assert output.last.tolist() == [False, False, True, *[False] * 5, True]
    assert output.data[:3].reshape(-1).tolist() == [1, 2, -4, 3, -5, -6, 7, 8, 1, 2, -4, 3]
    assert output.data[3:5].reshape(-1).tolist() == [1, 2, -3, -4, 5, 6, 7, 8]


def test_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    descriptors = descriptor_words(rng.integers(0, 3, 50), rng.integers(0, 60, 50), flags=rng.integers(0, 8, 50))
    stream = whole_tokens(SYNTH, descriptors, rng.integers(-32768, 32768, (50, 3, 8)))
    at_once = run_model(SYNTH, stream)
    monkeypatch.setattr(stream_model, "CHUNK_ELEMENTS", 70)
    in_chunks = run_model(SYNTH, stream)
    assert np.array_equal(at_once.data, in_chunks.data)
    assert np.array_equal(at_once.user, in_chunks.user)


def test_token_errors_name_the_tokens():
    slots, positions = np.array([0, 0, 1, 1, 2]), np.array([99, 100, 49, 50, 0])
    assert token_errors(SYNTH, descriptor_words(slots, positions)).tolist() == [False, True, False, True, True]


def test_an_empty_stream():
    stream = whole_tokens(SYNTH, descriptor_words(0, np.zeros(0, int)), np.zeros((0, 3, 8), int))
    assert run_model(SYNTH, stream).data.shape == (0, 4)
