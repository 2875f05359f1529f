"""Comparisons with constants as logic: a carry chain takes more for few bits, and longer."""

from amaranth.hdl import Const, Value


def below(value: Value, bound: int) -> Value:
    """Whether ``value``, without a sign, is less than ``bound``."""
    if bound >> len(value):
        return Const(1)
    result: Value = Const(0)
    for place, bit in enumerate(value):
        result = ~bit | result if bound >> place & 1 else ~bit & result
    return result
