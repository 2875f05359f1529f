"""The comparison of two outputs, on differences made by hand."""

from dataclasses import replace

import numpy as np
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.compare import compare
from ropewalk_sim.stream import StreamOutput, descriptor_words, whole_tokens

GEOMETRY = RotaryGeometry(
    model_type="test", head_dim=4, rotary_dim=4, rotary_start=0, query_heads=1, key_heads=1, pairing="interleaved",
    output_pairing="interleaved", layers=None,
    variants=(Variant(name="default", inverse_frequency=(1.0, 0.1), amplitude=1.0, max_position=100),),
)  # fmt: skip
DESIGN = Design(geometry=GEOMETRY, lanes=1, data_width=12)
STREAM = whole_tokens(DESIGN, descriptor_words(0, np.arange(3)), np.arange(24).reshape(3, 2, 4))
GOOD = StreamOutput(data=STREAM.data, tid=STREAM.tid, last=STREAM.last, user=np.zeros(12, np.uint8))


def test_equal_outputs():
    comparison = compare(DESIGN, GOOD, GOOD, STREAM)
    assert (comparison.differing_bits, comparison.places) == (0, ())
    assert str(comparison) == "12 beats, every bit as expected"


def test_every_differing_bit_is_counted_and_placed():
    data, user, last, tid = (getattr(GOOD, name).copy() for name in ("data", "user", "last", "tid"))
    data[5] = [10 ^ 0b1011, 11]
    data[9, 1] = -1 - 19  # all 16 bits of the container
    user[4] = 1
    last[11] = False
    tid[2] = 0x81
    comparison = compare(DESIGN, GOOD, StreamOutput(data=data, user=user, last=last, tid=tid), STREAM)
    assert comparison.differing_bits == 3 + 16 + 1 + 1 + 2
    assert [str(place) for place in comparison.places] == [
        "token 0, beat 2: tid is 129 and should be 0",
        "token 1, beat 4: user is 1 and should be 0",
        "token 1, beat 5, element 0: data is 1 and should be 10",
        "token 2, beat 9, element 1: data is -20 and should be 19",
        "token 2, beat 11: last is 0 and should be 1",
    ]


def test_only_the_first_places_are_named():
    bad = replace(GOOD, data=GOOD.data + 1)
    places = compare(DESIGN, GOOD, bad).places
    assert [(place.beat, place.element, place.token) for place in places] == [
        (0, 0, None), (0, 1, None), (1, 0, None), (1, 1, None), (2, 0, None),
    ]  # fmt: skip


def test_missing_beats_count_with_all_their_bits():
    shorter = StreamOutput(**{name: getattr(GOOD, name)[:10] for name in ("data", "tid", "last", "user")})
    for expected, got in ((GOOD, shorter), (shorter, GOOD)):
        comparison = compare(DESIGN, expected, got, STREAM)
        # two beats of two 16-bit containers, 8 bits of TID, TLAST and 3 bits of TUSER
        assert comparison.differing_bits == 2 * (32 + 8 + 1 + 3)
        assert f"{got.beats} beats came out and should be {expected.beats}" in str(comparison)
