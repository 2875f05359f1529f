"""``ropewalk generate``: what lies in the folder, what is said about it, and that a refusal leaves nothing behind."""

import json
import subprocess
import sys

import pytest


def contents(folder):
    """Every file of a folder, by name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_folder_holds_verilog_tables_description_and_readme(engine):
    files = contents(engine)
    assert {"ropewalk.v", "design.json", "README.md", "sine.hex"} <= set(files)
    assert b"module ropewalk(" in files["ropewalk.v"]
    json.loads(files["design.json"])


def test_the_summary_says_what_was_made(ropewalk, config, tmp_path):
    result = ropewalk("generate", config(), "-o", tmp_path / "out")
    assert result.code == 0
    for piece in ("slot 0", "positions 0 to 63", "16-bit data, 18-bit coefficients, 48-bit phase", "ropewalk.v"):
        assert piece in result.out
    assert "half in, half out" in result.out
    assert result.err == ""


@pytest.mark.parametrize(
    ("options", "orders"),
    [
        (("--pairing", "interleaved"), ("interleaved", "interleaved")),
        (("--input-pairing", "half", "--output-pairing", "half"), ("half", "half")),
        (("--input-pairing", "paired"), ("paired", "half")),
        (("--output-pairing", "interleaved"), ("half", "interleaved")),
    ],
)
def test_element_orders_can_be_chosen(ropewalk, config, tmp_path, options, orders):
    result = ropewalk("generate", config(), "-o", tmp_path / "out", *options)
    assert result.code == 0
    parameters = json.loads((tmp_path / "out" / "design.json").read_text())["parameters"]
    assert (parameters["input_pairing"], parameters["output_pairing"]) == orders
    # A note only where the model's own order is another.
    own = ("interleaved",) * 2 if "--pairing" in options else ("half",) * 2
    assert ("whoever drives its streams must bring them into order" in result.err) == (orders != own)


def test_same_input_same_bytes(ropewalk, config, engine, tmp_path):
    assert ropewalk("generate", config(), "-o", tmp_path / "elsewhere").code == 0
    assert contents(tmp_path / "elsewhere") == contents(engine)


def test_defaults_are_the_documented_ones(ropewalk, config, engine, tmp_path):
    spelled = "--lanes 4 --data-width 16 --coefficient-width 18 --phase-bits 48 --source synth --clocks-per-pair 1"
    spelled += " --lane-multipliers dsp"
    assert ropewalk("generate", config(), "-o", tmp_path / "out", *spelled.split()).code == 0
    assert contents(tmp_path / "out") == contents(engine)


def test_lanes_without_multipliers_say_so_and_have_none(ropewalk, config, tmp_path):
    options = ("--lanes", "1", "--family", "ecp5", "--source", "table", "--positions", "16")
    texts = {}
    for kind in ("dsp", "luts"):
        done = ropewalk("generate", config(), "-o", tmp_path / kind, *options, "--lane-multipliers", kind)
        assert done.code == 0 and ("look-up tables" in done.out) == (kind == "luts")
        page = (tmp_path / kind / "README.md").read_text()
        assert ("lanes that multiply in look-up tables" in page) == (kind == "luts")
        assert json.loads((tmp_path / kind / "design.json").read_text())["parameters"]["lane_multipliers"] == kind
        texts[kind] = (tmp_path / kind / "ropewalk.v").read_text()
    assert "MULT18X18D" in texts["dsp"]
    assert "MULT18X18D" not in texts["luts"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--lanes", "3"), "1, 2, 4"),
        (("--lanes", "8"), "1, 2, 4"),
        (("--lanes", "0"), "1, 2, 4"),
        (("--lanes", "-1"), "1, 2, 4"),
        (("--data-width", "3"), "data width"),
        (("--data-width", "33"), "data width"),
        (("--coefficient-width", "7"), "coefficient width"),
        (("--phase-bits", "49"), "phase bits"),
        (("--clocks-per-pair", "3"), "clocks per pair must be 1, 2, 4 or 8, not 3"),
        (("--clocks-per-pair", "0"), "clocks per pair must be 1, 2, 4 or 8, not 0"),
        (("--clocks-per-pair", "16"), "clocks per pair must be 1, 2, 4 or 8, not 16"),
        (("--clocks-per-pair", "2", "--source", "table", "--positions", "64"), "use the synth source"),
        (("--lane-multipliers", "none"), "dsp"),
        (("--positions", "0"), "positions"),
        (("--positions", "-5"), "positions"),
        (("--positions", "16777217"), "positions"),
        (("--source", "table", "--positions", "16777216"), "synth"),
    ],
)
def test_options_that_do_not_fit_are_refused_and_leave_nothing(refused, config, tmp_path, options, named):
    path = config()
    assert named in refused("generate", path, "-o", tmp_path / "out", *options)
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]


def test_an_amplitude_that_no_word_holds_is_refused(config, tmp_path):
    scaling = {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 64,
        "attention_factor": 2.0,
    }
    # In a process of its own: whatever is still said when the interpreter ends would be on stderr too.
    command = [
        sys.executable,
        "-m",
        "ropewalk_cli.main",
        "generate",
        config(rope_scaling=scaling),
        "-o",
        tmp_path / "o",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "amplitude" in done.stderr and done.stderr.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]


def test_a_bad_configuration_leaves_nothing(refused, config, tmp_path):
    refused("generate", config(head_dim=0), "-o", tmp_path / "deep" / "out")
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]


def test_a_folder_in_use_is_kept_unless_forced(ropewalk, refused, config, tmp_path):
    out = tmp_path / "out"
    assert ropewalk("generate", config(), "-o", out, "--lanes", "1").code == 0
    before = contents(out)
    assert "--force" in refused("generate", config(), "-o", out)
    assert contents(out) == before
    assert ropewalk("generate", config(), "-o", out, "--force").code == 0
    assert contents(out) != before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["config.json", "out"]


def test_force_does_not_replace_what_ropewalk_did_not_write(ropewalk, refused, config, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("years of work")
    refused("generate", config(), "-o", tmp_path / "out")
    assert ropewalk("generate", config(), "-o", tmp_path / "out", "--force").code == 0
    assert (tmp_path / "out" / "thesis.txt").read_text() == "years of work"


def test_an_empty_folder_is_used(ropewalk, config, tmp_path):
    (tmp_path / "out").mkdir()
    assert ropewalk("generate", config(), "-o", tmp_path / "out").code == 0


def test_a_file_in_the_way_is_refused(refused, config, tmp_path):
    (tmp_path / "out").write_text("a file")
    refused("generate", config(), "-o", tmp_path / "out")
    refused("generate", config(), "-o", tmp_path / "out" / "under")
    assert (tmp_path / "out").read_text() == "a file"
