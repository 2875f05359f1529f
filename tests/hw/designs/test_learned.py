"""The design of a learned-table adder: what it derives, what it refuses, JSON."""

import re
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.designs.learned import LearnedDesign, learned_design, learned_from_json, learned_to_json
from ropewalk.emit.learned import changed_table, learned_files, load_learned, read_table
from ropewalk.errors import InputError
from ropewalk.geometry.learned import LearnedGeometry

OPT = LearnedGeometry(model_type="opt", rows=12, row_offset=2, dimension=10, mask="counted", masked_row=1)


def make(**options) -> tuple[LearnedDesign, np.ndarray]:
    return learned_design(OPT, np.random.default_rng(1).normal(size=(12, 10)), **options)


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_json_and_back(storage) -> None:
    design, _ = make(storage=storage, table_width=8, fraction_bits=10, data_width=20)
    assert learned_from_json(learned_to_json(design, {"any": 1}), "here") == design


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "ropewalk design 1", 'format must be "ropewalk learned design 1"'),
        (("parameters", "lanes"), 3, "lanes must be 1, 2, 4, 8, 16 or 32, not 3"),
        (("parameters", "lanes"), None, "parameters.lanes is missing"),
        (("parameters", "speed"), 1, "parameters.speed must be absent"),
        (("parameters", "table_width"), 17, "table_width must be an integer from 1 to 16"),
        (("parameters", "table_fraction_bits"), 47, "table fraction bits must be an integer from -24 to 24, not 47"),
        (("parameters", "storage"), "disk", "storage must be block-ram or external"),
        (("geometry", "rows"), 0, "rows must be an integer from 1"),
        (("table_digest",), "12", "must be a SHA-256"),
        (("extra",), 1, "extra must be absent"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(path, value, message) -> None:
    values = learned_to_json(make()[0], {})
    inside = values
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(InputError, match=f"^here: .*{re.escape(message)}"):
        learned_from_json(values, "here")


def test_a_table_that_fits_no_block_ram_is_refused_and_may_stay_outside() -> None:
    large = replace(make()[0], geometry=replace(OPT, rows=1 << 13, dimension=1 << 10), storage="external")
    with pytest.raises(InputError, match="more than any block RAM holds; keep it outside"):
        replace(large, geometry=replace(large.geometry, rows=1 << 15), lanes=1, storage="block-ram")


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_the_folder_gives_back_design_and_table(storage, tmp_path) -> None:
    design, words = make(storage=storage, table_width=5, lanes=2)
    for name, text in learned_files(design, words).items():
        (tmp_path / name).write_text(text)
    assert load_learned(tmp_path) == design
    assert np.array_equal(read_table(design, tmp_path), words)
    assert changed_table(design, words) is None
    lines = (tmp_path / "rows.hex").read_text().split()
    lines[7] = f"{int(lines[7], 16) ^ 1:0{len(lines[7])}x}"
    (tmp_path / "rows.hex").write_text("\n".join(lines))
    assert "digest" in (changed_table(design, read_table(design, tmp_path)) or "")
    for bad, message in (
        (lines[:-1], "must hold"), (["zz", *lines[1:]], "hexadecimal"), (["f" * 9, *lines[1:]], "must hold"),
    ):  # fmt: skip
        (tmp_path / "rows.hex").write_text("\n".join(bad))
        with pytest.raises(InputError, match=message):
            read_table(design, tmp_path)


def test_the_same_design_gives_the_same_bytes() -> None:
    assert learned_files(*make()) == learned_files(*make())
