"""The generated folder: reproducible, whole or not there, and read back strictly."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import changed_roms, load_design, write_design_folder
from ropewalk.emit.writer import WRITTEN
from ropewalk.errors import InputError
from ropewalk.lanes import default_lanes
from ropewalk.models import read_model


def make_design(**options) -> Design:
    geometry = read_model("gemma-3-270m")
    return Design(geometry=geometry, **{"lanes": default_lanes(geometry), **options})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine") / "gemma"
    write_design_folder(make_design(), folder)
    return folder


@pytest.fixture
def engine(written: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(written, tmp_path / "copy"))


def test_the_same_design_gives_the_same_bytes_in_another_process(written: Path, tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from ropewalk.design import *; from ropewalk.models import read_model;"
        "from ropewalk.emit.folder import write_design_folder; g = read_model('gemma-3-270m');"
        f"write_design_folder(Design(geometry=g, lanes=4), Path({str(tmp_path / 'again')!r}))"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": paths, "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment, cwd=tmp_path)
    for file in written.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name
    assert len(list(written.iterdir())) == len(list((tmp_path / "again").iterdir()))


def test_the_design_comes_back(written: Path) -> None:
    assert load_design(written) == make_design()


@pytest.mark.parametrize(
    "options",
    [{"source": "table", "positions": 30, "lanes": 2}, {"rounding": "floor", "slots": 3}, {"registers": False}],
)
def test_every_option_comes_back(options, tmp_path: Path) -> None:
    design = make_design(**options)
    write_design_folder(design, tmp_path / "engine")
    assert load_design(tmp_path / "engine") == design
    assert changed_roms(design, tmp_path / "engine") == []


def test_rom_files_hold_what_the_tables_say(written: Path) -> None:
    assert changed_roms(make_design(), written) == []


def test_the_verilog_names_its_files_and_starts_no_ram(written: Path) -> None:
    verilog = (written / "ropewalk.v").read_text()
    read = set(re.findall(r'\$readmemh\("([^"]+)"', verilog))
    assert read == {"sine.hex", "steps.hex", "slots.hex"} == {file.name for file in written.glob("*.hex")}
    assert "$readmemb" not in verilog
    # Filled from word 0 by every tool, old or new.
    assert not re.search(r"reg \[\d+:0\] \w+ \[\d+:0\]", verilog)
    assert re.search(r"reg \[70:0\] sine \[0:511\];", verilog)


def test_without_registers_there_is_no_header_no_crc_and_less_memory(written: Path, tmp_path: Path) -> None:
    write_design_folder(make_design(registers=False), tmp_path / "engine")
    assert not (tmp_path / "engine" / "registers.h").exists()
    assert (written / "registers.h").exists()
    page = (tmp_path / "engine" / "README.md").read_text()
    assert "SLVERR" in page and "CRC register" not in page
    verilog = (tmp_path / "engine" / "ropewalk.v").read_text()
    # Two variants of 128 pairs, and no place to write to.
    assert "steps [0:255];" in verilog and "slots [0:1];" in verilog and "crcs" not in verilog
    assert len((tmp_path / "engine" / "steps.hex").read_text().split()) == 256


def test_the_sequencer_stands_in_a_file_of_its_own_and_shares_no_module_name(written: Path) -> None:
    modules = {
        name: re.findall(r"^module (\\\S+|\w+)", (written / name).read_text(), re.MULTILINE)
        for name in ("ropewalk.v", "sequencer.v")
    }
    assert modules["sequencer.v"][0] == "ropewalk_sequencer"
    assert not set(modules["ropewalk.v"]) & set(modules["sequencer.v"])
    sequencer = (written / "sequencer.v").read_text()
    assert "$readmem" not in sequencer
    assert "output [63:0] m_axis_token_tdata;" in sequencer and "input [127:0] s_axis_command_tdata;" in sequencer
    assert "sequencer.v" in (written / "README.md").read_text()


@pytest.mark.parametrize("name", ["sine.hex", "steps.hex", "slots.hex"])
def test_one_changed_digit_is_found(name: str, engine: Path) -> None:
    file = engine / name
    words = file.read_text().split("\n")
    words[1] = words[1][:-1] + ("0" if words[1][-1] != "0" else "1")
    file.write_text("\n".join(words))
    (sentence,) = changed_roms(load_design(engine), engine)
    assert re.match(rf"{name}: 1 of \d+ words differ, the first at address 1: \w+ instead of \w+", sentence)


def test_missing_and_short_files_are_found(engine: Path) -> None:
    (engine / "sine.hex").unlink()
    (engine / "steps.hex").write_text("0\n")
    assert changed_roms(load_design(engine), engine) == [
        "steps.hex holds 1 words instead of 1152",
        "sine.hex is missing or unreadable",
    ]


def test_a_full_folder_is_not_touched_unasked(engine: Path) -> None:
    before = {path.name: path.read_bytes() for path in engine.iterdir()}
    with pytest.raises(InputError, match="is not empty; give another one, or --force"):
        write_design_folder(make_design(lanes=1), engine)
    assert {path.name: path.read_bytes() for path in engine.iterdir()} == before


def test_force_replaces_what_generate_wrote_and_nothing_else(engine: Path) -> None:
    """A stranger's files stay, whether the folder was an engine before or not."""
    (engine / "mywork.v").write_text("three years")
    write_design_folder(make_design(lanes=1, source="table", positions=20), engine, force=True)
    assert load_design(engine).lanes == 1
    assert changed_roms(load_design(engine), engine) == []
    assert (engine / "mywork.v").read_text() == "three years"
    # No file of the engine that was there before is left to be taken for one of the new engine.
    names = {path.name for path in engine.iterdir()} - {"mywork.v"}
    assert names == {
        *("README.md", "design.json", "registers.h", "ropewalk.v", "rows.hex", "sequencer.v", "slots.hex"),
    }
    assert [path.name for path in engine.parent.iterdir()] == [engine.name]


