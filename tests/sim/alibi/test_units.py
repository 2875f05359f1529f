"""The unit in all engines against the model, bit for bit: every mode, stalls on every stream, rows of one beat."""

import json

import numpy as np
import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk_sim.alibi.random_rows import random_rows
from ropewalk_sim.alibi.registers import read_counters, read_crc, write
from ropewalk_sim.alibi.streams import row_descriptors, run_model, whole_rows
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.units.streams import UnitInput

STALLS = Stalls(seed=3, data=0.3, token=0.3, output=0.3, registers=0.2)
MODES = range(4)

# A run under Icarus takes seconds to begin and five milliseconds a beat.
SIZES = {"amaranth": 40, "icarus": 60, "verilator": 6000}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("engine", ["amaranth", "verilator"])
def test_every_mode(engine, mode, unit, designs):
    design = designs["usual"]
    stream = random_rows(design, SIZES[engine], seed=mode)
    script = Script(registers=(write("mode", mode),))
    out = unit(engine, "usual")(stream, stalls=STALLS, script=script)
    expected = run_model(design, stream, mode=mode)
    assert expected.user.any() and not expected.user.all()
    assert out.same_beats(expected)
    assert out.data_waits > 0 and out.output_waits > 0


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        ("icarus", "usual"),
        ("amaranth", "one-lane"),
        *(("verilator", name) for name in ("narrow", "one-lane", "wide")),
    ],
)
@pytest.mark.parametrize("stalls", [Stalls(), STALLS], ids=["running", "stalling"])
def test_other_shapes(engine, name, stalls, unit, designs):
    design = designs[name]
    stream = random_rows(design, SIZES[engine], seed=7)
    assert unit(engine, name)(stream, stalls=stalls).same_beats(run_model(design, stream))


def one_beat_rows(design: AlibiDesign, rows: int) -> UnitInput:
    random = np.random.default_rng(1)
    count = random.integers(1, design.lanes + 1, rows)
    descriptors = row_descriptors(
        head=np.arange(rows) % 12, query=random.integers(0, 9, rows), first=random.integers(-4, 9, rows),
        count=count, causal=random.integers(0, 2, rows), tag=np.arange(rows) & 255,
    )  # fmt: skip
    return whole_rows(design, descriptors, [random.integers(-99, 99, n) for n in count])


@pytest.mark.parametrize(("engine", "rows"), [("amaranth", 300), ("verilator", 20_000)])
def test_rows_of_one_beat_have_no_bubble(engine, rows, unit, designs):
    """The CRC, which takes a clock now and then, is known before they begin."""
    design = designs["usual"]
    stream = one_beat_rows(design, rows)
    out = unit(engine, "usual")(stream, script=Script(registers=read_crc()))
    assert out.same_beats(run_model(design, stream))
    assert out.beats == rows
    assert out.beats_per_clock == 1.0


def test_long_rows_have_no_bubble(unit, designs):
    design = designs["usual"]
    random = np.random.default_rng(2)
    count = random.integers(100, 4000, 30)
    descriptors = row_descriptors(head=np.arange(30) % 12, query=count, first=0, count=count)
    stream = whole_rows(design, descriptors, [random.integers(-99, 99, n) for n in count])
    out = unit("verilator", "usual")(stream, script=Script(registers=read_crc()))
    assert out.same_beats(run_model(design, stream))
    assert out.beats_per_clock == 1.0


@pytest.mark.parametrize(("engine", "name"), [("amaranth", "usual"), ("verilator", "usual"), ("verilator", "wide")])
def test_the_latency_is_the_one_that_the_folder_states(engine, name, unit, folder, designs):
    stream = random_rows(designs[name], 1, seed=1)
    out = unit(engine, name)(stream, script=Script(registers=read_crc()))
    assert out.first_output_clock == json.loads((folder(name) / "design.json").read_text())["derived"]["latency"]


@pytest.mark.parametrize("engine", ["amaranth", "verilator"])
def test_descriptors_are_taken_ahead_of_data_and_data_never_ahead_of_descriptors(engine, unit, designs):
    design = designs["usual"]
    stream = random_rows(design, 12, seed=4)
    nothing = {"keep": stream.keep[:0], "tid": stream.tid[:0], "last": stream.last[:0]}
    only_rows = UnitInput(descriptors=stream.descriptors[:4], data=stream.data[:0], **nothing)
    assert unit(engine, "usual")(only_rows).beats == 0  # all four were taken, or it would hang
    late = unit(engine, "usual")(stream, stalls=Stalls(token=0.95, seed=2))
    assert late.same_beats(run_model(design, stream))


@pytest.mark.parametrize("engine", ["amaranth", "verilator"])
def test_counters(engine, unit, designs):
    design = designs["usual"]
    stream = random_rows(design, 200, seed=11)
    words = stream.descriptors.copy()
    words[5, 3], words[6, 3], words[7, 3] = 0, (1 << 24) + 1, 0xFFFFFFFF  # dropped: their data go with them
    owner = np.repeat(np.arange(200), -(-stream.descriptors[:, 3].astype(int) // design.lanes))
    there = ~np.isin(owner, (5, 6, 7))
    stream = UnitInput(
        descriptors=words,
        data=stream.data[there],
        keep=stream.keep[there],
        tid=stream.tid[there],
        last=stream.last[there],
    )
    expected = run_model(design, stream)
    out = unit(engine, "usual")(
        stream, stalls=STALLS, script=Script(registers=read_crc(), meanwhile=read_counters(start=2500))
    )
    assert out.same_beats(expected)
    rows, beats, waits_in, waits_out, saturated, position, head, framing, count = (a.value for a in out.answers[3:])
    assert (rows, beats) == (197, expected.beats)
    assert (waits_in, waits_out) == (out.data_waits, out.output_waits)
    assert (framing, count) == (0, 3)
    kept = np.delete(words, (5, 6, 7), axis=0)
    bad_head = (kept[:, 0] & 0xFF) >= design.geometry.heads
    first = kept[:, 2].astype(np.int64) - (kept[:, 2].astype(np.int64) >> 31 << 32)
    bad_position = (kept[:, 1] >= 1 << 24) | (first >= 1 << 24) | (first < -(1 << 24))
    assert (head, position) == (bad_head.sum(), bad_position.sum())
    assert bad_head.sum() > 1 and bad_position.sum() > 5
    assert saturated > 50
