"""Sentences of the port contract on errors and framing, on the emitted Verilog, in every layout.

What must come out is worked out here from the contract's own words and not by the model: where an element stands is
that of ``docs/ports.md``, "Element order", written down once more.
"""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk_sim.beats import PASS, Script, Stalls, StreamInput, StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import SCANNING, read_counters, wait
from ropewalk_sim.scenarios import random_words

LAYOUTS = ["four-lanes", "half", "half-odd-values", "interleaved-to-half", "half-to-interleaved", "paired"]
STALLS = Stalls(seed=3, data=0.2, token=0.2, output=0.3)
EMPTY_SLOT, LOUD = 5, 1
COUNTED = ("tokens", "beats", "input_stalls", "output_stalls", "saturations", "position", "slot", "framing")


def places(layout: str, design: Design) -> list[int]:
    """For each place of a head in ``layout``: 2i and 2i + 1 for pair i's elements, or -1 - e for an element outside."""
    shape = design.shapes[0]
    start, half, lanes = shape.rotary_start, shape.rotary_dim // 2, design.lanes
    inside = range(start, start + 2 * half)
    in_half = [
        -1 - e if e not in inside else 2 * (e - start) if e < start + half else 2 * (e - start - half) + 1
        for e in range(shape.head_dim)
    ]
    if layout == "half":
        return in_half
    if layout == "interleaved":
        return [e - start if e in inside else -1 - e for e in range(shape.head_dim)]
    first, chunks = start // lanes, half // lanes
    found = []
    for beat in range(shape.head_dim // (2 * lanes)):
        place = beat - first // 2
        if 0 <= place < chunks:
            pair = first + place, first + chunks + place
        elif place == chunks and first % 2:
            pair = first - 1, first + 2 * chunks
        else:
            pair = 2 * beat, 2 * beat + 1
        found += [in_half[chunk * lanes + lane] for chunk in pair for lane in range(lanes)]
    return found


def moved(design: Design, heads: np.ndarray) -> np.ndarray:
    """Query and key heads ``[..., heads, head_dim]`` as they must come out unrotated; value heads stay."""
    coming, going = (places(layout, design) for layout in design.stream_pairings)
    order = [coming.index(element) for element in going]
    out = heads.copy()
    turned = sum(design.heads[:2])
    out[..., :turned, :] = heads[..., :turned, order]
    return out


def cut(design: Design, words: np.ndarray) -> np.ndarray:
    """The low bits of each container, read as signed."""
    shift = 64 - design.data_width
    return words << shift >> shift


@pytest.fixture(params=LAYOUTS)
def engine(request, design_folder):
    return open_engine("verilator", design_folder(request.param))


def as_heads(design: Design, output: StreamOutput) -> np.ndarray:
    return output.data.reshape(-1, sum(design.heads), design.geometry.head_dim)


def by_token(design: Design, values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, design.beats_per_token)


@pytest.mark.parametrize("kind", ["position error", "empty slot", "pass"])
def test_the_output_layout_still_applies_and_no_amplitude(engine, kind):
    """Values come out as they went in, in the output's order, also where the slot's amplitude is 1.3466."""
    design = engine.design
    tokens = 12
    words = random_words(design, np.random.default_rng(1), tokens)
    descriptors = {
        "position error": descriptor_words(LOUD, np.full(tokens, design.limits[LOUD]), tag=7),
        "empty slot": descriptor_words(EMPTY_SLOT, np.arange(tokens), tag=7),
        "pass": descriptor_words(LOUD, np.arange(tokens) * 9, flags=PASS, tag=7),
    }[kind]
    output = engine.run(whole_tokens(design, descriptors, words), stalls=STALLS)
    np.testing.assert_array_equal(as_heads(design, output), moved(design, cut(design, words)))
    error = by_token(design, output.error)
    # Position and slot errors stand on every beat of the token, pass is none.
    assert error.all() if kind != "pass" else not error.any()


def test_position_0_of_amplitude_1_turns_nothing_and_moves_as_the_layout_says(engine):
    """The identity by rotation: the layout of rotated tokens is that of those that are not."""
    design = engine.design
    words = random_words(design, np.random.default_rng(2), 8)
    output = engine.run(whole_tokens(design, descriptor_words(0, np.zeros(8, int)), words), stalls=STALLS)
    np.testing.assert_array_equal(as_heads(design, output), moved(design, cut(design, words)))
    assert not output.error.any()


@pytest.mark.parametrize("position", [1 << 24, (1 << 24) + 1, 1 << 25, 1 << 31, (1 << 32) - 1])
def test_all_32_bits_of_a_position_are_compared_so_2_to_the_24_is_never_0(engine, position):
    """The limit is 2^24, whose low 24 bits are those of position 0."""
    design = replace(engine.design)
    assert design.limits[LOUD] == 1 << 24
    words = random_words(design, np.random.default_rng(3), 3)
    descriptors = descriptor_words(LOUD, np.array([(1 << 24) - 1, position, 0]))
    script = Script(meanwhile=read_counters(start=600))
    output = engine.run(whole_tokens(design, descriptors, words), script=script)
    assert by_token(design, output.error).all(axis=1).tolist() == [False, True, False]
    np.testing.assert_array_equal(as_heads(design, output)[1], moved(design, cut(design, words))[1])
    assert counters(output)["position"] == 1


def counters(output: StreamOutput) -> dict[str, int]:
    return dict(zip(COUNTED, (answer.value for answer in output.answers[-8:]), strict=True))


def framed(design: Design, tags: list[int], beats: list[tuple[int, bool]], seed: int) -> StreamInput:
    words = random_words(design, np.random.default_rng(seed), len(beats) // design.beats_per_token + 1)
    return StreamInput(
        descriptors=descriptor_words(0, np.arange(len(tags)), tag=np.array(tags)),
        data=np.ascontiguousarray(words.reshape(-1, design.elements)[: len(beats)]),
        tid=np.array([tid for tid, _ in beats], np.uint8),
        last=np.array([last for _, last in beats], bool),
    )


def packet(design: Design, tag: int, length: int | None = None) -> list[tuple[int, bool]]:
    length = design.beats_per_token if length is None else length
    return [(tag, place == length - 1) for place in range(length)]


def sides(output: StreamOutput) -> list[tuple[int, bool, bool]]:
    return list(zip(output.tid.tolist(), output.last.tolist(), output.error.tolist(), strict=True))


def sound(design: Design, tag: int) -> list[tuple[int, bool, bool]]:
    return [(tid, last, False) for tid, last in packet(design, tag)]


def test_a_short_packet_ends_early_with_tlast_and_is_never_padded(engine):
    design = engine.design
    for length in range(1, design.beats_per_token):
        stream = framed(design, [4, 5], [*packet(design, 4, length), *packet(design, 5)], seed=length)
        output = engine.run(stream, stalls=STALLS, script=Script(meanwhile=read_counters(start=600)))
        expected = [(4, place == length - 1, place == length - 1) for place in range(length)]
        assert sides(output) == [*expected, *sound(design, 5)], length
        assert (counters(output)["framing"], counters(output)["tokens"]) == (1, 2)


def test_excess_beats_are_dropped_and_the_error_is_on_the_tlast_beat(engine):
    design = engine.design
    whole = design.beats_per_token
    for excess in (1, 2, whole, 3 * whole + 1):
        beats = [(4, False)] * whole + [(place % 256, place == excess - 1) for place in range(excess)]
        stream = framed(design, [4, 5], [*beats, *packet(design, 5)], seed=excess)
        output = engine.run(stream, stalls=STALLS, script=Script(meanwhile=read_counters(start=600)))
        expected = [(4, place == whole - 1, place == whole - 1) for place in range(whole)]
        assert sides(output) == [*expected, *sound(design, 5)], excess
        assert counters(output)["framing"] == 1


def test_a_mismatch_discards_data_until_tid_and_tag_agree_again(engine):
    """The error stands from the beat at which it is seen to the TLAST beat, and not on the token behind it."""
    design = engine.design
    whole = design.beats_per_token
    for place in range(whole):
        strange = [(9, False), (200, True), (9, False)]
        beats = packet(design, 4)
        stream = framed(design, [4, 5], [*beats[:place], *strange, *beats[place:], *packet(design, 5)], seed=place)
        output = engine.run(stream, stalls=STALLS, script=Script(meanwhile=read_counters(start=600)))
        assert sides(output) == [(4, p == whole - 1, p >= place) for p in range(whole)] + sound(design, 5), place
        assert counters(output)["framing"] == 1
        kept = np.r_[0:place, place + 3 : len(stream.data)]
        given = cut(design, stream.data[kept]).reshape(-1, sum(design.heads), design.geometry.head_dim)
        # Token 0 is at position 0, which turns nothing: what was discarded has left no trace.
        np.testing.assert_array_equal(as_heads(design, output)[0], moved(design, given)[0])


def test_tags_tied_to_0_do_without_them(engine):
    design = engine.design
    words = random_words(design, np.random.default_rng(5), 20)
    stream = whole_tokens(design, descriptor_words(0, np.zeros(20, int), tag=0), words)
    output = engine.run(stream, stalls=STALLS)
    assert not output.tid.any() and not output.error.any()
    np.testing.assert_array_equal(as_heads(design, output), moved(design, cut(design, words)))


def test_a_missing_packet_is_searched_for_until_one_fits(engine):
    """The packets of the tokens behind are lost meanwhile, and what waits for them goes on where one fits again."""
    design = engine.design
    stream = framed(design, [4, 5, 6], [*packet(design, 5), *packet(design, 6), *packet(design, 4)], seed=6)
    output = engine.run(stream, stalls=STALLS)
    assert sides(output) == [(4, last, True) for _, last in packet(design, 4)]


def test_the_stall_counters_count_the_clocks_of_the_streams_own_handshakes(engine):
    design = engine.design
    words = random_words(design, np.random.default_rng(7), 40)
    stream = whole_tokens(design, descriptor_words(0, np.arange(40)), words)
    script = Script(registers=(wait("load_state", SCANNING, 0),), meanwhile=read_counters(start=4000))
    output = engine.run(stream, stalls=Stalls(seed=5, data=0.1, output=0.5), script=script)
    seen = counters(output)
    assert (seen["tokens"], seen["beats"]) == (40, output.beats)
    assert (seen["input_stalls"], seen["output_stalls"]) == (output.data_waits, output.output_waits)
    assert min(seen["input_stalls"], seen["output_stalls"]) > 100


@pytest.mark.parametrize("which", ["half", "half-odd-values", "interleaved-to-half", "paired", "four-lanes", "table"])
def test_at_least_4_descriptors_are_taken_with_no_data_present(which, design_folder):
    engine = open_engine("verilator", design_folder(which))
    design = engine.design
    words = random_words(design, np.random.default_rng(8), 80)
    stream = whole_tokens(design, descriptor_words(0, np.arange(80)), words)
    output = engine.run(stream, script=Script(data_start=3000))
    assert output.early_tokens is not None and 6 <= output.early_tokens < 80


def test_data_are_never_accepted_before_their_descriptor(engine):
    design = engine.design
    stream = whole_tokens(design, descriptor_words(0, np.arange(4)), random_words(design, np.random.default_rng(9), 4))
    output = engine.run(stream, script=Script(token_start=1000))
    assert output.data_waits is not None and output.data_waits >= 1000
    assert output.clocks is not None and output.clocks < 1000
