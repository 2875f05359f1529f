"""Error statistics on numbers that can be checked by hand."""

import numpy as np
import pytest
from ropewalk.formats import Format
from ropewalk_sim.statistics import ErrorStatistics, error_statistics


def test_worst_mean_and_root_mean_square():
    found = error_statistics([[1, 2], [3, 4]], [[1.0, 2.5], [2.0, 4.0]])
    assert found.count == 4
    assert found.worst_lsb == 1.0
    assert found.bias_lsb == 0.125  # (0 - 0.5 + 1 + 0) / 4
    assert found.rms_lsb == pytest.approx((1.25 / 4) ** 0.5)


def test_parts_add_up_to_the_whole():
    rng = np.random.default_rng(1)
    words, exact = rng.integers(-9, 9, 100), rng.normal(size=100)
    whole = error_statistics(words, exact)
    parts = error_statistics(words[:30], exact[:30]) + error_statistics(words[30:], exact[30:])
    assert parts.count == 100
    assert parts.worst_lsb == whole.worst_lsb
    assert parts.bias_lsb == pytest.approx(whole.bias_lsb)
    assert parts.rms_lsb == pytest.approx(whole.rms_lsb)


def test_saturation_is_no_error_where_a_format_is_given():
    data = Format(width=8, fraction_bits=0)
    assert error_statistics([127, -128], [150.0, -129.0], data).worst_lsb == 0.0
    assert error_statistics([127, -128], [150.0, -129.0]).worst_lsb == 23.0


def test_nothing_has_no_error_and_shapes_must_agree():
    assert error_statistics([], []) == ErrorStatistics()
    assert ErrorStatistics().rms_lsb == ErrorStatistics().bias_lsb == 0.0
    with pytest.raises(ValueError, match=r"one shape, not \(2,\) and \(3,\)"):
        error_statistics([1, 2], [1.0, 2.0, 3.0])
