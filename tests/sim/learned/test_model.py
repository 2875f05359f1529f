"""The model of the learned-table adder: rows against the real libraries, sums against the exact ones, arrays."""

from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pytest
from ropewalk.designs.learned import learned_design
from ropewalk.errors import InputError
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk_sim.errors import EngineError
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.rows import token_positions, token_rows
from ropewalk_sim.units.row_arrays import pack_rows, unpack_rows
from ropewalk_sim.units.rows import RowOutput

GOLDEN = Path(__file__).parents[2] / "data" / "golden_positions.npz"


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(GOLDEN) as arrays:
        return {name.removeprefix("learned/"): arrays[name] for name in arrays if name.startswith("learned/")}


def family(offset: int, masked_row: int | None, rows: int = 40) -> LearnedGeometry:
    return LearnedGeometry(
        model_type="test", rows=rows, row_offset=offset, dimension=2,
        mask="ignored" if masked_row is None else "counted", masked_row=masked_row,
    )  # fmt: skip


def rows_through_the_unit(geometry: LearnedGeometry, mask: np.ndarray, past: int = 0) -> np.ndarray:
    """Row numbers as they come out of the adder, from a table whose row r holds r."""
    table = np.repeat(np.arange(geometry.rows, dtype=float)[:, None], 2, axis=1)
    design, words = learned_design(geometry, table, fraction_bits=0)
    position, masked = token_positions(geometry, mask, past)
    arrays = {"x": np.zeros((position.size, 2), np.int32), "position": position.reshape(-1)}
    if geometry.mask == "counted":
        arrays["masked"] = masked.reshape(-1)
    packed = pack_rows(design, arrays)
    result = unpack_rows(design, packed, run_model(design, words, packed.stream))
    assert not result["error"].any()
    assert np.array_equal(result["x"][:, 0], result["x"][:, 1])
    return result["x"][:, 0].reshape(position.shape)


def test_rows_of_every_family_are_those_of_the_libraries(golden) -> None:
    mask, ids = golden["attention_mask"], golden["input_ids_pad1"]
    opt, roberta, bart, whisper = family(2, 1), family(2, 1), family(2, None), family(0, None)
    assert np.array_equal(rows_through_the_unit(opt, mask), golden["opt_row_index"])
    assert np.array_equal(rows_through_the_unit(opt, mask, past=6), golden["opt_row_index_cache6"])
    assert np.array_equal(rows_through_the_unit(opt, np.ones((1, 10))), golden["opt_row_index_position_ids_0_9"])
    assert np.array_equal(rows_through_the_unit(roberta, ids != 1), golden["roberta_position_ids"])
    assert np.array_equal(rows_through_the_unit(roberta, ids != 1), golden["m2m100_position_ids"])
    assert np.array_equal(rows_through_the_unit(bart, mask), golden["bart_row_index"])
    assert np.array_equal(
        rows_through_the_unit(whisper, np.ones((1, 4)))[0], golden["whisper_decoder_rows_cache0_len4"]
    )


def test_past_the_end_is_an_error_and_not_a_shorter_slice() -> None:
    """Whisper's decoder has 448 rows: past row 447 the library's slice silently shrinks, here each token says so."""
    design, _ = learned_design(family(0, None, 448), np.zeros((448, 2)))
    row, missing = token_rows(design, np.array([446, 447, 448, 449, 2**24 - 1]), np.zeros(5, bool))
    assert row[:2].tolist() == [446, 447]
    assert missing.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("width", [4, 8, 12, 16])
@pytest.mark.parametrize("fraction_bits", [4, 8, 11])
def test_a_real_table_within_half_an_lsb_of_the_exact_sum(width, fraction_bits, minilm) -> None:
    """Half an LSB, or half of the table's own LSB where that is coarser, and no bit from the exact rounding."""
    table = minilm["position_table"][:40]
    design, words = learned_design(
        LearnedGeometry(model_type="bert", rows=40, row_offset=0, dimension=384), table,
        table_width=width, fraction_bits=fraction_bits,
    )  # fmt: skip
    packed = pack_rows(design, {"x": minilm["token_rows"], "position": np.arange(9)})
    output = run_model(design, words, packed.stream)
    data = output.data.reshape(9, 384)
    coarser = max(Fraction(1), Fraction(2) ** (fraction_bits - design.table_fraction_bits))
    for token, column in np.ndindex(9, 384):
        element = int(packed.stream.data.reshape(9, 384)[token, column])
        exact = element + Fraction(float(table[token, column])) * 2**fraction_bits
        assert abs(int(data[token, column]) - exact) <= coarser / 2
        if coarser == 1:
            assert data[token, column] == floor(exact + Fraction(1, 2))


def test_arrays_in_and_out() -> None:
    design, words = learned_design(family(2, 1, 5), np.array([[0.25, -1.0]] * 5), fraction_bits=3)
    x = np.array([[1.06, -2.0], [1.0, 2.0], [0.5, 0.5]])
    arrays = {"x": x, "position": np.array([0, 2, 3]), "masked": np.array([0, 0, 1])}
    packed = pack_rows(design, arrays)
    result = unpack_rows(design, packed, run_model(design, words, packed.stream))
    assert result["scale"] == 0.125
    assert result["x"].tolist() == [[1.25, -3.0], [1.25, 1.0], [0.75, -0.5]]
    assert result["error"].tolist() == [0, 0, 0]
    result = unpack_rows(
        design,
        packed,
        run_model(design, words, pack_rows(design, {**arrays, "position": np.array([0, 3, 3])}).stream),
    )
    assert result["error"].tolist() == [0, 1, 0]
    assert result["x"][1].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": np.zeros((3, 3))}, r"x has the shape \[3, 3\]"),
        ({"x": np.full((3, 2), np.nan)}, "must be a finite number"),
        ({"x": np.full((3, 2), 40000)}, "a word of 16 bits lies in"),
        ({"position": np.array([0, 1])}, "position has the shape"),
        ({"position": np.array([0, 1, -1])}, "a position lies in 0 .. 16777215"),
        ({"position": np.array([0, 1, 1 << 24])}, "a position lies in 0 .. 16777215"),
        ({"masked": np.array([0, 1, 2])}, "a flag lies in 0 .. 1"),
        ({"variant": np.zeros(3, int)}, "the array variant is not one of a learned table"),
    ],
)
def test_arrays_that_make_no_sense_are_refused(change, message) -> None:
    design, _ = learned_design(family(2, 1, 5), np.ones((5, 2)))
    arrays = {"x": np.zeros((3, 2)), "position": np.array([0, 1, 2]), **change}
    with pytest.raises(InputError, match=message):
        pack_rows(design, arrays)


def test_scale_and_masks_that_a_design_has_not_are_refused() -> None:
    design, words = learned_design(family(2, None, 5), np.ones((5, 2)))
    arrays = {"x": np.zeros((1, 2)), "position": np.array([0])}
    with pytest.raises(InputError, match=r"scale must be 0.00390625 \(2\^-8\), the design's LSB, not 0.5"):
        pack_rows(design, arrays, scale=0.5)
    with pytest.raises(InputError, match="ignores the mask"):
        pack_rows(design, {**arrays, "masked": np.array([True])})
    packed = pack_rows(design, arrays)
    output = run_model(design, words, packed.stream)
    lost = RowOutput(
        data=output.data[:0], tid=output.tid[:0], last=output.last[:0], error=output.error[:0], keep=output.keep[:0]
    )
    with pytest.raises(EngineError, match="1 beats went in, and 0 came out"):
        unpack_rows(design, packed, lost)
