"""Plain delays in the datapath: registers without reset, so that synthesis may move them into the blocks of a part."""

from amaranth.hdl import Module, Shape, Signal


def delayed(m: Module, value, clocks: int, *, name: str) -> Signal:
    """``value`` as it was ``clocks`` clocks ago, without reset. 0 clocks give a plain copy."""
    copy = Signal(Shape.cast(value.shape()), name=name)
    m.d.comb += copy.eq(value)
    for stage in range(clocks):
        register = Signal(copy.shape(), name=f"{name}_{stage + 1}", reset_less=True)
        m.d.sync += register.eq(copy)
        copy = register
    return copy
