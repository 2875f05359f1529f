"""Delays of a pipeline: data in registers without reset, which synthesis may move into the blocks of a part, and the
valid bits that go along, which alone need one.
"""

from amaranth.hdl import Module, Shape, Signal, Value


def delayed(m: Module, value, clocks: int, *, name: str) -> Signal:
    """``value`` as it was ``clocks`` clocks ago, without reset. 0 clocks give a plain copy."""
    copy = Signal(Shape.cast(value.shape()), name=name)
    m.d.comb += copy.eq(value)
    for stage in range(clocks):
        register = Signal(copy.shape(), name=f"{name}_{stage + 1}", reset_less=True)
        m.d.sync += register.eq(copy)
        copy = register
    return copy


def carried(m: Module, valid: Value, clocks: int, *, name: str) -> Value:
    """``valid`` as it was ``clocks`` clocks ago, low in reset."""
    for clock in range(clocks):
        later = Signal(name=f"{name}_{clock + 1}")
        m.d.sync += later.eq(valid)
        valid = later
    return valid
