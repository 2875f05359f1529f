"""The boards' benchmark: what it keeps, and that docs/build.md holds it."""

import json

import pytest
from click.testing import CliRunner
from ropewalk.boards.registry import BOARDS
from ropewalk.errors import InputError
from ropewalk_cli import bench_boards
from ropewalk_cli.bench_boards import HEADINGS, main, options_of, page, row, save, stored, table

BUILT = {
    "options": ["gemma-3-270m", "--family", "ecp5"], "part": "LFE5U-12F-6BG381", "comb": 7509, "lut": 3000, "ff": 7022,
    "dsp": 27, "block_ram": 21.5, "target_mhz": 100, "clock_mhz": 104.96, "timing_met": True, "critical_path": ["a"],
    "seed": 2, "notes": ["more than its maker promises"], "tools": {"yosys": "0.69"}, "seconds": 310,
    "cpu_seconds": 174, "bitstreams": {"ulx3s-12f.bit": 582376, "ulx3s-12f.svf": 1200000},
}  # fmt: skip
NOT_PLACED = {**BUILT, "clock_mhz": None, "timing_met": None, "bitstreams": {}, "notes": ["area by Yosys alone"]}
FAILED = {"options": ["gemma-3-270m"], "error": "it was not built: see above"}


def test_the_page_holds_what_is_stored():
    """Else: scripts/bench_boards --stored --save writes it."""
    path, text = page(stored())
    assert path.read_text(encoding="utf-8") == text


def test_what_is_stored_was_built_as_asked_for_in_ten_minutes():
    boards = stored()
    assert boards
    for name, made in boards.items():
        assert made["options"] == options_of(name)
        assert made["cpu_seconds"] < 600
        if BOARDS[name].device.placer is None:
            assert (made["clock_mhz"], made["bitstreams"]) == (None, {})
            assert any("area by Yosys alone" in remark for remark in made["notes"])
        else:
            assert made["timing_met"] is True
            assert made["clock_mhz"] >= made["target_mhz"] == BOARDS[name].target_mhz
            assert min(made["bitstreams"].values()) > 50_000
        if BOARDS[name].device.family.name == "gowin":
            assert any("multipliers and block RAMs" in remark for remark in made["notes"])


def test_rows_and_what_a_reader_must_know():
    cells = dict(zip(HEADINGS, row("ulx3s-12f", BUILT), strict=True))
    assert cells == {
        "board": "ulx3s-12f", "part": "LFE5U-12F-6BG381", "engine": "gemma-3-270m --family ecp5", "COMB": "7,509",
        "LUT": "3,000", "FF": "7,022", "DSP": "27", "block RAM": "21.5", "MHz asked": "100", "MHz": "105.0",
        "seed": "2", "seconds": "310", "processor seconds": "174", "bitstream bytes": "582,376 (bit), 1,200,000 (svf)",
    }  # fmt: skip
    text = table({"ulx3s-12f": BUILT, "arty-a7-35t": NOT_PLACED, "arty-a7-100t": NOT_PLACED, "icebreaker": FAILED})
    lines = text.splitlines()
    assert {line.count("|") for line in lines[:6]} == {len(HEADINGS) + 1}
    assert "| 100 | - | - | 310 | 174 | - |" in lines[3]
    assert "| it was not built: see above |" in lines[5]
    assert lines[6:] == [
        "",
        "- ulx3s-12f: more than its maker promises.",
        "- arty-a7-35t, arty-a7-100t: area by Yosys alone.",
    ]


@pytest.fixture
def checkout(tmp_path):
    """A folder with a page that has the markers."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "build.md").write_text(
        "before\n<!-- boards begins: scripts/bench_boards --save writes it -->\n<!-- boards ends -->\nafter\n"
    )
    return tmp_path


def test_a_board_built_anew_takes_the_place_of_its_old_row_alone(checkout):
    save({"icebreaker": FAILED, "ulx3s-12f": BUILT}, checkout)
    save({"icebreaker": {**BUILT, "comb": 4321}}, checkout)
    assert stored(checkout) == {"ulx3s-12f": BUILT, "icebreaker": {**BUILT, "comb": 4321}}
    text = (checkout / "docs" / "build.md").read_text()
    assert text.startswith("before\n<!--") and text.endswith("-->\nafter\n")
    assert text.count("gemma-3-270m --family ecp5") == 2 and "4,321" in text and "not built" not in text
    (checkout / "docs" / "boards.json").write_text("no document")
    with pytest.raises(InputError, match=r"boards\.json cannot be read: "):
        stored(checkout)


def test_what_was_built_as_asked_for_is_not_built_again(tmp_path, monkeypatch):
    asked = []

    def call(arguments):
        asked.append(arguments)
        return 1 if arguments[0] == "build" else 0

    monkeypatch.setattr(bench_boards, "call", call)
    kept = {**BUILT, "options": options_of("ulx3s-12f")}
    (tmp_path / "ulx3s-12f.json").write_text(json.dumps(kept))
    (tmp_path / "icebreaker.json").write_text(json.dumps(BUILT))
    done = CliRunner().invoke(main, ["--output", str(tmp_path), "--seeds", "2", "ulx3s-12f", "icebreaker"])
    assert done.exit_code == 1
    # The one was built of another engine: it is built again, with each seed, and none of them does.
    assert [arguments[-1] for arguments in asked if arguments[0] == "build"] == ["1", "2"]
    assert {arguments[1] for arguments in asked if arguments[0] == "generate"} == {"llama-3.1-8b"}
    assert "| 104.9" not in done.stdout and "| 105.0 | 2 | 310 |" in done.stdout
    assert "| ICE40UP5K-SG48 |" in done.stdout and "it was not built" in done.stdout


def test_a_board_that_there_is_not():
    done = CliRunner().invoke(main, ["ulx4s"])
    assert done.exit_code == 2
    assert "there is no board ulx4s; there are ulx3s-85f, " in done.stderr
