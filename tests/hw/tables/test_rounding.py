"""Correct rounding: what is beyond doubt is answered, what is not is said."""

import pytest
from ropewalk.tables.rounding import round_half_up


def test_precision_rises_until_the_side_is_known():
    # 2**-1000 beside a tie: the first precision, 160 bits, cannot see it.
    assert round_half_up(lambda ctx: ctx.mpf(7) / 2 + ctx.ldexp(1, -1000)) == 4
    assert round_half_up(lambda ctx: ctx.mpf(7) / 2 - ctx.ldexp(1, -1000)) == 3
    assert round_half_up(lambda ctx: -ctx.mpf(7) / 2 + ctx.ldexp(1, -1000)) == -3


def test_a_tie_is_the_callers_to_treat():
    with pytest.raises(ArithmeticError, match="a tie"):
        round_half_up(lambda ctx: ctx.mpf(1) / 2)
