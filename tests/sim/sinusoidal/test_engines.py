"""The emitted Verilog in Verilator and Icarus, and the gateware in Amaranth's simulator, against the model."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from ropewalk.tables.sinusoidal_words import slot_crc
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.sinusoidal.engines import run_engine
from ropewalk_sim.sinusoidal.model import run_model
from ropewalk_sim.sinusoidal.scenarios import (
    design_of,
    faulty,
    mixed_tokens,
    read,
    scanned,
)
from ropewalk_sim.units.rows import descriptors_of, whole_tokens

simulate = partial(run_engine, "amaranth", None)

DESIGNS = {
    "paper": design_of("paper", 12, lanes=4, generators=2, row_offset=0),
    # a row ends inside a beat, sines end inside a beat and inside a group, one cosine less than sines, scaled
    "marian-odd": design_of("marian", 13, lanes=4, generators=2, amplitude=0.2, data_width=12),
    # fairseq's rows, a row of zeros among the positions, a zero at the end
    "fairseq-odd": design_of(
        "tensor2tensor", 11, lanes=2, generators=1, row_offset=2, zero_row=5, mask="counted", max_position=40
    ),
    "slow": design_of("marian", 24, lanes=16, generators=2, data_width=8, fraction_bits=6),
}
LIGHT = Stalls(seed=1)
HEAVY = Stalls(seed=2, data=0.3, token=0.4, output=0.3, registers=0.3)


@pytest.mark.parametrize("name", DESIGNS)
def test_amaranth_is_bit_exact(name):
    design = DESIGNS[name]
    stream = mixed_tokens(design, 40, 3)
    wanted = run_model(design, stream)
    assert wanted.error.any() and not wanted.error.all()
    assert simulate(design, stream, HEAVY).same(wanted)


@pytest.mark.parametrize("name", DESIGNS)
def test_amaranth_keeps_to_the_framing_rules(name):
    design = DESIGNS[name]
    stream = faulty(mixed_tokens(design, 30, 4), design, 5)
    wanted = run_model(design, stream)
    assert wanted.beats != 30 * design.beats_per_token or stream.beats != wanted.beats
    assert simulate(design, stream, LIGHT).same(wanted)


@pytest.mark.parametrize("name", ["marian-odd", "fairseq-odd"])
def test_the_verilog_is_bit_exact_in_verilator(name, emitted):
    design = DESIGNS[name]
    stream = mixed_tokens(design, 20_000, 6)
    script = Script(registers=(scanned(), read("geometry_crc")), output_start=200)
    wanted = run_model(design, stream)
    for stalls in (LIGHT, HEAVY):
        output = run_engine("verilator", emitted(design), design, stream, stalls, script)
        assert output.same(wanted)
        assert output.answers[1].value == slot_crc(design)
        if stalls is LIGHT:
            assert output.beats_per_clock == 1  # no bubble in 80,000 beats
    broken = faulty(stream, design, 7)
    assert run_engine("verilator", emitted(design), design, broken, HEAVY).same(run_model(design, broken))


def test_every_phase_of_a_small_unit(emitted):
    """8-bit coefficients look at 19 bits of a phase: a step of one of those, and every one of the 2**19 rows."""
    design = design_of("paper", 2, lanes=2, data_width=8, fraction_bits=4, coefficient_width=8)
    turn = replace(design.geometry, inverse_frequency=(2 * math.pi / 2**19,))
    design = replace(design, geometry=turn)
    assert design.sine.reduced_phase_bits == 19
    rows = np.arange(1 << 19)
    x = np.random.default_rng(1).integers(-128, 127, (len(rows), 2), endpoint=True)
    stream = whole_tokens(design, descriptors_of(rows), x)
    output = run_engine(
        "verilator", emitted(design), design, stream, script=Script(registers=(scanned(),), output_start=100)
    )
    assert output.same(run_model(design, stream))
    assert output.beats_per_clock == 1  # a beat per clock
    angle = 2 * math.pi * rows[:, None] / 2**19
    exact = x + 16 * np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    inside = np.abs(exact) <= 127
    assert np.abs(output.data - exact)[inside].max() <= design.error_bound < 0.52


@pytest.mark.parametrize("name", ["marian-odd", "fairseq-odd", "paper"])
def test_the_verilog_is_bit_exact_in_icarus(name, emitted):
    design = DESIGNS[name]
    whole = mixed_tokens(design, 120, 8)
    stream = faulty(whole, design, 9, sendable=True)
    script = Script(registers=(scanned(), read("geometry_crc")))
    output = run_engine("icarus", emitted(design), design, stream, HEAVY, script)
    assert output.same(run_model(design, stream))
    assert output.answers[1].value == slot_crc(design)
