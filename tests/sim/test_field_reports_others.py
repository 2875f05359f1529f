"""Mistakes that others made and reported, one test each: ``tests/data/field_reports_others.md`` is the table."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from ropewalk.geometry.alibi import alibi_slopes
from ropewalk.geometry.sinusoidal import sinusoid_row
from ropewalk.models import read_model
from ropewalk.models.weights import load_table
from ropewalk_sim.positions import row_numbers, token_positions

DATA = Path(__file__).parents[1] / "data"

with np.load(DATA / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("alibi/"): arrays[name] for name in arrays.files if name.startswith("alibi/")}

ROBERTA = {"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 768, "pad_token_id": 1}
BART = {"model_type": "bart", "max_position_embeddings": 1024, "d_model": 1024}


@pytest.fixture
def read(tmp_path):
    def read(config):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return read_model(str(path))

    return read


def to_bfloat16(values):
    """Rounded to nearest, ties to even, as PyTorch casts."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def test_the_table_names_every_test():
    named = set(re.findall(r"`(test_\w+)` \|", (DATA / "field_reports_others.md").read_text()))
    here = {name for name in globals() if name.startswith("test_")} - {"test_the_table_names_every_test"}
    assert named == here


def test_slopes_begin_at_one_half_for_eight_heads():
    assert alibi_slopes(8) == (0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625)


def test_slopes_are_not_rounded_to_half_precision():
    slopes = np.array(alibi_slopes(12))
    halves = slopes.astype(np.float16).astype(np.float64)
    # At a distance of 4095 keys the cast alone costs 79 units of a score with 8 fraction bits.
    assert np.abs(halves - slopes).max() * 4095 * 256 > 79
    np.testing.assert_allclose(slopes, GOLDEN["ref_slopes/12"], rtol=1e-15)


def test_falcons_own_rounding_is_far_from_exact_and_is_noted(read):
    found = read({"model_type": "falcon", "alibi": True, "num_attention_heads": 71, "hidden_size": 4544})
    slopes = np.array(found.slopes)
    falcon = to_bfloat16(to_bfloat16(slopes) * np.float32(4095))
    assert 5 < np.abs(falcon - slopes * 4095).max() < 20
    assert any("rounds slopes and biases to bfloat16, these slopes are exact" in note for note in found.notes)


def test_forty_heads_are_those_of_the_papers_code(read):
    found = read({"model_type": "baichuan", "num_hidden_layers": 40, "num_attention_heads": 40, "hidden_size": 5120})
    assert found.mode == "relative"
    np.testing.assert_allclose(found.slopes, GOLDEN["ref_slopes/40"], rtol=1e-12)
    assert found.slopes[32:] == alibi_slopes(64)[0:16:2]


def test_bfloat16_biases_run_together():
    slope = alibi_slopes(32)[0]
    keys = np.arange(4096 - 256, 4096)
    assert len(set(to_bfloat16(slope * keys).tolist())) == 14
    assert len(set((slope * keys).tolist())) == 256


def test_roberta_has_512_positions_in_514_rows(read):
    found = read(ROBERTA)
    assert (found.rows, found.row_offset, found.max_position) == (514, 2, 512)
    rows = row_numbers(found, np.ones(513, int))
    assert rows.rows[511] == 513
    np.testing.assert_array_equal(np.flatnonzero(rows.error), [512])


def test_a_roberta_table_of_512_rows_ends_at_510(read):
    found = read(ROBERTA | {"max_position_embeddings": 512})
    np.testing.assert_array_equal(np.flatnonzero(row_numbers(found, np.ones(512, int)).error), [510, 511])


def test_a_roberta_with_padding_3_has_510_positions(read):
    found = read(ROBERTA | {"pad_token_id": 3})
    assert (found.max_position, found.masked_row) == (510, 3)
    np.testing.assert_array_equal(row_numbers(found, [0, 1, 1]).rows, [3, 4, 5])


def test_the_offset_is_added_once(read):
    found = read(ROBERTA)
    mask = [1, 1, 1, 0]
    positions, rows = token_positions(found, mask), row_numbers(found, mask).rows
    np.testing.assert_array_equal(positions, [0, 1, 2, -1])
    np.testing.assert_array_equal(rows, positions + found.row_offset * 1)
    np.testing.assert_array_equal(rows, [2, 3, 4, 1])


def test_bart_keeps_its_offset_and_ignores_the_mask(read):
    found = read(BART)
    assert (found.rows, found.max_position) == (1026, 1024)
    np.testing.assert_array_equal(row_numbers(found, [0, 0, 1, 1]).rows, [2, 3, 4, 5])


def test_the_padding_row_of_a_learned_table_holds_data(read, tmp_path):
    found = read(BART | {"max_position_embeddings": 2, "d_model": 4})
    table = np.arange(1.0, 17.0).reshape(4, 4)
    np.save(tmp_path / "table.npy", table)
    np.testing.assert_array_equal(load_table(tmp_path / "table.npy", geometry=found), table)


def test_sine_and_cosine_of_a_pair_share_their_angle(read):
    found = read({"model_type": "transformer", "d_model": 64, "max_length": 512})
    row = np.array(sinusoid_row(found, 37))
    np.testing.assert_allclose(row[0::2] ** 2 + row[1::2] ** 2, 1.0, rtol=1e-15)
    np.testing.assert_allclose(
        np.arctan2(row[2], row[3]), math.remainder(37 * 10000 ** (-2 / 64), math.tau), rtol=1e-12
    )


def test_negative_positions_negate_the_sines_only(read):
    found = read({"model_type": "transformer", "d_model": 64, "max_length": 512})
    ahead, behind = np.array(sinusoid_row(found, 9)), np.array(sinusoid_row(found, -9))
    np.testing.assert_array_equal(behind[0::2], -ahead[0::2])
    np.testing.assert_array_equal(behind[1::2], ahead[1::2])
