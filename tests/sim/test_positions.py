"""Row numbers against those that the software's own modules gave."""

from pathlib import Path

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.geometry import LearnedGeometry, SinusoidalGeometry
from ropewalk_sim.positions import row_numbers, token_positions

DATA = Path(__file__).parents[1] / "data"

with np.load(DATA / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("learned/"): arrays[name] for name in arrays.files if name.startswith("learned/")}

MASK = GOLDEN["attention_mask"]
NOT_PADDING = GOLDEN["input_ids_pad1"] != 1


def learned(rows, row_offset, mask="ignored", masked_row=None):
    return LearnedGeometry(
        model_type="test", rows=rows, row_offset=row_offset, dimension=8, mask=mask, masked_row=masked_row
    )


BERT = learned(512, 0)
BART = learned(1026, 2)
OPT = learned(2050, 2, "counted", 1)
ROBERTA = learned(514, 2, "counted", 1)
WHISPER = learned(448, 0)
M2M = SinusoidalGeometry(
    model_type="m2m_100",
    dimension=4,
    layout="half",
    max_position=1024,
    inverse_frequency=(1.0, 1e-4),
    row_offset=2,
    zero_row=1,
    mask="counted",
)


@pytest.mark.parametrize(
    ("geometry", "mask", "name"),
    [
        (OPT, MASK, "opt_row_index"),
        (BART, MASK, "bart_row_index"),
        (ROBERTA, NOT_PADDING, "roberta_position_ids"),
        (M2M, NOT_PADDING, "m2m100_position_ids"),
        (OPT, np.ones((1, 10), int), "opt_row_index_position_ids_0_9"),
    ],
)
def test_rows_are_the_softwares(geometry, mask, name):
    found = row_numbers(geometry, mask)
    np.testing.assert_array_equal(found.rows, GOLDEN[name])
    assert not found.error.any()


def test_rows_with_six_tokens_in_the_cache():
    np.testing.assert_array_equal(row_numbers(OPT, MASK, past=6).rows, GOLDEN["opt_row_index_cache6"])


def test_whispers_decoder_begins_at_row_0():
    np.testing.assert_array_equal(row_numbers(WHISPER, [1] * 4).rows, GOLDEN["whisper_decoder_rows_cache0_len4"])


def test_bert_takes_the_mask_for_what_it_is_not():
    np.testing.assert_array_equal(row_numbers(BERT, MASK).rows, np.tile(np.arange(10), (4, 1)))


@pytest.mark.parametrize("geometry", [BERT, BART, OPT, ROBERTA, WHISPER, M2M])
def test_past_the_end_is_an_error_of_that_token_only(geometry):
    end = geometry.max_position
    found = row_numbers(geometry, np.ones(end + 3, int))
    np.testing.assert_array_equal(found.error, np.arange(end + 3) >= end)
    assert found.rows[end - 1] == end - 1 + geometry.row_offset
    if isinstance(geometry, LearnedGeometry):
        assert found.rows[end - 1] == geometry.rows - 1  # the last row of the table is the last one used


@pytest.mark.parametrize("geometry", [BERT, BART, OPT, ROBERTA, M2M])
@pytest.mark.parametrize("past", [0, 1, 5, 9, 10])
def test_decoding_one_by_one_reads_the_rows_of_the_whole(geometry, past):
    whole = row_numbers(geometry, MASK)
    np.testing.assert_array_equal(row_numbers(geometry, MASK, past=past).rows, whole.rows[:, past:])


def test_positions_are_rows_without_the_offset():
    np.testing.assert_array_equal(token_positions(OPT, [0, 0, 1, 1]), [-1, -1, 0, 1])
    np.testing.assert_array_equal(token_positions(BART, [0, 0, 1, 1]), [0, 1, 2, 3])


def test_a_mask_that_is_given_is_not_changed():
    mask = np.ones(4, np.int64)
    row_numbers(OPT, mask).rows[:] = 7
    np.testing.assert_array_equal(mask, 1)


@pytest.mark.parametrize(
    ("mask", "past", "message"),
    [
        (1, 0, "a mask must be an array of 0 and 1"),
        ([0, 2], 0, "a mask must be an array of 0 and 1"),
        ([0.0, 1.0], 0, "a mask must be an array of 0 and 1"),
        (["1"], 0, "a mask must be an array of 0 and 1"),
        ([-1, 1], 0, "a mask must be an array of 0 and 1"),
        (np.zeros((3, 0), int), 0, "a mask must have 1 to 16777216 tokens, not 0"),
        ([1, 1], 3, "past must be from 0 to the 2 tokens of the mask, not 3"),
        ([1, 1], -1, "past must be from 0"),
    ],
)
def test_what_is_no_mask_is_refused(mask, past, message):
    with pytest.raises(InputError, match=message):
        row_numbers(OPT, mask, past=past)
