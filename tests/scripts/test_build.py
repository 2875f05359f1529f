"""``ropewalk build``: its report, its folder, and what it does when something is wrong."""

import json
import re
import shutil

import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk_cli.main import call
from ropewalk_sim.board.signature import expected_signature

ECP5 = ("--part", "LFE5U-25F-6", "--out-of-context")
ICE40 = ("--part", "iCE40UP5K-SG48", "--out-of-context", "--component", "rotator")


@pytest.fixture
def design(engine, tmp_path):
    """A copy of the tiny engine's folder."""
    return shutil.copytree(engine, tmp_path / "design")


def test_one_lane_and_its_report(ropewalk, design):
    done = ropewalk("build", design, *ECP5, "--component", "rotator", "--seed", 2, "--json")
    assert done.code == 0
    report = json.loads(done.out)
    assert json.loads((design / "build" / "report.json").read_text()) == report
    assert (report["part"], report["seed"], report["component"]) == ("LFE5U-25F-6", 2, "rotator")
    # 16-bit data and 18-bit coefficients: four products, as the issue of real FPGAs asks for, and a queue.
    assert (report["dsp"], report["block_ram"]) == (4, 0)
    assert 300 < report["comb"] < 500
    assert report["lut"] < report["comb"]
    assert 100 < report["clock_mhz"] < 400
    assert report["clocks"] == {"clk": report["clock_mhz"]}
    assert report["critical_path"]
    assert all(name.split(".")[0] in ("rotator", "output", "beat__payload") for name in report["critical_path"])
    assert set(report["tools"]) == {"ropewalk", "python", "yosys", "nextpnr-ecp5"}
    for step in ("synthesis", "netlist", "place and route", "placing", "refining the placement", "routing"):
        assert f"s: {step}\n" in done.err
    netlist = (design / "build" / "netlist.v").read_text()
    assert netlist.count("MULT18X18D") == 4
    assert "  input [71:0] beat__payload;" in netlist
    assert "Max frequency for clock" in (design / "build" / "build.log").read_text()
    assert sorted(path.name for path in (design / "build").iterdir()) == ["build.log", "netlist.v", "report.json"]


def test_the_whole_unit_is_built_from_the_files_on_disk(ropewalk, design):
    verilog = design / "ropewalk.v"
    verilog.write_text(verilog.read_text().replace("module ropewalk(", "module ropewalk(missing_port, ", 1))
    done = ropewalk("build", design, *ECP5)
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("ropewalk: Yosys ended with ")
    assert "missing_port" in done.err


def test_a_table_is_printed_where_no_json_is_asked_for(ropewalk, design):
    done = ropewalk("build", design, *ICE40)
    assert done.code == 0
    for text in ("iCE40UP5K-SG48".upper(), "multipliers (dsp)", "clock clk", "slowest path: rotator.", "report.json"):
        assert text in done.out


@pytest.mark.slow
def test_a_build_that_fails_leaves_the_last_one(ropewalk, design):
    (design / "build-failed.log").write_text("of an earlier build")
    allowed = ropewalk("build", design, *ICE40, "--frequency", 300, "--allow-timing-fail", "--json")
    assert allowed.code == 0
    assert "note: the timing is not met: clk reaches " in allowed.err
    report = json.loads(allowed.out)
    assert (report["timing_met"], report["target_mhz"], report["targets"]) == (False, 300, {"clk": 300})
    assert not (design / "build-failed.log").exists()
    before = {path.name: path.read_bytes() for path in (design / "build").iterdir()}

    failed = ropewalk("build", design, *ICE40, "--frequency", 300, "--json")
    assert (failed.code, failed.out) == (1, "")
    assert "the timing is not met: clk reaches " in failed.err
    assert f"what the tools printed is in {design / 'build-failed.log'}" in failed.err
    assert "== place and route" in (design / "build-failed.log").read_text()
    assert {path.name: path.read_bytes() for path in (design / "build").iterdir()} == before
    assert [path.name for path in design.iterdir() if path.name.startswith(".")] == []


@pytest.fixture(scope="module")
def small(engine, tmp_path_factory):
    """The folder of the smallest rotary engine, in portable Verilog. Tests must not change it."""
    folder = tmp_path_factory.mktemp("small") / "design"
    options = ["--lanes", "1", "--no-registers", "--slots", "1"]
    assert call(["generate", str(engine.parent / "config.json"), "-o", str(folder), *options]) == 0
    return folder


