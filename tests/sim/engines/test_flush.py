"""Soft reset and flush at every moment of a stream: nothing of it is left, and what is loaded stays."""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import load_slot, load_words, read, read_crcs, write
from ropewalk_sim.stream_model import run_model

SOFT_RESET, FLUSH = 1, 8
LOADING = 1


@pytest.mark.parametrize("bit", [SOFT_RESET, FLUSH], ids=["soft-reset", "flush"])
@pytest.mark.parametrize(("name", "moments"), [("verilator", range(0, 160, 4)), ("amaranth", range(31, 130, 33))])
@pytest.mark.parametrize("design_name", ["two-lanes-partial", "four-lanes"])
def test_nothing_of_an_interrupted_stream_is_left(bit, name, moments, design_name, design_folder):
    design = load_rotary(design_folder(design_name))
    third = replace(design.variants[1], name="third")
    loaded = replace(design, geometry=replace(design.geometry, variants=(*design.variants, third)))
    engine = open_engine(name, design_folder(design_name))
    lost = scenarios.broken_packets(loaded, seed=6, tokens=25)
    stream = scenarios.everything(loaded, seed=7, tokens=15)
    for clocks in moments:
        script = Script(
            interrupted=lost,
            interrupted_clocks=clocks,
            # A load is left half done, too.
            interrupted_registers=(*load_slot(2, design, 1), *load_words(0, [1, 2])[:-1]),
            reset_clocks=0,
            registers=(read("load_state"), write("control", bit), read("load_state"), *read_crcs(range(3))),
        )
        stalls = Stalls(seed=clocks, data=0.2, token=0.2, output=0.5, registers=0.2)
        output = engine.run(stream, stalls=stalls, script=script)
        expected = run_model(loaded, stream)
        for field in ("data", "tid", "last", "user"):
            np.testing.assert_array_equal(getattr(output, field), getattr(expected, field), f"{field} {clocks}")
        state, done, after, _, *crcs = (answer.value for answer in output.answers)
        assert (state & LOADING, done, after & LOADING) == (1, 0, 0)
        assert crcs == [slot_crc(loaded, slot) for slot in range(3)]


def test_without_a_reset_under_cocotb(design_folder):
    design = load_rotary(design_folder("four-lanes"))
    stream = scenarios.plain(design, seed=1, tokens=2)
    script = Script(interrupted=stream, registers=(write("control", FLUSH),), reset_clocks=0)
    with pytest.raises(ValueError, match="cannot take back what it offers"):
        open_engine("icarus", design_folder("four-lanes")).run(stream, script=script)


def test_something_must_end_an_interrupted_stream(design_folder):
    stream = scenarios.plain(load_rotary(design_folder("four-lanes")), seed=1, tokens=2)
    with pytest.raises(ValueError, match="reset_clocks must be at least 1"):
        Script(interrupted=stream, reset_clocks=0)
