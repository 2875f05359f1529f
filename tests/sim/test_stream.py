"""Arrays of a run to streams and back: hand-made expectations, and every refusal."""

import math
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import write
from ropewalk_sim.stream import Script, Stalls, StreamInput, StreamOutput, pack_run, unpack_run

GEOMETRY = RotaryGeometry(
    model_type="test", head_dim=4, rotary_dim=4, rotary_start=0, query_heads=2, key_heads=1, pairing="interleaved",
    output_pairing="interleaved", layers=None,
    variants=(
        Variant(name="full_attention", inverse_frequency=(1.0, 0.1), amplitude=1.0, max_position=100),
        Variant(name="sliding_attention", inverse_frequency=(1.0, 0.1), amplitude=1.25, max_position=50),
    ),
)  # fmt: skip
DESIGN = Design(geometry=GEOMETRY, lanes=1)
TOKENS = 3


def words(**changes) -> dict[str, np.ndarray]:
    """The arrays of a sound run of integers, with ``changes``; ``None`` leaves an array out."""
    arrays = {
        "q": np.arange(24, dtype=np.int16).reshape(3, 2, 4),
        "k": np.arange(100, 112, dtype=np.int16).reshape(3, 1, 4),
        "position": np.array([5, 0, 2**24 - 1]),
        **changes,
    }
    return {name: array for name, array in arrays.items() if array is not None}


def floats(**changes) -> dict[str, np.ndarray]:
    return words(**{"q": np.zeros((3, 2, 4)), "k": np.zeros((3, 1, 4)), **changes})


def echo(stream: StreamInput, error: int = 0) -> StreamOutput:
    """What an engine that rotates nothing gives, ``error`` on the last token's beats."""
    user = np.zeros(stream.beats, np.uint8)
    user[-stream.beats // stream.tokens :] = error
    return StreamOutput(data=stream.data.copy(), tid=stream.tid, last=stream.last, user=user)


def test_integers_become_beats_in_stream_order():
    stream = pack_run(DESIGN, words(variant=np.array([0, 1, 255]), inverse=np.array([False, True, False]))).stream
    assert stream.descriptors.tolist() == [[0, 5], [1 | 1 << 8 | 1 << 16, 0], [255 | 2 << 16, 2**24 - 1]]
    # token 1: query heads 8..11 and 12..15, key head 104..107, two elements a beat
    assert stream.data[6:12].tolist() == [[8, 9], [10, 11], [12, 13], [14, 15], [104, 105], [106, 107]]
    assert stream.tid.tolist() == [0] * 6 + [1] * 6 + [2] * 6
    assert np.flatnonzero(stream.last).tolist() == [5, 11, 17]


def test_integers_come_back_as_words():
    packed = pack_run(DESIGN, words())
    result = unpack_run(packed, echo(packed.stream, error=1))
    assert sorted(result) == ["error", "k", "q", "scale"]
    assert result["q"].dtype == np.int32
    assert np.array_equal(result["q"], words()["q"])
    assert np.array_equal(result["k"], words()["k"])
    assert result["error"].tolist() == [0, 0, 1]
    assert result["scale"] == 1.0


def test_floats_are_rounded_to_the_nearest_word_halves_upwards():
    q = np.zeros((3, 2, 4))
    q[0, 0] = [0.5, -0.5, 0.49999999999999994, 1.5]
    q[0, 1] = [-1.5, 2.499, -0.75, 1e9]
    packed = pack_run(DESIGN, floats(q=q), 1.0)
    assert packed.stream.data[:4].reshape(-1).tolist() == [1, 0, 0, 2, -1, 2, -1, 32767]
    assert packed.saturated == 1
    result = unpack_run(replace(packed, scale=0.25), echo(packed.stream))
    assert result["q"][0, 1].tolist() == [-0.25, 0.5, -0.25, 8191.75]
    assert result["q"].dtype == np.float64


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ">f4"])
def test_every_float_type_is_read(kind):
    packed = pack_run(DESIGN, floats(q=np.full((3, 2, 4), 2.5, kind), k=np.ones((3, 1, 4), kind)), 0.5)
    assert packed.stream.data[:6].reshape(-1).tolist() == [5] * 8 + [2] * 4


@pytest.mark.parametrize(
    ("largest", "exponent"),
    [
        # 1.25 x sqrt 2 = 1.768 times the largest must fit 32767 words less a little more than one
        (1.0, -14),
        (32767 / 1.7678 - 2, 0),
        (32767 / 1.7678, 1),
        (1e-3, -24),
        (3e38, 114),
        (0.0, -14),
    ],
)
def test_the_default_scale_is_the_smallest_power_of_two_that_cannot_saturate(largest, exponent):
    q = np.zeros((3, 2, 4))
    q[1, 1, 2] = -largest
    assert pack_run(DESIGN, floats(q=q)).scale == 2.0**exponent


