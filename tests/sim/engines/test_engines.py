"""Every engine against the model, bit for bit, under everything that can happen on the streams.

What the model itself gives is tested against hand-made results in ``test_stream_model.py`` and ``test_framing.py``.
"""

import shutil

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import Engine, open_engine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream_model import run_model

DESIGN_NAMES = [
    "one-lane", "two-lanes-partial", "four-lanes", "table", "table-four-lanes", "half", "half-odd-values",
    "interleaved-to-half", "half-to-interleaved", "paired",
]  # fmt: skip

HARD = Stalls(seed=11, data=0.3, token=0.3, output=0.3)
FAST_SOURCE = Stalls(seed=12, output=0.7)
SLOW_SOURCE = Stalls(seed=13, data=0.7, token=0.7)


@pytest.fixture
def engine(run, design_folder) -> Engine:
    return open_engine(run[0], design_folder(run[1]))


@pytest.fixture
def design(run, design_folder) -> Design:
    return load_rotary(design_folder(run[1]))


def agree(design: Design, stream: StreamInput, output: StreamOutput) -> None:
    comparison = compare(design, run_model(design, stream), output, stream)
    assert not comparison.differing_bits, str(comparison)


def test_every_kind_of_token_under_stalls(engine, design):
    stream = scenarios.everything(design, seed=1, tokens=80)
    output = engine.run(stream, stalls=HARD)
    agree(design, stream, output)
    assert output.error.any()
    assert not output.error.all()


def test_broken_packets_under_stalls(engine, design):
    stream = scenarios.broken_packets(design, seed=2, tokens=50)
    output = engine.run(stream, stalls=HARD)
    agree(design, stream, output)
    # Every token ends with TLAST, however its packet was broken.
    assert np.count_nonzero(output.last) == stream.tokens


def test_reset_in_mid_stream(engine, design):
    """A token is under way, and a broken one, when reset comes; nothing of them is left in the run that follows."""
    lost = scenarios.broken_packets(design, seed=3, tokens=30)
    stream = scenarios.plain(design, seed=4, tokens=12)
    clocks = 100
    output = engine.run(stream, script=Script(interrupted=lost, interrupted_clocks=clocks))
    agree(design, stream, output)
    before, whole = output.before, run_model(design, lost)
    assert before is not None
    assert 0 < before.beats < whole.beats
    for name in ("data", "tid", "last", "user"):
        assert np.array_equal(getattr(before, name), getattr(whole, name)[: before.beats]), name


def test_descriptors_are_taken_before_any_data_and_the_rate_is_kept(engine, design):
    stream = scenarios.plain(design, seed=5, tokens=24)
    output = engine.run(stream, script=Script(data_start=200))
    agree(design, stream, output)
    assert output.early_tokens >= 4
    # PORTS.md: min(1, beats per token / clocks of a row). A beat more of rows is ready when the first data come.
    rate = min(1.0, design.beats_per_token / (design.shapes[0].pairs * design.clocks_per_pair))
    assert output.beats_per_clock is not None
    assert output.beats_per_clock >= rate * (0.98 if design.buffered else 0.995)
    assert design.beats_per_clock == rate
    if rate == 1.0:
        # In the first head beats wait for their partners; from then on there is no gap.
        gaps = design.shapes[0].pairs // design.lanes if design.buffered else 0
        assert output.last_output_clock - output.first_output_clock + 1 <= output.beats + gaps


class TestCompiled:
    """What costs too much in the slow engines."""

    @pytest.fixture(params=DESIGN_NAMES)
    def run(self, request):
        return "verilator", request.param

    @pytest.mark.parametrize(
        "stalls", [None, HARD, FAST_SOURCE, SLOW_SOURCE], ids=["free", "hard", "slow-sink", "slow"]
    )
    def test_long_streams_under_every_kind_of_stall(self, engine, design, stalls):
        for seed in (1, 2):
            for make in (scenarios.everything, scenarios.broken_packets):
                stream = make(design, seed=seed, tokens=1000)
                agree(design, stream, engine.run(stream, stalls=stalls))

    def test_reset_at_every_clock_of_a_token(self, engine, design):
        lost = scenarios.broken_packets(design, seed=6, tokens=20)
        stream = scenarios.everything(design, seed=7, tokens=20)
        for clocks in range(0, 120, 2):
            script = Script(interrupted=lost, interrupted_clocks=clocks, reset_clocks=1 + clocks % 4)
            agree(design, stream, engine.run(stream, stalls=FAST_SOURCE, script=script))

    def test_every_stream_held_back_in_turn(self, engine, design):
        stream = scenarios.everything(design, seed=8, tokens=50)
        for name in ("data_start", "token_start", "output_start"):
            output = engine.run(stream, script=Script(**{name: 500}))
            agree(design, stream, output)
            assert output.first_output_clock >= 500


@pytest.mark.parametrize(
    ("name", "module"), [("verilator", "verilator"), ("icarus", "cosim"), ("amaranth", "amaranth")]
)
def test_data_without_a_descriptor_is_a_hang_that_says_what_was_taken(name, module, design_folder, monkeypatch):
    monkeypatch.setattr(f"ropewalk_sim.engines.{module}.HANG_CLOCKS", 500)
    engine = open_engine(name, design_folder("four-lanes"))
    whole = scenarios.plain(engine.design, seed=9, tokens=4)
    stream = StreamInput(descriptors=whole.descriptors[:3], data=whole.data, tid=whole.tid, last=whole.last)
    with pytest.raises(EngineError, match=rf"^{name}: .*nothing moved for 500 clocks.*18 of 24"):
        engine.run(stream)


@pytest.mark.parametrize("name", ["model", "amaranth", "verilator", "icarus"])
def test_an_empty_stream(name, design_folder):
    design = load_rotary(design_folder("four-lanes"))
    output = open_engine(name, design_folder("four-lanes")).run(scenarios.plain(design, seed=1, tokens=0))
    assert output.data.shape == (0, 8)


@pytest.mark.parametrize("name", ["verilator", "icarus"])
def test_the_rom_files_are_read_when_a_run_begins(name, design_folder, tmp_path):
    shutil.copytree(design_folder("four-lanes"), tmp_path / "design")
    design = load_rotary(tmp_path / "design")
    stream = scenarios.plain(design, seed=1, tokens=4)
    rom = tmp_path / "design" / "sine.hex"
    words = rom.read_text().split()
    changed = [f"{int(word, 16) ^ 1 << 12:0{len(word)}x}" for word in words]
    engine = open_engine(name, tmp_path / "design")
    agree(design, stream, engine.run(stream))
    rom.write_text("\n".join(changed) + "\n")
    assert compare(design, run_model(design, stream), engine.run(stream), stream).differing_bits > 0
