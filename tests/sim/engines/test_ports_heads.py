"""Sentences of the port contract on head counts, snapshots and the pace of a CRC, on the emitted Verilog."""

import numpy as np
import pytest
from ropewalk.tables.slot_words import slot_load_words
from ropewalk_sim.beats import Script, Stalls, StreamInput, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import COUNTERS, SCANNING, load_words, read, read_counters, wait, write
from ropewalk_sim.scenarios import random_words

SCANNED = wait("load_state", SCANNING, 0)


@pytest.mark.parametrize("which", ["four-lanes", "half"])
@pytest.mark.parametrize(
    "heads",
    [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 2, 3), (3, 0, 2), (2, 3, 0), (255, 255, 255)],
    ids=lambda heads: "-".join(map(str, heads)),
)
def test_a_token_is_its_query_then_key_then_value_heads_as_the_registers_say(which, heads, design_folder):
    """Position 0 turns nothing: what comes out is what went in, and TUSER and TLAST tell how it was counted off."""
    engine = open_engine("verilator", design_folder(which))
    design = engine.design
    tokens = 2 if sum(heads) > 9 else 7
    beats = sum(heads) * design.beats_per_head
    words = np.random.default_rng(1).integers(-(1 << 15), 1 << 15, (tokens * beats, design.elements))
    last = np.tile(np.arange(beats) == beats - 1, tokens)
    stream = StreamInput(
        descriptors=descriptor_words(0, np.zeros(tokens, int), tag=np.arange(tokens)),
        data=words,
        tid=np.repeat(np.arange(tokens), beats).astype(np.uint8),
        last=last,
    )
    # In an order in which they are never all 0.
    names = sorted(zip(("query_heads", "key_heads", "value_heads"), heads, strict=True), key=lambda one: one[1] == 0)
    script = Script(registers=tuple(write(name, count) for name, count in names), meanwhile=read_counters(start=9000))
    output = engine.run(stream, stalls=Stalls(seed=4, data=0.1, output=0.2), script=script)
    np.testing.assert_array_equal(output.data, words)
    np.testing.assert_array_equal(
        output.kind, np.tile(np.repeat([0, 1, 2], heads).repeat(design.beats_per_head), tokens)
    )
    np.testing.assert_array_equal(output.last, last)
    assert not output.error.any()
    assert not any(answer.refused for answer in output.answers)
    assert dict(zip(COUNTERS, (answer.value for answer in output.answers[-8:]), strict=True))["tokens"] == tokens


def test_a_write_that_would_make_all_head_counts_0_is_refused(design_folder):
    engine = open_engine("verilator", design_folder("four-lanes"))
    names = ("query_heads", "key_heads", "value_heads")
    none = whole_tokens(engine.design, descriptor_words(0, np.zeros(0, int)), np.zeros((0, 3, 16), int))
    for kept in names:
        zeros = [name for name in names if name != kept]
        accesses = (write(kept, 1), *(write(name, 0) for name in zeros), write(kept, 0), read(kept), write(kept, 256))
        output = engine.run(none, script=Script(registers=accesses))
        assert [answer.refused for answer in output.answers] == [False, False, False, True, False, True], kept
        assert output.answers[-2].value == 1


def test_a_snapshot_is_all_of_one_clock(design_folder):
    """Counters of a stream that gives a beat in every clock, read long after: they fit each other to the beat."""
    engine = open_engine("verilator", design_folder("half"))
    design = engine.design
    tokens = 400
    descriptors = descriptor_words(9, np.zeros(tokens, int), tag=np.arange(tokens) & 255)
    words = random_words(design, np.random.default_rng(2), tokens)
    meanwhile = tuple(access for start in range(200, 4000, 171) for access in read_counters(start=start))
    script = Script(registers=(SCANNED,), meanwhile=meanwhile)
    output = engine.run(whole_tokens(design, descriptors, words), script=script)
    shown = np.array([answer.value for answer in output.answers[1:]]).reshape(-1, 9)[:, 1:]
    moving = (shown[:, 1] > 0) & (shown[:, 1] < output.beats)
    assert moving.sum() > 10
    np.testing.assert_array_equal(shown[:, 0], shown[:, 1] // design.beats_per_token)
    assert np.count_nonzero(shown[moving, 1] % design.beats_per_token) > 10


def test_a_scan_takes_19_clocks_a_pair_and_at_most_one_clock_in_64_from_the_rows(design_folder):
    """Tokens that rows limit, while slots are loaded and scanned again and again."""
    engine = open_engine("verilator", design_folder("four-lanes"))
    design = engine.design
    tokens = 1500
    position = np.arange(tokens) * 3
    beats = design.beats_per_head
    words = random_words(design, np.random.default_rng(3), tokens)[:, :1]
    stream = StreamInput(
        descriptors=descriptor_words(1, position),
        data=words.reshape(-1, design.elements),
        tid=np.zeros(tokens * beats, np.uint8),
        last=np.tile(np.arange(beats) == beats - 1, tokens),
    )
    heads = (write("query_heads", 1), write("key_heads", 0))
    quiet = engine.run(stream, script=Script(registers=(*heads, SCANNED)))
    busy = engine.run(
        stream,
        script=Script(
            registers=(*heads, SCANNED),
            meanwhile=tuple(access for _ in range(60) for access in load_words(2, slot_load_words(design, 1))),
        ),
    )
    np.testing.assert_array_equal(busy.data, quiet.data)
    assert quiet.last_output_clock is not None and busy.last_output_clock is not None
    assert not any(answer.refused for answer in busy.answers)
    rate = beats * tokens / quiet.last_output_clock
    assert rate == pytest.approx(beats / design.shapes[0].pairs, rel=0.01)
    assert quiet.last_output_clock < busy.last_output_clock <= quiet.last_output_clock * 64 / 63 + 2
    # Without tokens a scan goes at its own pace.
    none = StreamInput(
        descriptors=stream.descriptors[:0], data=stream.data[:0], tid=stream.tid[:0], last=stream.last[:0]
    )
    accesses = (*load_words(2, slot_load_words(design, 1)), SCANNED)
    alone = engine.run(none, script=Script(registers=(SCANNED,), meanwhile=accesses))
    scan = alone.answers[-1].clock - alone.answers[-2].clock
    assert 19 * design.shapes[0].pairs <= scan <= 19 * design.shapes[0].pairs + 60
