"""Netlists in the place of the Verilog: the bits of the model, and that a netlist with a fault is seen.

``scripts/netlist_trials`` runs larger units, and all of them for each family.
"""

import json
import re
from dataclasses import replace

import pytest
from ropewalk.boards import families
from ropewalk.boards.synthesis import netlist_verilog, synthesise
from ropewalk.boards.unit import unit_in
from ropewalk.design import Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.emit.folder import write_design_folder
from ropewalk.errors import InputError
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim import scenarios
from ropewalk_sim.alibi.unit import AlibiUnit
from ropewalk_sim.beats import Stalls
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import open_engine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.netlist import Netlist, built_netlist, netlist_folder
from ropewalk_sim.stream_model import run_model
from ropewalk_sim.units.unit import compare_octets

FAMILIES = {"ecp5": families.ECP5, "ice40": families.ICE40}
TOKENS = 150
STALLS = Stalls(seed=7, data=0.2, token=0.2, output=0.2)

ROTARY = Design(
    geometry=RotaryGeometry(
        model_type="test", head_dim=8, rotary_dim=8, rotary_start=0, query_heads=1, key_heads=1, pairing="interleaved",
        output_pairing="interleaved", layers=None,
        variants=(
            Variant(name="plain", inverse_frequency=(1.0, 0.1, 0.01, 0.001), amplitude=1.0, max_position=60),
            Variant(name="loud", inverse_frequency=(0.9, 0.2, 0.03, 0.004), amplitude=1.3466, max_position=1 << 24),
        ),
    ),
    lanes=1, registers=False, data_width=8,
)  # fmt: skip
ALIBI = AlibiDesign(
    geometry=AlibiGeometry(model_type="test", heads=5, slopes=alibi_slopes(5), mode="relative"),
    lanes=1, data_width=8, fraction_bits=3, registers=False, family="ecp5",
)  # fmt: skip


def netlist_of(folder, family, design):
    """Writes the design into ``folder``, and gives its netlist."""
    write_design_folder(design, folder)
    made = synthesise(unit_in(folder).files, family=FAMILIES[family], primitives=True)
    return Netlist(verilog=netlist_verilog(made).encode(), family=family, part="")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "cells"),
    [
        ("ecp5", ("MULT18X18D", "DP16KD", "CCU2C", "LUT4")),
        ("ice40", ("SB_MAC16", "SB_RAM40_4K", "SB_CARRY", "SB_LUT4")),
    ],
)
def test_a_rotary_engine_does_in_cells_what_its_model_does(family, cells, rotary):
    folder, netlist = rotary(family)
    assert all(re.search(rf"^  {cell} ".encode(), netlist.verilog, re.M) for cell in cells)
    assert netlist.verilog.count(b"\nmodule ") == 1
    found = rotated(folder, netlist)
    assert (found.beats, found.differing_bits) == (TOKENS * ROTARY.beats_per_token, 0), str(found)


@pytest.fixture(scope="module")
def rotary(tmp_path_factory):
    """Gives the folder of the small rotary engine of a family, and its netlist."""
    made = {}

    def make(family):
        if family not in made:
            folder = tmp_path_factory.mktemp(family) / "design"
            made[family] = folder, netlist_of(folder, family, replace(ROTARY, family=family))
        return made[family]

    return make


def rotated(folder, netlist):
    """Tokens of every kind through a rotary engine's netlist, against the model."""
    stream = scenarios.everything(ROTARY, seed=1, tokens=TOKENS)
    with netlist_folder(folder, netlist) as place:
        output = open_engine("verilator", place).run(stream, stalls=STALLS)
    return compare(ROTARY, run_model(ROTARY, stream), output, stream)


FAULTS = {
    "a register of a multiplier is off": (r'\.REG_PIPELINE_CLK\("CLK0"\)', '.REG_PIPELINE_CLK("NONE")'),
    # Bit 17 of the first word of the block RAMs.
    "a word of a memory has another bit": (r"(?<=INITVAL_00\(320'h)([0-9a-f]{75})([0-9a-f])(?=[0-9a-f]{4}\))", None),
    # Of a sum in the rotator, where both operands are 0.
    "a look-up table has another bit": (
        r"\.INIT0\(16'h96aa\)(?=,\n(?:.*\n){4}    \.A0\(\\ports\.engine\.rotator)",
        ".INIT0(16'h97aa)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault, rotary):
    folder, netlist = rotary("ecp5")
    pattern, spoilt = FAULTS[fault]
    given = spoilt or (lambda found: f"{found[1]}{int(found[2], 16) ^ 2:x}")
    text, count = re.subn(pattern, given, netlist.verilog.decode(), count=1 if spoilt else 0)
    assert count >= 1
    try:
        assert rotated(folder, replace(netlist, verilog=text.encode())).differing_bits > 0
    except EngineError as error:
        assert re.search("beats came out|nothing moved", str(error))


@pytest.fixture(scope="module")
def alibi(tmp_path_factory):
    """The folder of a small ALiBi unit of ECP5's primitives, and its netlist."""
    folder = tmp_path_factory.mktemp("alibi") / "design"
    return folder, netlist_of(folder, "ecp5", ALIBI)


def test_a_netlist_runs_in_icarus_too(alibi):
    """Which refuses an output that is connected to a constant, as an ECP5's last carry of a chain is in the netlist."""
    folder, netlist = alibi
    with netlist_folder(folder, netlist) as place:
        unit = AlibiUnit(ALIBI, place)
        stream = unit.corners(60, 1)
        output = unit.octets(unit.run("icarus", stream, stalls=STALLS))
        found = compare_octets(unit.octets(unit.run("model", stream)), output)
    assert output.beats > 50
    assert found.differing_bits == 0


@pytest.fixture
def built(tmp_path):
    """A folder with a build whose report and netlist are made up. Gives a function that changes the report."""
    folder = tmp_path / "design"
    write_design_folder(ALIBI, folder)
    (folder / "build").mkdir()
    (folder / "build" / "netlist.v").write_text("module ropewalk; endmodule\n")

    def report(**changes):
        values = {"family": "ecp5", "part": "LFE5U-25F-6", "board": None, "component": None,
                  "source_sha256": unit_in(folder).sha256, **changes}  # fmt: skip
        (folder / "build" / "report.json").write_text(json.dumps(values))
        return folder

    return report


def test_the_netlist_of_the_last_build(built):
    assert built_netlist(built()) == Netlist(verilog=b"module ropewalk; endmodule\n", family="ecp5", part="LFE5U-25F-6")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"source_sha256": "0" * 64},
            r"netlist\.v was made from other Verilog than .*design holds now; ropewalk build",
        ),
        ({"component": "rotator"}, r"is of the component rotator, which has other ports than the unit: build the unit"),
        ({"board": "ulx3s-85f"}, r"is of the top of the board ulx3s-85f, which has other ports"),
        ({"family": None}, r"report\.json is no report of a build: family, part or source_sha256 is missing; ropewalk"),
    ],
)
def test_the_netlist_of_anything_else_is_refused(changes, said, built):
    with pytest.raises(InputError, match=said):
        built_netlist(built(**changes))


def test_where_nothing_was_built_it_is_said_how(tmp_path):
    with pytest.raises(InputError, match=r"there is no netlist .*netlist\.v; ropewalk build .*--part \.\.\. --out-of"):
        built_netlist(tmp_path)


def test_verilog_that_was_changed_after_the_build_is_noticed(built):
    folder = built()
    with (folder / "ropewalk.v").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match="was made from other Verilog"):
        built_netlist(folder)
