"""The arrays of ``ropewalk run`` through the unit: values, errors, refusals."""

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_sim.alibi.run import pack_run, unpack_run
from ropewalk_sim.alibi.streams import run_model


def arrays(**changes):
    random = np.random.default_rng(0)
    return {
        "score": random.normal(0, 3, (12, 3, 10)),
        "query_position": np.array([3, 4, 5]),
        "key_start": np.array(-2),
        **changes,
    }


def run(design, given, **options):
    packed = pack_run(design, given, **options)
    return unpack_run(design, packed, run_model(design, packed.stream))


def test_floats_come_back_with_their_biases(designs):
    design = designs["usual"]
    given = arrays(causal=np.array([True, False, True]))
    result = run(design, given)
    key = np.arange(10) - 2
    slopes = 2.0 ** -(8 * np.arange(1, 9) / 8)
    expected = given["score"][:8] + slopes[:, None, None] * np.where(key < 0, 0, key - np.array([[3], [4], [5]]))
    future = (key > np.array([[3], [4], [5]])) & np.array([[True], [False], [True]])
    assert future.any()
    np.testing.assert_allclose(result["score"][:8][:, ~future], expected[:, ~future], atol=1.01 / 256)
    assert (result["score"][:, future] == -128).all()
    assert result["error"].shape == (12, 3) and not result["error"].any()
    assert result["scale"] == 2.0**-8


def test_words_through_an_engine(unit, designs):
    design = designs["wide"]
    score = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, (20, 2, 11))
    given = {"score": score, "query_position": np.array([3, 1 << 20]), "key_start": np.array([-4, 1 << 20])}
    packed = pack_run(design, given)
    result = unpack_run(design, packed, unit("verilator", "wide")(packed.stream))
    np.testing.assert_array_equal(result["score"], run(design, given)["score"])
    assert result["score"].dtype == np.int32 and result["score"].shape == score.shape


def test_a_length_of_0_for_mpt_is_an_error_and_not_refused(designs):
    given = {"score": np.zeros((20, 2, 4), int), "query_position": np.array([3, 3]), "key_start": np.array([-4, -3])}
    assert run(designs["wide"], given)["error"].tolist() == [[1, 0]] * 20


@pytest.mark.parametrize("shape", [(12, 0, 5), (12, 3, 0)])
def test_nothing_at_all(shape, designs):
    given = {"score": np.zeros(shape), "query_position": np.zeros(shape[1], int), "key_start": np.array(0)}
    result = run(designs["usual"], given)
    assert result["score"].shape == shape and result["error"].shape == shape[:2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": np.zeros((11, 3, 10))}, r"score has the shape \[11, 3, 10\]"),
        ({"score": np.zeros((12, 3))}, "score has the shape"),
        ({"score": np.full((12, 3, 10), np.nan)}, "finite"),
        ({"score": np.full((12, 3, 10), 40000)}, "a word of 16 bits"),
        ({"query_position": np.array([7, -1, 9])}, r"query_position\[1\] is -1"),
        ({"query_position": np.array([7, 8, 1 << 24])}, r"query_position\[2\]"),
        ({"query_position": np.array([7, 8])}, "query_position has the shape"),
        ({"key_start": np.array((1 << 24) - 9)}, r"key_start\[0\] is 16777207, and the first of 10 keys"),
        ({"key_start": np.array([1.0, 2.0, 3.0])}, "key_start must hold integers"),
        ({"causal": np.array(2)}, "causal"),
        ({"other": np.array(2)}, "other"),
    ],
)
def test_refusals(changes, message, designs):
    with pytest.raises(InputError, match=message):
        pack_run(designs["usual"], arrays(**changes))


def test_another_scale_is_refused(designs):
    assert pack_run(designs["usual"], arrays(), 2.0**-8).scale == 2.0**-8
    with pytest.raises(InputError, match=r"scale is 0.5, and the LSB of this unit's scores stands for 0.00390625"):
        pack_run(designs["usual"], arrays(), 0.5)
