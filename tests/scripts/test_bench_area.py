"""The area benchmark: its rows, what is kept of a run, and that the pages hold what is stored."""

import json
from dataclasses import replace
from statistics import median
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from ropewalk.boards.parts import part_of
from ropewalk.emit.folder import load_rotary
from ropewalk.errors import BuildError, InputError
from ropewalk_cli import bench_area
from ropewalk_cli.area import measure, store
from ropewalk_cli.area.accuracy import worst_lsb
from ropewalk_cli.area.chart import draw
from ropewalk_cli.area.measure import Area, area_from_json, area_to_json
from ropewalk_cli.area.rivals import rivals
from ropewalk_cli.area.rows import ECP5, FAMILY, GROUPS, LANES, ROWS, Row, chosen, lane
from ropewalk_cli.area.tables import COLUMNS, RIVAL_COLUMNS, area_cells, markdown, rival_cells

AREA = Area(
    part=ECP5, name="lane, 16-bit data, 18-bit coefficients", group=LANES, opening=True, comb=1418, lut=144, ff=465,
    dsp=4, block_ram=0.5, clock_mhz=251.5, clocks={"1": 250.0, "2": 251.5, "3": 260.0}, critical_path=("a", "b"),
    latency=11, worst_lsb=0.6604, items="pairs", items_per_clock=1.0, tools={"yosys": "0.69"},
)  # fmt: skip


def test_the_pages_hold_what_is_stored():
    """Else: scripts/bench_area --stored --save writes them."""
    stored = store.load()
    assert store.results_path().read_text(encoding="utf-8") == store.results_text(stored)
    for path, text in store.pages(stored).items():
        assert path.read_text(encoding="utf-8") == text, path
    assert store.digest(stored) in (store.ROOT / "docs" / "area.svg").read_text(encoding="utf-8")


def test_what_is_stored_is_whole_and_agrees_with_itself():
    for entry in json.loads(store.results_path().read_text(encoding="utf-8"))["rows"]:
        if entry["failed"]:
            continue
        assert {"comb", "lut", "ff", "dsp", "block_ram", "latency", "worst_lsb"} <= {
            name for name, value in entry.items() if value is not None
        }, entry["name"]
        if entry["clocks"]:
            assert abs(entry["clock_mhz"] - median(entry["clocks"].values())) <= 0.051
            assert entry["mega_per_second"] == pytest.approx(entry["clock_mhz"] * entry["items_per_clock"], abs=0.051)
        if entry["group"] == LANES:
            assert (entry["dsp"] == 0) == ("without multipliers" in entry["name"])


def test_block_rams_do_not_grow_with_the_positions():
    stored = {area.key: area for area in store.load()}
    key = f"{ECP5}: engine, 4 lanes, 16-bit, synth, interleaved, heads of 256, {{}} positions"
    few, all_of_them = (stored[key.format(number)] for number in ("4,096", "16,777,216"))
    assert few.block_ram == all_of_them.block_ram