@pytest.mark.parametrize("width", [4, 8, 16, 32])
def test_nothing_saturates_at_the_default_scale(width):
    design = replace(DESIGN, data_width=width)
    for largest in np.geomspace(1, 2, 50):
        packed = pack_run(design, floats(q=np.full((3, 2, 4), largest)))
        # the worst rotation puts a whole pair into one element
        assert abs(packed.stream.data).max() * math.sqrt(2) * 1.25 + 0.5 < 2 ** (width - 1) - 1
        assert packed.saturated == 0


def test_variants_by_name():
    names = np.array(["sliding_attention", "full_attention", "sliding_attention"])
    for array in (names, names.astype(bytes)):
        stream = pack_run(DESIGN, words(variant=array)).stream
        assert (stream.descriptors[:, 0] & 0xFF).tolist() == [1, 0, 1]


def test_values_follow_the_keys():
    design = replace(DESIGN, value_heads=1)
    packed = pack_run(design, words(v=np.full((3, 1, 4), 77)))
    assert packed.stream.data[4:8].tolist() == [[100, 101], [102, 103], [77, 77], [77, 77]]
    assert unpack_run(packed, echo(packed.stream))["v"].tolist() == [[[77] * 4]] * 3


def test_the_number_of_value_heads_goes_into_a_register():
    packed = pack_run(DESIGN, words(v=np.full((3, 2, 4), 77)))
    assert (DESIGN.heads, packed.design.heads) == ((2, 1, 0), (2, 1, 2))
    assert packed.script.registers == (write("value_heads", 2),)
    assert unpack_run(packed, echo(packed.stream))["v"].tolist() == [[[77] * 4] * 2] * 3
    with pytest.raises(InputError, match="v has 2 value heads, and this engine has 0: it was made without registers"):
        pack_run(replace(DESIGN, registers=False), words(v=np.full((3, 2, 4), 77)))
    with pytest.raises(InputError, match=r"the array v \[tokens, value_heads, head_dim\] is missing"):
        pack_run(replace(DESIGN, value_heads=1), words())


def test_no_value_heads_are_a_number_of_value_heads_too():
    packed = pack_run(DESIGN, words(v=np.zeros((3, 0, 4), int)))
    assert packed.script is None
    assert unpack_run(packed, echo(packed.stream))["v"].shape == (3, 0, 4)


def test_the_heads_of_a_variant_that_has_others_go_into_registers():
    own = replace(DESIGN.geometry.of(1), query_heads=3, key_heads=3)
    design = replace(DESIGN, geometry=DESIGN.geometry.with_shapes((DESIGN.geometry.of(0), own)))
    q, k = np.full((3, 3, 4), 5), np.full((3, 3, 4), 6)
    packed = pack_run(design, words(q=q, k=k, variant=np.ones(3, int)))
    assert packed.design.heads == (3, 3, 0)
    assert packed.script.registers == (write("query_heads", 3), write("key_heads", 3))
    assert unpack_run(packed, echo(packed.stream))["k"].tolist() == k.tolist()
    with pytest.raises(InputError, match=r"k has the shape \[3, 3, 4\]"):
        pack_run(design, words(k=k))


def test_no_tokens():
    arrays = {"q": np.zeros((0, 2, 4)), "k": np.zeros((0, 1, 4)), "position": np.zeros(0, int)}
    packed = pack_run(DESIGN, arrays)
    output = StreamOutput(data=packed.stream.data, tid=packed.stream.tid, last=packed.stream.last,
                          user=np.zeros(0, np.uint8))  # fmt: skip
    assert unpack_run(packed, output)["q"].shape == (0, 2, 4)