@pytest.mark.slow
def test_a_bitstream_from_one_command(ropewalk, small, tmp_path):
    """The ECP5 bitstream that continuous integration builds: the tiny engine, its self-test and its link."""
    design = shutil.copytree(small, tmp_path / "design")
    (design / "build").mkdir()
    (design / "build" / "old.bit").write_text("of an earlier build")
    done = ropewalk("build", design, "--board", "ulx3s-12f", "--baud", "1000000", "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert (report["board"], report["part"], report["out_of_context"]) == ("ulx3s-12f", "LFE5U-12F-6BG381", False)
    assert (report["target_mhz"], report["timing_met"]) == (100, True)
    # What the PLL makes of the 25 MHz on the pin, under the name that the top gives it.
    assert report["targets"] == {"clock": 100}
    assert report["critical_path"] and all("." in name for name in report["critical_path"])
    assert report["used"]["EHXPLLL"] == 1
    for step in ("signature of the self-test", "Verilog of the board", "synthesis", "place and route", "bitstream"):
        assert f"s: {step}\n" in done.err
    files = {path.name: path.read_bytes() for path in (design / "build").iterdir()}
    assert {"ulx3s-12f.bit", "ulx3s-12f.svf", "ulx3s.lpf", "ropewalk.v", "netlist.v", "build.log"} < set(files)
    assert "old.bit" not in files
    # Command E2 of a bitstream checks the part's identity, which Lattice gives as 21111043.
    assert bytes.fromhex("e2000000 21111043") in files["ulx3s-12f.bit"]
    signature = expected_signature(load_rotary(design))
    assert f"32'd{signature}" in files["ropewalk.v"].decode()


@pytest.mark.slow
def test_what_vivado_needs_for_an_arty_and_no_more(ropewalk, small, tmp_path):
    design = shutil.copytree(small, tmp_path / "design")
    done = ropewalk("build", design, "--board", "arty-a7-35t")
    assert done.code == 0, done.err
    assert "note: area by Yosys alone: nothing here places this part, so there is no clock" in done.out
    assert "note: Vivado makes the bitstream: vivado.tcl is the script for it" in done.out
    assert not re.search("^ *bitstream:", done.out, re.MULTILINE)
    names = {path.name for path in (design / "build").iterdir()}
    assert {"ropewalk.v", "arty-a7.xdc", "vivado.tcl", "report.json"} < names
    assert {path.name for path in small.glob("*.hex")} < names
    script = (design / "build" / "vivado.tcl").read_text()
    for line in script.splitlines():
        if line.startswith(("read_verilog", "read_mem", "read_xdc")):
            assert line.split()[1] in names


@pytest.mark.slow
def test_a_board_that_is_too_small_is_said_to_be(ropewalk, design):
    """Four lanes take sixteen multipliers, and an iCEBreaker has eight."""
    done = ropewalk("build", design, "--board", "icebreaker")
    assert (done.code, done.out) == (1, "")
    said = done.err.splitlines()[-1]
    assert re.search(r"ICE40UP5K-SG48 has no room for it: it takes .*\d+ of 8 multipliers \(dsp\)", said)
    assert "; generate it smaller: --lanes 1, --clocks-per-pair 8, --no-registers, --slots 1; what the tools" in said
    assert not (design / "build").exists()
    assert "== synthesis" in (design / "build-failed.log").read_text()


def test_a_board_is_not_built_for_what_does_not_go_with_it(ropewalk, refused, engine, design, tmp_path):
    assert "either --board, or --part" in refused("build", design)
    assert "either --board, or --part" in refused("build", design, "--board", "ulx3s-85f", *ECP5)
    assert "a board has pins" in refused("build", design, "--board", "ulx3s-85f", "--component", "rotator")
    assert "there is no board ulx4s; there are ulx3s-85f, " in refused("build", design, "--board", "ulx4s")
    assert "--baud goes with --board" in refused("build", design, *ECP5, "--baud", 9600)
    assert "ULX3S with an LFE5U-85F has no clock of 101 MHz: the PLL of ecp5 makes no 101 MHz from 25 MHz" in refused(
        "build", design, "--board", "ulx3s-85f", "--frequency", 101
    )
    assert "Arty A7-35T has no clock of 50 MHz" in refused("build", design, "--board", "arty-a7-35t", "--frequency", 50)
    assert ropewalk("generate", engine.parent / "config.json", "-o", tmp_path / "g", "--family", "gowin").code == 0
    said = refused("build", tmp_path / "g", "--board", "ulx3s-85f")
    assert "made of the primitives of gowin" in said and "generate it with --family ecp5" in said
    assert ropewalk("generate", "bloom-176b", "-o", tmp_path / "alibi").code == 0
    said = refused("build", tmp_path / "alibi", "--board", "ulx3s-85f")
    assert "the tops of boards are made for rotary engines: build it with --part LFE5U-85F-6BG381 --out" in said
    for folder in (design, tmp_path / "g", tmp_path / "alibi"):
        assert not (folder / "build").exists() and not (folder / "build-failed.log").exists()


def test_bad_input_is_refused(refused, design, tmp_path):
    assert "no pins: give --out-of-context too" in refused("build", design, "--part", "LFE5U-25F-6")
    assert "there is no part LFE5U-99F-6; these can be built for: " in refused(
        "build", design, "--part", "LFE5U-99F-6", "--out-of-context"
    )
    assert "has no component row; it has engine, generator, lane, rotator" in refused(
        "build", design, *ECP5, "--component", "row"
    )
    assert "there is no folder" in refused("build", tmp_path / "none", *ECP5)
    (design / "sine.hex").unlink()
    assert "sine.hex cannot be read: No such file or directory; ropewalk generate writes it" in refused(
        "build", design, *ECP5
    )
    assert not (design / "build").exists()


def test_the_primitives_of_one_family_are_not_built_for_another(ropewalk, refused, engine, tmp_path):
    made = ropewalk("generate", engine.parent / "config.json", "-o", tmp_path / "gowin", "--family", "gowin")
    assert made.code == 0
    for component in ((), ("--component", "rotator")):
        said = refused("build", tmp_path / "gowin", *ECP5, *component)
        assert "made of the primitives of gowin, and LFE5U-25F-6 is of ecp5" in said
        assert "--family ecp5" in said
    assert not (tmp_path / "gowin" / "build").exists()