def test_no_build_of_another_design_is_left(engine: Path) -> None:
    """And a folder of that name that no build wrote stays."""
    (engine / "build").mkdir()
    (engine / "build" / "report.json").write_text("{}")
    (engine / "build-failed.log").write_text("of the last try")
    write_design_folder(load_design(engine), engine, force=True)
    assert (engine / "build" / "report.json").exists(), "the same design, and so its build"
    (engine / "ropewalk.v").write_text("changed by hand")
    write_design_folder(load_design(engine), engine, force=True)
    assert not (engine / "build").exists() and not (engine / "build-failed.log").exists()
    (engine / "build").mkdir()
    (engine / "build" / "mywork.txt").write_text("three years")
    write_design_folder(make_design(lanes=1), engine, force=True)
    assert (engine / "build" / "mywork.txt").exists()


def test_force_takes_a_folder_that_was_no_engine(tmp_path: Path) -> None:
    (tmp_path / "design.json").write_text('{"foreign": 1}')
    (tmp_path / "thesis.txt").write_text("three years")
    write_design_folder(make_design(), tmp_path, force=True)
    assert load_design(tmp_path) == make_design()
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_every_written_file_is_known_to_be_ours(written: Path) -> None:
    assert {path.name for path in written.iterdir()} <= {"design.json", *WRITTEN}


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_design_folder(make_design(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load_design(tmp_path / "real") == make_design()


def test_parents_are_made_and_not_left_behind(tmp_path: Path) -> None:
    write_design_folder(make_design(), tmp_path / "a" / "b" / "engine")
    assert load_design(tmp_path / "a" / "b" / "engine") == make_design()
    with pytest.raises(InputError, match="cannot write the folder"):
        write_design_folder(make_design(), tmp_path / "c" / "d" / ("x" * 300))
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "engine").write_text("")
    with pytest.raises(InputError, match="is a file; give a folder"):
        write_design_folder(make_design(), tmp_path / "engine")


def test_nothing_is_left_when_the_place_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write the folder"):
        write_design_folder(make_design(), tmp_path / "file" / "engine")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d.update(format="x"), r"format .*ropewalk design 1"),
        (lambda d: d["parameters"].update(lanes=3), "3 lanes do not fit head_dim 256"),
        (lambda d: d["parameters"].update(lanes=True), "parameters.lanes"),
        (lambda d: d["parameters"].update(source="rom"), "parameters.source"),
        (lambda d: d["parameters"].update(colour="red"), "colour"),
        (lambda d: d["parameters"].pop("slots"), "slots"),
        (lambda d: d["parameters"].pop("registers"), "registers"),
        (lambda d: d["parameters"].update(registers=1), "parameters.registers"),
        (lambda d: d["geometry"]["variants"][1]["inverse_frequency"].__setitem__(3, 0.25), "digest"),
        (lambda d: d["geometry"]["variants"][1].update(max_position=99), "digest"),
        (lambda d: d.update(digest="0" * 64), "digest"),
        (lambda d: d.pop("geometry"), "geometry"),
    ],
)
def test_a_changed_description_is_refused(change, sentence, engine: Path) -> None:
    path = engine / "design.json"
    values = json.loads(path.read_text())
    change(values)
    path.write_text(json.dumps(values))
    with pytest.raises(InputError, match=sentence) as refusal:
        load_design(engine)
    assert str(refusal.value).startswith(str(path))


def test_folders_without_a_design_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no design.json; ropewalk generate makes one"):
        load_design(tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        load_design(tmp_path / "nowhere")
