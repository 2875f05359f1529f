"""``ropewalk verify``: that it agrees where it should, and that one changed word on disk makes it fail."""

import json
import os
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.emit.folder import load_design, write_design_folder
from ropewalk_cli import trials
from ropewalk_cli import verify as command
from ropewalk_sim.engines.model import ModelEngine
from ropewalk_sim.errors import EngineError

QUICK = ("--engines", "model,verilator")


@pytest.fixture
def copy(engine, tmp_path):
    """A copy of the engine's folder that may be changed."""
    return shutil.copytree(engine, tmp_path / "copy")


def test_every_engine_agrees_on_the_built_in_input(ropewalk, engine):
    result = ropewalk("verify", engine, "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert set(document) == {
        *("input", "reference", "netlist", "changed_tables", "changed_verilog", "engines", "variants", "passed"),
    }
    assert document["changed_verilog"] is None
    assert all(entry["corner_beats"] > 900 for entry in document["engines"])
    assert (document["input"], document["reference"], document["changed_tables"]) == ("built-in", "model", [])
    assert document["passed"] is True
    assert [entry["name"] for entry in document["engines"]] == ["model", "amaranth", "icarus", "verilator"]
    assert [entry["differing_bits"] for entry in document["engines"]] == [None, 0, 0, 0]
    (variant,) = document["variants"]
    assert set(variant) == {
        "name",
        "slot",
        "tokens",
        "pairs",
        "worst_lsb",
        "bias_lsb",
        "rms_lsb",
        "differing_bits",
    }
    assert (variant["name"], variant["slot"], variant["differing_bits"]) == ("default", 0, 0)
    # The bounds; a rounded result has an rms error of 1 / sqrt(12) LSB at least.
    assert 0.5 < variant["worst_lsb"] <= 0.70
    assert abs(variant["bias_lsb"]) <= 0.01
    assert 0.28 < variant["rms_lsb"] < 0.32


def test_the_tables_for_a_person(ropewalk, engine):
    result = ropewalk("verify", engine, *QUICK)
    assert (result.code, result.err) == (0, "")
    for piece in ("beats per clock", "worst LSB", "verilator", "default", "verified: no bit differs"):
        assert piece in result.out


def test_an_input_of_ones_own(ropewalk, engine, npz, arrays):
    result = ropewalk("verify", engine, *QUICK, "--json", "--input", npz(arrays))
    document = json.loads(result.out)
    assert [entry["tokens"] for entry in document["engines"]] == [5, 5]
    # Five tokens of two query heads and a key head, four pairs each.
    assert (document["variants"][0]["tokens"], document["variants"][0]["pairs"]) == (5, 60)


def test_an_input_in_which_nothing_is_rotated(ropewalk, engine, npz, arrays):
    arrays["position"] += 64
    result = ropewalk("verify", engine, *QUICK, "--json", "--input", npz(arrays))
    assert result.code == 0
    assert json.loads(result.out)["variants"][0]["worst_lsb"] is None


