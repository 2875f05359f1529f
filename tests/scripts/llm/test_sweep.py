"""The points of a sweep, their areas and tables, and the pictures, without a model."""

import csv

import pytest
from ropewalk_llm.area import area_of
from ropewalk_llm.design import Widths, design_of
from ropewalk_llm.picture import draw_perplexity, draw_sweep
from ropewalk_llm.sweep import points_of, table_of, write_csv
from ropewalk_llm.text import SAMPLE, read_text


def test_a_sweep_covers_the_widths_and_both_roundings():
    points = points_of(Widths())
    assert [point.value for point in points if point.series == "data"] == list(range(6, 19))
    assert [point.value for point in points if point.series == "coefficient"] == list(range(8, 19))
    phases = [point.value for point in points if point.series == "phase"]
    assert (phases[0], phases[-1]) == (16, 48)
    assert {point.widths.rounding for point in points if point.series == "data, floor"} == {"floor"}
    assert {point.widths.rounding for point in points if point.series != "data, floor"} == {"half-up"}
    assert sum(point.widths == Widths() for point in points) == 3


def test_the_area_grows_with_the_data_width(geometry, tmp_path, monkeypatch):
    monkeypatch.setenv("ROPEWALK_CACHE", str(tmp_path))
    narrow, wide = (area_of(design_of(geometry, Widths(data=width))) for width in (8, 16))
    # Two elements of 8 bits more per lane: an adder each, and registers for the stages.
    assert wide.comb - narrow.comb >= 4 * 2 * 8
    assert wide.ff > narrow.ff
    # Four multipliers per lane, and those of the generator.
    assert wide.dsp == narrow.dsp >= 16 + 4


def rows():
    return [
        {
            "series": point.series,
            "data_width": point.widths.data,
            "coefficient_width": point.widths.coefficient,
            "phase_bits": point.widths.phase,
            "rounding": point.widths.rounding,
            "kl_per_token": 10.0**-point.value,
            "perplexity": 40.0,
            "worst_error_lsb": 0.6,
            "comb": 1000 + point.value,
            "ff": 2000 + point.value,
            "dsp": 27.0,
            "block_ram": 8.0,
        }
        for point in points_of(Widths())
    ]


def test_tables_and_pictures(tmp_path):
    document = {"text_tokens": 100, "lanes": 4, "float_perplexity": 39.5, "rows": rows()}
    lines = table_of(document)
    assert len(lines) == 2 + len(document["rows"])
    assert "39.5" in lines[0]
    assert lines[2].split() == ["data", "6", "18", "48", "1.00e-06", "40.0000", "0.600", "1,006", "2,006", "27"]
    write_csv(document["rows"], tmp_path / "sweep.csv")
    with (tmp_path / "sweep.csv").open() as file:
        assert [int(row["comb"]) for row in csv.DictReader(file)] == [row["comb"] for row in document["rows"]]
    draw_sweep(document, tmp_path / "sweep.png")
    scaled = [{"data_width": width, "scale_per": per, "perplexity": 40 + 1 / width, "kl_per_token": 2.0**-width}
              for width in (8, 12, 16) for per in ("tensor", "vector")]  # fmt: skip
    draw_perplexity({"text_tokens": 100, "float_perplexity": 40.0, "rows": scaled}, tmp_path / "perplexity.png")
    for name in ("sweep.png", "perplexity.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words", ["government of the people, by the people, for the people",
                                   "With malice toward none; with charity for all",
                                   "all men are created equal, that they are endowed by their Creator"])  # fmt: skip
def test_the_text_that_comes_along(words):
    text = read_text(SAMPLE)
    assert words in text
    assert len(text.split()) == 2271
