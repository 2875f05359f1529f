"""Framing against a beat-by-beat reference, written from PORTS.md, and against streams worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.errors import EngineError
from ropewalk_sim.framing import Framing, frame
from ropewalk_sim.stream import StreamInput, descriptor_words

# Two query heads and a key head of 4 elements on 2 lanes: three beats a token.
GEOMETRY = RotaryGeometry(
    model_type="test", head_dim=4, rotary_dim=4, rotary_start=0, query_heads=2, key_heads=1, pairing="interleaved",
    output_pairing="interleaved", layers=None,
    variants=(Variant(name="default", inverse_frequency=(1.0, 0.1), amplitude=1.0, max_position=100),),
)  # fmt: skip
DESIGN = Design(geometry=GEOMETRY, lanes=2)


def make_stream(tags: list[int], beats: list[tuple[int, bool]]) -> StreamInput:
    """A stream of tokens with ``tags`` and of beats (TID, TLAST)."""
    return StreamInput(
        descriptors=descriptor_words(0, np.zeros(len(tags), int), tag=np.array(tags, int)),
        data=np.arange(len(beats) * 4, dtype=np.int64).reshape(-1, 4),
        tid=np.array([tid for tid, _ in beats], np.uint8),
        last=np.array([last for _, last in beats], bool),
    )


def as_rows(framing: Framing) -> list[tuple[int, int, int, bool, bool]]:
    fields = (framing.source, framing.token, framing.beat, framing.last, framing.error)
    return list(zip(*(field.tolist() for field in fields), strict=True))


def beat_by_beat(tags: list[int], beats: list[tuple[int, bool]], per_token: int) -> list[tuple] | None:
    """The rules one beat at a time. ``None`` if beats are left when the tokens have run out."""
    out = []
    token, beat, error, dropping = 0, 0, False, False
    for number, (tid, last) in enumerate(beats):
        if dropping:
            dropping = not last
        elif token == len(tags):
            return None
        elif tid != tags[token]:
            error = True
        else:
            final = beat == per_token - 1
            dropping = final and not last
            error = error or dropping or (last and not final)
            out.append((number, token, beat, last or final, error))
            beat += 1
            if last or final:
                token, beat, error = token + 1, 0, False
    return out


def test_a_stream_without_faults():
    stream = make_stream([7, 8], [(7, False), (7, False), (7, True), (8, False), (8, False), (8, True)])
    assert as_rows(frame(DESIGN, stream)) == [
        (0, 0, 0, False, False), (1, 0, 1, False, False), (2, 0, 2, True, False),
        (3, 1, 0, False, False), (4, 1, 1, False, False), (5, 1, 2, True, False),
    ]  # fmt: skip


def test_a_wrong_tag_is_discarded_and_marks_the_rest_of_the_token():
    beats = [(7, False), (9, False), (9, True), (7, False), (7, True), (8, False), (8, False), (8, True)]
    assert as_rows(frame(DESIGN, make_stream([7, 8], beats))) == [
        (0, 0, 0, False, False), (3, 0, 1, False, True), (4, 0, 2, True, True),
        (5, 1, 0, False, False), (6, 1, 1, False, False), (7, 1, 2, True, False),
    ]  # fmt: skip


def test_a_short_packet_ends_early_with_the_error():
    beats = [(7, False), (7, True), (8, False), (8, False), (8, True)]
    assert as_rows(frame(DESIGN, make_stream([7, 8], beats))) == [
        (0, 0, 0, False, False), (1, 0, 1, True, True),
        (2, 1, 0, False, False), (3, 1, 1, False, False), (4, 1, 2, True, False),
    ]  # fmt: skip


def test_a_long_packet_is_cut_and_dropped_to_its_end_whatever_the_tag():
    beats = [(7, False)] * 3 + [(8, False), (7, True), (8, False), (8, False), (8, True)]
    assert as_rows(frame(DESIGN, make_stream([7, 8], beats))) == [
        (0, 0, 0, False, False), (1, 0, 1, False, False), (2, 0, 2, True, True),
        (5, 1, 0, False, False), (6, 1, 1, False, False), (7, 1, 2, True, False),
    ]  # fmt: skip


def test_a_stream_that_ends_inside_a_token_gives_what_there_is():
    assert as_rows(frame(DESIGN, make_stream([7, 8], [(7, False), (7, False)]))) == [
        (0, 0, 0, False, False), (1, 0, 1, False, False),
    ]  # fmt: skip
    assert as_rows(frame(DESIGN, make_stream([], []))) == []


def test_beats_without_a_descriptor_are_an_error():
    with pytest.raises(EngineError, match="2 beats follow the last token: no descriptor"):
        frame(DESIGN, make_stream([7], [(7, False), (7, False), (7, True), (8, False), (8, True)]))


@given(
    st.lists(st.integers(0, 2), max_size=6),
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=60),
)
def test_any_stream_is_framed_as_beat_by_beat(tags: list[int], beats: list[tuple[int, bool]]):
    expected = beat_by_beat(tags, beats, 3)
    stream = make_stream(tags, beats)
    if expected is None:
        with pytest.raises(EngineError):
            frame(DESIGN, stream)
    else:
        assert as_rows(frame(DESIGN, stream)) == expected


@given(st.lists(st.sampled_from(["whole", "short", "long", "strange"]), max_size=12), st.integers(0, 99))
def test_likely_faults_are_framed_as_beat_by_beat(packets: list[str], seed: int):
    rng = np.random.default_rng(seed)
    tags, beats = [], []
    for tag, packet in enumerate(packets):
        length = {"short": int(rng.integers(1, 3)), "long": int(rng.integers(4, 9))}.get(packet, 3)
        mine = [(tag, place == length - 1) for place in range(length)]
        if packet == "strange":
            for _ in range(int(rng.integers(1, 9))):
                mine.insert(int(rng.integers(0, 3)), (200, bool(rng.integers(0, 2))))
        tags.append(tag)
        beats += mine
    assert as_rows(frame(DESIGN, make_stream(tags, beats))) == beat_by_beat(tags, beats, 3)