@pytest.mark.parametrize("name", ["sine.hex", "steps.hex", "slots.hex"])
def test_one_changed_word_on_disk_is_found(ropewalk, copy, name):
    words = (copy / name).read_text().splitlines()
    last = words[0][-1]
    words[0] = words[0][:-1] + ("1" if last == "0" else "0")
    (copy / name).write_text("\n".join(words) + "\n")
    result = ropewalk("verify", copy, *QUICK, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["passed"] is False
    assert len(document["changed_tables"]) == 1 and name in document["changed_tables"][0]
    assert result.err.startswith("ropewalk: verify failed: ") and result.err.count("\n") == 1


@pytest.mark.parametrize("content", [None, "", "zz\n", "0\n" * 10])
def test_a_table_that_is_no_table_is_found(ropewalk, copy, content):
    if content is None:
        (copy / "sine.hex").unlink()
    else:
        (copy / "sine.hex").write_text(content)
    result = ropewalk("verify", copy, "--engines", "model")
    assert result.code == 1
    assert "sine.hex" in result.err and result.err.count("\n") == 1


def test_one_wrong_bit_of_an_engine_is_found(ropewalk, engine, monkeypatch):
    class Wrong(ModelEngine):
        def run(self, stream, **options):
            output = super().run(stream, **options)
            if options["script"] is None:
                output.data[-1, 3] ^= 4
            return output

    monkeypatch.setitem(command.ENGINES, "amaranth", Wrong)
    result = ropewalk("verify", engine, "--engines", "amaranth,model", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    # The model is the one to compare with, wherever it stands in the list.
    assert document["reference"] == "model"
    assert document["engines"][1]["differing_bits"] == 1
    assert document["variants"][0]["differing_bits"] == 1
    assert "amaranth differs from model in 1 bits" in result.err and "element 3" in result.err


def test_an_engine_that_breaks_is_reported_beside_the_others(ropewalk, engine, monkeypatch):
    class Broken:
        def __init__(self, folder):
            self.folder = folder

        def run(self, stream, **options):
            raise EngineError("hangs at clock 17")

    monkeypatch.setitem(command.ENGINES, "icarus", Broken)
    result = ropewalk("verify", engine, "--engines", "model,icarus,verilator", "--json")
    assert result.code == 1
    engines = {entry["name"]: entry for entry in json.loads(result.out)["engines"]}
    assert engines["icarus"]["error"] == "hangs at clock 17"
    assert engines["icarus"]["differing_bits"] is None
    assert engines["verilator"]["differing_bits"] == 0
    assert "icarus: hangs at clock 17" in result.err


def test_what_cannot_be_verified_is_refused(refused, engine, npz, arrays, tmp_path):
    assert "spice" in refused("verify", engine, "--engines", "model,spice")
    refused("verify", engine, "--engines", "")
    refused("verify", tmp_path / "nowhere")
    refused("verify", engine, "--input", tmp_path / "nothing.npz")
    arrays["q"] = np.zeros((5, 3, 8), np.int64)
    refused("verify", engine, "--input", npz(arrays))


def test_an_input_without_tokens(ropewalk, engine, npz, arrays):
    """Every engine answers nothing with nothing."""
    empty = npz({name: array[:0] for name, array in arrays.items()})
    result = ropewalk("verify", engine, "--json", "--input", empty)
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert [(entry["tokens"], entry["beats"], entry["error"]) for entry in document["engines"]] == [(0, 0, None)] * 4
    assert document["variants"][0]["tokens"] == 0 and document["variants"][0]["worst_lsb"] is None


def test_a_fault_after_a_reset_or_under_stalls_only_is_found(ropewalk, engine, monkeypatch):
    """The corner cases run with stalls and a reset in mid-stream; what came out before that is compared too."""

    class Wrong(ModelEngine):
        def run(self, stream, *, stalls, script, progress):
            output = super().run(stream, progress=progress)
            if script is None:
                return output
            assert min(stalls.data, stalls.token, stalls.output) > 0
            before = super().run(script.interrupted)
            before.user[0] ^= 2
            return replace(output, before=before)

    monkeypatch.setitem(command.ENGINES, "verilator", Wrong)
    result = ropewalk("verify", engine, *QUICK, "--json")
    assert result.code == 1
    report = json.loads(result.out)["engines"][1]
    assert (report["differing_bits"], report["first_difference"].split(",")[0]) == (1, "reset: token 0")


@pytest.mark.parametrize(
    ("fault", "engines"),
    [
        *((fault, "model") for fault in ("changed", "longer", "missing", "pipe")),
        *(("missing", engines) for engines in ("amaranth", "icarus", "verilator", "icarus,model")),
    ],
)
def test_verilog_that_design_json_does_not_imply_is_found(ropewalk, copy, monkeypatch, engines, fault):
    """Whatever runs, and whether or not its simulation would show it."""
    monkeypatch.setattr(trials, "RANDOM_PAIRS", 1)
    for name in engines.split(","):
        monkeypatch.setitem(command.ENGINES, name, ModelEngine)
    path = copy / "ropewalk.v"
    text = path.read_text()
    path.unlink()
    if fault == "changed":
        path.write_text(text.replace("assign", "assign /* \x1b[2J */", 1))
    elif fault == "longer":
        path.write_text(text + "module another; endmodule\n")
    elif fault == "pipe":
        os.mkfifo(path)
    result = ropewalk("verify", copy, "--engines", engines, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    said = {"changed": "ropewalk.v differs in line ", "longer": " lines instead of "}
    assert said.get(fault, "ropewalk.v is missing or unreadable") in document["changed_verilog"]
    assert document["passed"] is False
    assert document["changed_verilog"] in result.err and result.err[:-1].isprintable()


def test_a_changed_sequencer_is_found(ropewalk, copy, monkeypatch):
    monkeypatch.setattr(trials, "RANDOM_PAIRS", 1)
    path = copy / "sequencer.v"
    path.write_text(path.read_text().replace("1'h1", "1'h0", 1))
    result = ropewalk("verify", copy, "--engines", "model", "--json")
    assert result.code == 1
    assert json.loads(result.out)["changed_verilog"].startswith("sequencer.v differs in line ")


def test_an_engine_without_its_verilog_is_a_failure_and_no_bad_input(ropewalk, copy):
    (copy / "ropewalk.v").unlink()
    result = ropewalk("verify", copy, "--engines", "model,icarus,verilator", "--json")
    assert result.code == 1
    assert [entry["error"] is None for entry in json.loads(result.out)["engines"]] == [True, False, False]


def test_a_changed_word_in_a_block_of_a_family_is_found(ropewalk, engine, tmp_path):
    """The words of its block RAMs stand in the Verilog. One that is used is seen by the simulation too."""
    folder = tmp_path / "ecp5"
    design = replace(load_design(engine), family="ecp5")
    write_design_folder(design, folder)
    assert not (folder / "sine.hex").exists()
    path = folder / "ropewalk.v"
    sound = path.read_text()
    # Bit 12 of the first word of the sine ROM, which position 0 reads.
    block = sound.rindex("DP16KD", 0, sound.index(") sine_0 ("))
    found = re.compile(r"INITVAL_00\(320'h[0-9a-f]{76}([0-9a-f])").search(sound, block)
    assert found
    digit = found.start(1)
    path.write_text(sound[:digit] + f"{int(sound[digit], 16) ^ 1:x}" + sound[digit + 1 :])
    result = ropewalk("verify", folder, *QUICK, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert document["changed_verilog"].startswith("ropewalk.v differs in line ")
    assert document["engines"][1]["differing_bits"] > 0
