"""The Verilog of every family, with models of its cells: the bits of the model, the clocks of the portable one."""

from dataclasses import replace

import pytest
from ropewalk.emit.folder import load_design, load_rotary, write_design_folder
from ropewalk.family import FAMILIES
from ropewalk.tables.digest import geometry_digest
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import load_slot, read_crcs
from ropewalk_sim.stream_model import run_model

CLOCKS = ("first_output_clock", "last_output_clock", "clocks", "data_waits", "token_waits", "output_waits")

RUNS = [("verilator", family, "dsp") for family in FAMILIES if family != "generic"]
RUNS += [("icarus", family, "dsp") for family in ("ecp5", "ice40", "gowin")]
RUNS += [("verilator", "generic", "luts"), ("verilator", "ecp5", "luts"), ("icarus", "ecp5", "luts")]


@pytest.fixture
def made(design_folder, tmp_path):
    """Gives the folder of a design of another family, by the design's name; its lanes may multiply otherwise too."""

    def make(name, family, multipliers="dsp"):
        folder = tmp_path / f"{name}-{family}"
        design = replace(load_rotary(design_folder(name)), family=family, lane_multipliers=multipliers)
        write_design_folder(design, folder)
        return folder

    return make


@pytest.mark.parametrize(("engine", "family", "multipliers"), RUNS)
def test_every_family_has_the_same_bits_and_clocks(engine, family, multipliers, design_folder, made):
    folder = made("half-odd-values", family, multipliers)
    design = load_rotary(folder)
    assert (design.family, design.lane_multipliers) == (family, multipliers)
    stream = scenarios.everything(design, seed=1, tokens=60)
    # Slots that are loaded while others are in use: every memory is written and read.
    script = Script(meanwhile=(*load_slot(2, design, 1, start=30), *read_crcs([0, 1, 2])))
    stalls = Stalls(seed=7, data=0.2, token=0.2, output=0.2)
    runs = [
        open_engine(engine, each).run(stream, stalls=stalls, script=script)
        for each in (folder, design_folder("half-odd-values"))
    ]
    output, portable = runs
    comparison = compare(design, run_model(design, stream), output, stream)
    assert not comparison.differing_bits, str(comparison)
    assert [getattr(output, name) for name in CLOCKS] == [getattr(portable, name) for name in CLOCKS]
    crcs = [slot_crc(design, slot) for slot in (0, 1, 1)]
    assert [answer.value for answer in output.answers[-3:]] == crcs


@pytest.mark.parametrize("family", FAMILIES)
def test_the_family_is_no_part_of_the_geometry(family, design_folder, made):
    design = load_design(made("table", family))
    assert geometry_digest(design) == geometry_digest(load_rotary(design_folder("table")))