def test_rows_have_names_of_their_own_and_parts_that_there_are():
    assert len({row.key for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert part_of(row.part).family.name == FAMILY[row.part]
        assert row.group in GROUPS


def test_the_configurations_that_are_asked_for_are_rows():
    names = [row.name for row in ROWS if row.part == ECP5]
    for lanes in ("1 lane,", "4 lanes,", "8 lanes,"):
        for bits in ("8-bit", "16-bit"):
            for source in ("synth", "table"):
                assert any(f"engine, {lanes} {bits}, {source}, " in name for name in names), (lanes, bits, source)


def test_words_choose_rows():
    assert [row.key for row in chosen(("lane,", "8-bit data", "18-bit", "ecp5"))] == []
    found = chosen(("LANE,", "8-bit data", "18-bit", "lfe5u"))
    assert found and all("lane, 8-bit data" in row.name and row.part == ECP5 for row in found)
    assert {row.opening for row in chosen((), opening=True)} == {True}
    assert len(chosen(())) == len(ROWS)


@pytest.fixture
def counted(monkeypatch):
    """Tools that only count their calls; the seed is the clock, and seed 3 fails while ``broken`` is set."""
    calls = SimpleNamespace(synthesis=0, seeds=[], broken=False)

    def synthesise(files, **options):
        calls.synthesis += 1
        assert list(files) == ["ropewalk.v"]
        return SimpleNamespace(comb=99, luts=7, registers=8, multipliers=4, block_rams=0)

    def place(synthesis, *, clock, seed, part):
        assert clock == "clk"
        if calls.broken and seed == 3:
            raise KeyboardInterrupt
        calls.seeds.append(seed)
        return SimpleNamespace(comb=101, clock_mhz=100.0 + 10 * seed, critical_path=(f"path {seed}",))

    monkeypatch.setattr(measure, "synthesise", synthesise)
    monkeypatch.setattr(measure, "place", place)
    monkeypatch.setattr(measure, "worst_lsb", lambda design, files: 0.5)
    return calls


ROW = lane(ECP5, bits=4)


def test_an_interrupted_run_goes_on_where_it_stopped(counted, tmp_path):
    counted.broken = True
    with pytest.raises(KeyboardInterrupt):
        measure.measure(ROW, 5, folder=tmp_path)
    assert (counted.synthesis, counted.seeds) == (1, [1, 2])
    counted.broken = False
    found = measure.measure(ROW, 5, folder=tmp_path)
    # The netlist is not kept: it is made again for the seeds that are left, and counted no more.
    assert (counted.synthesis, counted.seeds) == (2, [1, 2, 3, 4, 5])
    assert (found.comb, found.lut, found.ff, found.dsp) == (101, 7, 8, 4)
    assert (found.clock_mhz, found.critical_path) == (130.0, ("path 1",))
    assert measure.measure(ROW, 5, folder=tmp_path) == found
    assert (counted.synthesis, len(counted.seeds)) == (2, 5)
    # Another lane is other Verilog.
    assert measure.measure(lane(ECP5, bits=5), 1, folder=tmp_path).sha256 != found.sha256
    assert (counted.synthesis, len(counted.seeds)) == (3, 6)
    assert not list(tmp_path.glob("*.tmp"))


def test_a_kept_file_that_was_cut_off_is_made_again(counted, tmp_path):
    first = measure.measure(ROW, 1, folder=tmp_path)
    for path in tmp_path.iterdir():
        path.write_text('{"comb": 1')
    assert measure.measure(ROW, 1, folder=tmp_path) == first
    assert counted.seeds == [1, 1]


def test_no_seeds_are_synthesis_alone(counted, tmp_path):
    found = measure.measure(ROW, 0, folder=tmp_path)
    assert (found.comb, found.clock_mhz, found.clocks, counted.seeds) == (99, None, {}, [])
    assert found.latency == 11 and found.mega_per_second is None


@pytest.mark.parametrize("error", [InputError("no such engine"), BuildError("it does not | fit")])
def test_a_row_that_cannot_be_built_stands_with_the_reason(error):
    def make():
        raise error

    found = measure.measure(Row(part=ECP5, name="bad", group=LANES, make=make), 1)
    assert (found.failed, found.comb) == (str(error), None)
    cells = area_cells(found)
    assert cells[1] == f"bad: {error}" and len(cells) == len(COLUMNS)
    assert "|" not in markdown(COLUMNS, [cells]).splitlines()[2].replace(" | ", "").strip("| ")


def test_the_error_is_that_of_verify(ropewalk, engine):
    done = ropewalk("verify", engine, "--engines", "model", "--json")
    wanted = max(entry["worst_lsb"] for entry in json.loads(done.out)["variants"])
    assert worst_lsb(load_rotary(engine), {}) == wanted


def test_results_survive_json():
    assert area_from_json(json.loads(json.dumps(area_to_json(AREA)))) == AREA
    assert area_to_json(AREA)["mega_per_second"] == 251.5


def test_cells_say_how_many_seeds_where_they_are_not_five():
    assert area_cells(AREA) == [
        ECP5, AREA.name, "1,418", "144", "465", "4", "0.5", "251.5 (3 seeds)", "11", "0.66 LSB", "252 pairs",
    ]  # fmt: skip
    five = replace(AREA, clocks={str(seed): 251.5 for seed in range(5)})
    assert area_cells(five)[7] == "251.5"


def test_rivals_have_the_figures_that_are_to_be_beaten():
    by_what = {(one.design, one.what): one for one in rivals()}
    direct = by_what["taitashaw/rope-rotary-engine", "whole engine, 4 lanes, full table of 256 positions"]
    assert (direct.comb, direct.ff, direct.dsp, direct.block_ram, direct.clock_mhz) == (1695, 1234, 16, 32, 88)
    assert direct.megapairs == 352 and direct.figures == "measured"
    assert rival_cells(direct)[2:] == [
        "1,695", "-", "1,234", "16", "32", "88", "352", "1.36 LSB worst, bias -0.5", "measured",
    ]  # fmt: skip
    assert {one.figures for one in rivals()} == {"measured", "published"}
    assert all(len(rival_cells(one)) == len(RIVAL_COLUMNS) for one in rivals())


def test_new_results_replace_those_of_the_same_row_only():
    other = replace(AREA, name="lane, 8-bit data, 18-bit coefficients")
    again = replace(AREA, comb=7)
    gone = replace(AREA, name="a row that is no more")
    assert store.merged([other, AREA, gone], [again]) == [again, other]


def test_pages_change_between_their_markers_only(tmp_path):
    page = f"before\n{store.BEGIN.format('area', 'bench_area')}old\n{store.END.format('area')}after\n"
    changed = store.replaced(page, "area", "new\n")
    assert changed.startswith("before\n") and changed.endswith("after\n") and "old" not in changed
    assert store.replaced(changed, "area", "new\n") == changed
    with pytest.raises(InputError, match="must have one line"):
        store.replaced("nothing", "area", "new")


def test_saving_writes_results_pages_and_chart(tmp_path):
    (tmp_path / "docs").mkdir()
    page = f"# page\n\n{store.BEGIN.format('area', 'bench_area')}{store.END.format('area')}"
    for name in ("README.md", "docs/area.md"):
        (tmp_path / name).write_text(page)
    store.save([AREA], tmp_path)
    assert store.load(tmp_path) == [AREA]
    for name in ("README.md", "docs/area.md"):
        assert "| 1,418 | 144 | 465 | 4 | 0.5 | 251.5 (3 seeds) |" in (tmp_path / name).read_text()
    assert store.digest([AREA]) in (tmp_path / "docs" / "area.svg").read_text()


def test_the_chart_of_the_same_results_is_the_same(tmp_path):
    for name in ("one.svg", "two.svg"):
        draw([AREA], rivals(), tmp_path / name, note="these")
    one = (tmp_path / "one.svg").read_bytes()
    assert one == (tmp_path / "two.svg").read_bytes()
    draw([], rivals(), tmp_path / "none.png")
    assert (tmp_path / "none.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_shows_what_is_stored(monkeypatch):
    monkeypatch.setattr(store, "load", lambda: [AREA])
    run = CliRunner().invoke
    document = json.loads(run(bench_area.main, ["--stored", "--json"]).stdout)
    assert [row["comb"] for row in document["rows"]] == [1418]
    assert len(document["rivals"]) == len(rivals())
    assert "251.5 (3 seeds)" in run(bench_area.main, ["--stored"]).stdout
    assert "| 251.5 (3 seeds) |" in run(bench_area.main, ["--stored", "--markdown"]).stdout
    assert json.loads(run(bench_area.main, ["--stored", "--json", "alibi"]).stdout)["rows"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["no", "such", "row"], "no row has no and such and row in its name"), (["--chart", "x.gif"], "must end with")],
)
def test_bad_input_is_refused(arguments, said):
    done = CliRunner().invoke(bench_area.main, arguments)
    assert done.exit_code == 2 and said in done.output