REFUSED = {
    "q is missing": (words(q=None), r"the array q \[tokens, query_heads, head_dim\] is missing"),
    "position is missing": (words(position=None), r"the array position \[tokens\] is missing"),
    "unknown array": (
        words(x=np.zeros(3)),
        "the array 'x' is not known; these are: q, k, v, position, variant, inverse",
    ),
    "long name": (words(**{"x" * 60_000: np.zeros(3)}), "the array 'x{56}... is not known"),
    "long variant": (words(variant=np.array(["x" * 60_000] * 3)), "variant 'x{56}... is not known"),
    "too many value heads": (words(v=np.zeros((3, 256, 4), int)), "v has 256 value heads; .* counts at most 255"),
    "flat values": (words(v=np.zeros(12, int)), r"v has the shape \[12\], and \[tokens, value_heads, head_dim\] wants"),
    "short values": (words(v=np.zeros((3, 2, 2), int)), r"v has the shape \[3, 2, 2\], .* wants \[3, 2, 4\]"),
    "wrong heads": (
        words(k=np.zeros((3, 2, 4), int)),
        r"k has the shape \[3, 2, 4\], and \[tokens, key_heads, head_dim\] wants \[3, 1, 4\]",
    ),
    "wrong tokens": (words(q=np.zeros((4, 2, 4), int)), r"q has the shape \[4, 2, 4\], .* wants \[3, 2, 4\]"),
    "flat": (words(q=np.zeros(24, int)), r"q has the shape \[24\]"),
    "position matrix": (
        words(position=np.zeros((3, 2), int)),
        r"position has the shape \[3, 2\], .* must be \[tokens\]",
    ),
    "position scalar": (words(position=np.array(5)), r"position has the shape \[\]"),
    "negative position": (words(position=np.array([0, -1, 2])), r"position\[1\] is -1, .* lies in 0 .. 16777215"),
    "position too large": (words(position=np.array([0, 1, 2**24])), r"position\[2\] is 16777216"),
    "huge position": (words(position=np.array([0, 1, 2**64 - 1], np.uint64)), r"position\[2\] is 18446744073709551615"),
    "float position": (words(position=np.zeros(3)), "position must hold integers, not float64"),
    "unknown variant": (
        words(variant=np.array(["full", "full_attention", "full_attention"])),
        "variant 'full' is not known; the design has: full_attention, sliding_attention",
    ),
    "variant number": (
        words(variant=np.array([0, 256, 0])),
        r"variant\[1\] is 256, and a slot number lies in 0 .. 255",
    ),
    "float variant": (words(variant=np.zeros(3)), "variant must hold integers, not float64"),
    "variants too few": (words(variant=np.zeros(2, int)), r"variant has the shape \[2\], and \[tokens\] wants \[3\]"),
    "inverse of 2": (words(inverse=np.array([0, 1, 2])), r"inverse\[2\] is 2, and a flag lies in 0 .. 1"),
    "word too large": (
        words(k=np.full((3, 1, 4), 32768)),
        r"k\[0, 0, 0\] is 32768, and a word of 16 bits lies in -32768 .. 32767",
    ),
    "word too small": (words(q=np.full((3, 2, 4), -32769)), r"q\[0, 0, 0\] is -32769"),
    "huge word": (words(q=np.full((3, 2, 4), 2**64 - 1, np.uint64)), "a word of 16 bits"),
    "NaN": (floats(q=np.full((3, 2, 4), np.nan)), r"q\[0, 0, 0\] is nan, and every element must be a finite number"),
    "infinity": (floats(k=np.full((3, 1, 4), -np.inf)), r"k\[0, 0, 0\] is -inf"),
    "too large a float": (floats(k=np.full((3, 1, 4), 1e305)), "k holds the magnitude 1e.305"),
    "mixed": (words(q=np.zeros((3, 2, 4))), "all be integers or all be floats: q is float64, k is int16"),
    "objects": (words(q=np.full((3, 2, 4), None)), "q must hold integers or floats, not object"),
    "complex": (words(q=np.zeros((3, 2, 4), complex)), "q must hold integers or floats, not complex128"),
    "truth values": (words(q=np.zeros((3, 2, 4), bool)), "q must hold integers or floats, not bool"),
    "strings": (words(k=np.zeros((3, 1, 4), "U3")), "k must hold integers or floats"),
    "a list": (words(q=[[1]]), "q must be a numpy array, not list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    arrays, message = REFUSED[name]
    with pytest.raises(InputError, match=message) as caught:
        pack_run(DESIGN, arrays)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_that_is_no_value_of_an_lsb(scale):
    with pytest.raises(InputError, match="scale must be a finite number above 0"):
        pack_run(DESIGN, floats(), scale)


def test_an_output_that_lost_a_beat_or_moved_its_frame():
    packed = pack_run(DESIGN, words())
    good = echo(packed.stream)
    shorter = StreamOutput(**{name: getattr(good, name)[:-1] for name in ("data", "tid", "last", "user")})
    with pytest.raises(EngineError, match="18 beats went in and 17 came out"):
        unpack_run(packed, shorter)
    with pytest.raises(EngineError, match="TLAST or TID"):
        unpack_run(packed, replace(good, last=np.roll(good.last, 1)))


def test_the_fields_of_streams_are_checked():
    good = pack_run(DESIGN, words()).stream
    with pytest.raises(ValueError, match="data must be a 2-dimensional array of int64"):
        replace(good, data=good.data.astype(np.int32))
    with pytest.raises(ValueError, match="last must have 18 entries, as data has, not 17"):
        replace(good, last=good.last[1:])
    with pytest.raises(ValueError, match="data must have 4 elements per beat, not 2"):
        good.check(replace(DESIGN, lanes=2))
    with pytest.raises(ValueError, match="stall probability token must be from 0 to 0.95, not 1.0"):
        Stalls(token=1.0)
    with pytest.raises(ValueError, match="data_start must not be negative, not -1"):
        Script(data_start=-1)
    with pytest.raises(ValueError, match="reset_clocks must be at least 1, not 0"):
        Script(reset_clocks=0)


def test_throughput_counts_from_the_first_output_to_the_last():
    output = replace(echo(pack_run(DESIGN, words()).stream), first_output_clock=20, last_output_clock=54)
    assert output.beats_per_clock == 0.5
    assert echo(pack_run(DESIGN, words()).stream).beats_per_clock is None
