"""Packets that do not fit their rows: the same in model and hardware, and the rules one by one."""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk_sim.alibi.faulty_rows import faulty_rows
from ropewalk_sim.alibi.registers import read_counters, read_crc
from ropewalk_sim.alibi.streams import row_descriptors, run_model, whole_rows
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.units.streams import from_octets


@pytest.mark.parametrize(("engine", "rows"), [("amaranth", 80), ("icarus", 60), ("verilator", 5000)])
def test_faults_of_every_kind(engine, rows, unit, designs):
    design = designs["usual"]
    stream = faulty_rows(design, rows, seed=rows)
    expected = run_model(design, stream)
    assert 0.1 < expected.user.mean() < 0.9
    out = unit(engine, "usual")(stream, stalls=Stalls(seed=5, data=0.2, token=0.2, output=0.2))
    assert out.same_beats(expected)


@pytest.fixture
def three_rows(designs):
    """Of 10, 4 and 6 scores; the scores count up from 1."""
    descriptors = row_descriptors(
        head=0, query=np.array([9, 9, 9]), first=20, count=[10, 4, 6], tag=[1, 2, 3], causal=0
    )
    return whole_rows(designs["usual"], descriptors, [np.arange(1, 11), np.arange(11, 15), np.arange(15, 21)])


def check(stream, unit, designs, *, source, last, error):
    """Which input beats come out, which of them end a row, and which carry the error; in both engines alike."""
    expected = run_model(designs["usual"], stream)
    for engine in ("amaranth", "verilator"):
        out = unit(engine, "usual")(stream, script=Script(registers=read_crc(), meanwhile=read_counters(start=300)))
        assert out.same_beats(expected)
        assert out.answers[-2].value == len({s for s in error.split() if s})
    assert expected.tid.tolist() == [int(stream.tid[i]) for i in source]
    assert np.flatnonzero(expected.last).tolist() == last
    assert np.flatnonzero(expected.user).tolist() == [int(s) for part in error.split() for s in part.split(",")]
    return expected


def test_whole_rows(three_rows, unit, designs):
    check(three_rows, unit, designs, source=range(6), last=[2, 3, 5], error="")


def test_a_short_packet_ends_early(three_rows, unit, designs):
    there = np.array([True, True, False, True, True, True])
    last = np.array([False, True, True, False, True])
    stream = replace(
        three_rows, data=three_rows.data[there], keep=three_rows.keep[there], tid=three_rows.tid[there], last=last
    )
    check(stream, unit, designs, source=[0, 1, 2, 3, 4], last=[1, 2, 4], error="1")


def test_excess_beats_are_dropped(three_rows, unit, designs):
    last = three_rows.last.copy()
    last[2] = False  # so the second row's beat, which ends a packet, is dropped with it
    order = np.array([0, 1, 2, 0, 3, 3, 4, 5])
    last = np.array([False, False, False, False, True, True, False, True])
    stream = replace(
        three_rows, data=three_rows.data[order], keep=three_rows.keep[order], tid=three_rows.tid[order], last=last
    )
    check(stream, unit, designs, source=[0, 1, 2, 5, 6, 7], last=[2, 3, 5], error="2")


def test_beats_of_another_row_are_discarded(three_rows, unit, designs):
    order = np.array([3, 0, 1, 2, 3, 4, 4, 5])
    tid = three_rows.tid[order].copy()
    tid[6] = 77
    stream = replace(
        three_rows, data=three_rows.data[order], keep=three_rows.keep[order], tid=tid, last=three_rows.last[order]
    )
    check(stream, unit, designs, source=[1, 2, 3, 4, 5, 7], last=[2, 3, 5], error="0,1,2 5")


def test_missing_scores_are_an_error_and_are_not_made_up(three_rows, unit, designs):
    keep = three_rows.keep.copy()
    keep[1, 2:4] = False
    keep[5, :] = True  # two scores more than the row has
    expected = check(replace(three_rows, keep=keep), unit, designs, source=range(6), last=[2, 3, 5], error="1,2 5")
    assert expected.keep[1].tolist() == [True, True, False, False, True, True, True, True]
    assert expected.keep[5].tolist() == [True] * 4 + [False] * 4
    # Slope 1/2 and first key 11 behind the query: 11/2 in LSBs of 1/256.
    assert from_octets(expected.data, 16)[3].tolist() == [11 + 1408, 12 + 1536, 13 + 1664, 14 + 1792]
