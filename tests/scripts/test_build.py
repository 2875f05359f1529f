"""``ropewalk build``: its report, its folder, and what it does when something is wrong."""

import json
import shutil

import pytest

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
    for step in ("synthesis", "netlist", "place and route"):
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


def test_bad_input_is_refused(refused, design, tmp_path):
    assert "no pins: give --out-of-context too" in refused("build", design, "--part", "LFE5U-25F-6")
    assert "there is no part LFE5U-99F-6; these can be built for: " in refused(
        "build", design, "--part", "LFE5U-99F-6", "--out-of-context"
    )
    assert "--part" in refused("build", design)
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
