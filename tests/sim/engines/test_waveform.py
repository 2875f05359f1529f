"""Waveforms of a window of clocks: what stands in the file is what the run gave, and no other clock does."""

import re

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_sim import Simulator, Waveform
from ropewalk_sim.engines.verilator import VerilatorEngine

TOKENS = 30
NAMES = ("m_axis_tvalid", "m_axis_tready", "m_axis_tdata", "m_axis_tlast", "aclk")


def random_tokens(design):
    random = np.random.default_rng(4)
    words = random.integers(-(1 << 15), 1 << 15, (TOKENS, 3, design.geometry.head_dim))
    return {"q": words[:, :2], "k": words[:, 2:], "position": np.arange(TOKENS)}


def read_vcd(path, scope):
    """The times of a VCD, and the changes of :data:`NAMES` in a module: ``{name: {time: value}}``."""
    head, _, body = path.read_text().partition("$enddefinitions $end")
    stack, codes = [], {}
    for line in head.splitlines():
        if found := re.match(r"\s*\$scope module (\S+) \$end", line):
            stack.append(found[1])
        elif "$upscope" in line:
            stack.pop()
        elif (found := re.match(r"\s*\$var wire\s+\d+ (\S+) (\w+) ", line)) and stack == scope and found[2] in NAMES:
            codes[found[1]] = found[2]
    times, changes = [], {name: {} for name in NAMES}
    for line in body.splitlines():
        if line.startswith("#"):
            times.append(int(line[1:]))
        elif found := re.match(r"b([01]+) (\S+)$|([01])(\S+)$", line):
            value, code = (found[1], found[2]) if found[1] else (found[3], found[4])
            if code in codes:
                changes[codes[code]][times[-1]] = int(value, 2)
    assert set(codes.values()) == set(NAMES)
    return times, changes


def value_in(changes, clock):
    """A signal's value at the end of a clock."""
    return changes[max(time for time in changes if time < 10 * (clock + 1))]


def transfers(changes, clocks):
    """The data beats of ``clocks`` in which valid and ready stood."""
    return [
        value_in(changes["m_axis_tdata"], clock)
        for clock in clocks
        if value_in(changes["m_axis_tvalid"], clock) and value_in(changes["m_axis_tready"], clock)
    ]


def beats_of(design, result):
    """The words of a result as beats, element 0 lowest: heads of 16 elements in 4 lanes are two beats each."""
    words = np.concatenate([result.q, result.k], axis=1).reshape(-1, design.elements)
    return [sum(int(word & 0xFFFF) << 16 * place for place, word in enumerate(beat)) for beat in words]


def test_a_vcd_holds_the_transfers_of_its_window(design_folder, tmp_path):
    folder = design_folder("four-lanes")
    one = Simulator(folder)
    tokens = random_tokens(one.design)
    plain = one.run(**tokens)
    whole, some = tmp_path / "whole.vcd", tmp_path / "some.vcd"
    result = one.capture(Waveform(path=whole, clocks=10**9), **tokens)
    np.testing.assert_array_equal(result.q, plain.q)
    np.testing.assert_array_equal(result.k, plain.k)
    times, changes = read_vcd(whole, ["TOP", "clocked", "ropewalk"])
    beats = beats_of(one.design, result)
    assert times[0] == 0
    assert transfers(changes, range(times[-1] // 10 + 1)) == beats and len(beats) == TOKENS * 6
    # The bench outside sees the same.
    assert transfers(read_vcd(whole, ["TOP"])[1], range(times[-1] // 10 + 1)) == beats

    first, count = 100, 37
    one.capture(Waveform(path=str(some), first_clock=first, clocks=count), **tokens)
    inside, window = read_vcd(some, ["TOP", "clocked", "ropewalk"])
    assert inside == [time for time in times if 10 * first <= time < 10 * (first + count)]
    assert len(inside) == 2 * count
    assert {time for time, level in window["aclk"].items() if level} == {10 * (first + n) for n in range(count)}
    clocks = range(first, first + count)
    seen = transfers(window, clocks)
    assert seen == transfers(changes, clocks) and len(seen) > 20
    assert seen == beats[len(transfers(changes, range(first))) :][: len(seen)]


def test_an_fst_is_written_without_libraries_that_may_be_missing(design_folder, tmp_path):
    """Its header says what it is: block type 0 of 329 bytes, the first and the last time, the double e."""
    one = Simulator(design_folder("four-lanes"))
    path = tmp_path / "some.fst"
    one.capture(Waveform(path=path, first_clock=100, clocks=37), **random_tokens(one.design))
    content = path.read_bytes()
    assert content[0] == 0 and int.from_bytes(content[1:9], "big") == 329
    assert int.from_bytes(content[9:17], "big") == 1000 and int.from_bytes(content[17:25], "big") == 1365
    assert np.frombuffer(content[25:33], "<f8")[0] == np.e
    assert len(content) > 10_000


@pytest.mark.optional
def test_a_reader_of_fst_finds_what_the_vcd_has(design_folder, tmp_path):
    import pywellen

    one = Simulator(design_folder("four-lanes"))
    tokens = random_tokens(one.design)
    found = []
    for name in ("one.vcd", "one.fst"):
        one.capture(Waveform(path=tmp_path / name, first_clock=90, clocks=60), **tokens)
        wave = pywellen.Waveform(str(tmp_path / name))
        found.append({str(var.full_name): list(var.signal) for var in wave.all_vars()})
    assert found[0] == found[1]
    assert len(found[0]["TOP.clocked.ropewalk.m_axis_tdata"]) > 20


def test_a_run_that_ends_before_the_window(design_folder, tmp_path):
    one = Simulator(design_folder("four-lanes"))
    path = tmp_path / "none.vcd"
    with pytest.raises(InputError, match=r"the run took \d+ clocks: there is no waveform of clocks 100000 to 100999"):
        one.capture(Waveform(path=path, first_clock=100_000), **random_tokens(one.design))
    assert not path.exists()


def test_a_file_that_cannot_be_written(design_folder, tmp_path):
    one = Simulator(design_folder("four-lanes"))
    with pytest.raises(InputError, match=r"the waveform .*/missing/one\.vcd cannot be written"):
        one.capture(Waveform(path=tmp_path / "missing" / "one.vcd"), **random_tokens(one.design))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": "one.wave"}, r"must end in \.vcd or \.fst, not 'one\.wave'"),
        ({"first_clock": -1}, "first_clock of a waveform must be an integer from 0 on, not -1"),
        ({"clocks": 0}, "clocks of a waveform must be an integer from 1 on, not 0"),
        ({"clocks": 1.5}, "not 1.5"),
    ],
)
def test_windows_that_are_none(change, message):
    with pytest.raises(InputError, match=message):
        Waveform(**{"path": "one.vcd"} | change)


def test_a_relative_path_is_the_callers(design_folder, tmp_path, monkeypatch):
    """The Verilog reads its ROM files from the design's folder, and a waveform does not end up there."""
    folder = design_folder("four-lanes")
    monkeypatch.chdir(tmp_path)
    engine = VerilatorEngine(folder, waveform=Waveform(path="here.vcd", clocks=5))
    engine.compile()
    Simulator(folder).capture(Waveform(path="here.vcd", clocks=5), **random_tokens(engine.design))
    assert (tmp_path / "here.vcd").is_file() and not (folder / "here.vcd").exists()
