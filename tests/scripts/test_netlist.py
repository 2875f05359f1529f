"""``ropewalk verify --netlist`` after ``ropewalk build``, and the command that tries the netlists of all units."""

import json

import pytest
from click.testing import CliRunner
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk_cli import netlist_cases, netlist_trials
from ropewalk_cli.netlist_cases import Compared, other
from ropewalk_sim.alibi.unit import AlibiUnit

BLOOM = {"model_type": "bloom", "num_attention_heads": 3, "hidden_size": 24}
XILINX = ("--part", "xc7a35t", "--out-of-context")


@pytest.fixture
def design(ropewalk, tmp_path):
    """A small ALiBi unit's folder."""
    (tmp_path / "config.json").write_text(json.dumps(BLOOM))
    options = ("--lanes", 1, "--data-width", 8, "--fraction-bits", 3, "--no-registers")
    assert ropewalk("generate", tmp_path / "config.json", "-o", tmp_path / "design", *options).code == 0
    return tmp_path / "design"


@pytest.mark.slow
def test_a_netlist_is_verified_until_its_sums_are_wrong(ropewalk, refused, design):
    said = refused("verify", design, "--netlist")
    assert f"there is no netlist {design}/build/netlist.v; ropewalk build {design} --part ... --out-of-context" in said

    assert ropewalk("build", design, *XILINX).code == 0
    netlist = design / "build" / "netlist.v"
    text = netlist.read_text()
    assert all(cell in text for cell in ("DSP48E1", "LUT6", "CARRY4", "FDRE"))
    done = ropewalk("verify", design, "--netlist", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["netlist"] == {"part": "XC7A35T", "family": "xilinx"}
    assert [(one["name"], one["differing_bits"]) for one in document["engines"]] == [("model", None), ("verilator", 0)]
    assert document["engines"][1]["beats"] > 100_000 and document["engines"][1]["corner_beats"] > 10_000
    assert document["passed"]

    exclusive_or = "LUT2 #(\n    .INIT(4'h6)"
    assert exclusive_or in text
    netlist.write_text(text.replace(exclusive_or, exclusive_or.replace("6", "7")))
    done = ropewalk("verify", design, "--netlist")
    assert done.code == 1
    assert "verify failed: verilator" in done.err

    with (design / "ropewalk.v").open("a") as file:
        file.write("// another\n")
    assert "was made from other Verilog than" in refused("verify", design, "--netlist")


def test_an_engine_that_simulates_the_netlist_must_be_among_them(refused, design):
    said = refused("verify", design, "--netlist", "--engines", "model,amaranth")
    assert "--netlist: none of the engines simulates it; these do: icarus, verilator, cocotb-verilator" in said


def small(family):
    """The smallest unit."""
    geometry = AlibiGeometry(model_type="test", heads=3, slopes=alibi_slopes(3), mode="relative")
    return AlibiDesign(
        geometry=geometry, lanes=1, data_width=8, fraction_bits=3, capacity=4, registers=False, family=family
    ), None


def call(*arguments):
    return CliRunner().invoke(netlist_trials.main, [str(argument) for argument in arguments])


def test_every_unit_and_family_is_tried():
    assert {name.split("-")[0] for name in netlist_cases.CASES} == {"rotary", "alibi", "learned", "sinusoidal"}
    made = {name: case.make("ecp5")[0] for name, case in netlist_cases.CASES.items()}
    assert {(made[name].lanes, made[name].source) for name in made if name.startswith("rotary")} == {
        (1, "synth"), (1, "table"), (4, "synth"), (4, "table"),
    }  # fmt: skip
    assert {made[name].input_pairing for name in made if name.startswith("rotary")} == {"interleaved", "both"}
    assert {design.family for design in made.values()} == {"ecp5"}
    assert tuple(netlist_trials.FAMILIES) == ("ecp5", "ice40", "gowin", "xilinx")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "engine"), [("rotary-1-lane", "icarus"), ("rotary-1-lane-table", "verilator")])
def test_a_run_finds_nothing_in_the_verilog(name, engine, tmp_path):
    case = netlist_cases.CASES[name]
    design, words = case.make("generic")
    write_design_folder(design, tmp_path / "design", words=words)
    found = case.run(design, tmp_path / "design", engine, 1, 600)
    assert (found.differing_bits, found.first) == (0, None)
    assert found.beats >= 500


@pytest.mark.slow
def test_a_line_of_the_table(monkeypatch):
    monkeypatch.setattr(netlist_trials, "CASES", {"small": other(small, AlibiUnit)})
    result = call("small", "--family", "gowin", "--form", "generic", "--beats", 1000, "--json")
    assert result.exit_code == 0, result.output
    (line,) = json.loads(result.stdout)
    assert (line["case"], line["family"], line["form"]) == ("small", "gowin", "generic")
    assert (line["differing_bits"], line["fault"]) == (0, None)
    assert line["beats"] > 900 and line["cells"] > line["lut"] + line["ff"] > 500 and line["dsp"] > 0
    assert "small, gowin, generic: " in result.stderr and ", no differing bit (" in result.stderr


def test_a_wrong_bit_fails(monkeypatch):
    found = Compared(beats=7, differing_bits=3, first="beat 2: wrong")
    monkeypatch.setattr(netlist_trials, "synthesise", lambda *_, **__: _Made())
    monkeypatch.setattr(netlist_trials, "netlist_verilog", lambda _: "")
    case = netlist_cases.Case(make=small, run=lambda *_: found)
    monkeypatch.setattr(netlist_trials, "CASES", {"small": case})
    result = call("--family", "ecp5", "--form", "own")
    assert result.exit_code == 1
    assert "small, ecp5, own: 7 beats, beat 2: wrong" in result.stderr
    assert [word for word in result.stdout.split() if word.isdigit()][-2:] == ["7", "3"]


class _Made:
    cells: dict[str, int] = {}
    luts = registers = 0
    multipliers = block_rams = 0.0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["alibi-cosine"], "'alibi-cosine'"), (["--family", "asic"], "asic"), (["--beats", 0], "0")],
)
def test_what_there_is_not_is_refused(arguments, named):
    result = call(*arguments)
    assert result.exit_code == 2
    assert named in result.output
