"""The host's frames: what goes in comes out, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st
from ropewalk_sim.board.frames import Unframer, cobs, framed, uncobs

CONTENTS = st.binary(min_size=2, max_size=244)


def test_cobs_of_published_examples() -> None:
    for contents, coded in (("00", "0101"), ("11220033", "0311220233"), ("11000000", "0211010101")):
        assert cobs(bytes.fromhex(contents)).hex() == coded


@given(CONTENTS)
def test_contents_come_back(contents: bytes) -> None:
    coded = cobs(contents)
    assert 0 not in coded
    assert uncobs(coded) == contents


@given(st.lists(CONTENTS, max_size=3), st.integers(1, 20))
def test_frames_are_found_however_the_bytes_come(contents: list[bytes], size: int) -> None:
    line = b"".join(map(framed, contents))
    unframer = Unframer()
    found = []
    for at in range(0, len(line), size):
        found += unframer.frames(line[at : at + size])
    assert found == contents


@given(CONTENTS, CONTENTS, st.data())
def test_a_damaged_frame_is_left_out_and_the_next_one_found(one: bytes, two: bytes, data: st.DataObject) -> None:
    line = bytearray(framed(one))
    place = data.draw(st.integers(0, len(line) - 1))
    kind = data.draw(st.sampled_from(["flip", "lose", "repeat"]))
    if kind == "flip":
        line[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "lose":
        del line[place]
    else:
        line.insert(place, line[place])
    found = list(Unframer().frames(bytes(line) + framed(two)))
    # A zero that was lost or repeated at either end does no harm.
    assert found in ([two], [one, two])


@given(st.binary(max_size=600))
def test_noise_is_no_frame(noise: bytes) -> None:
    assert list(Unframer().frames(noise)) == []
