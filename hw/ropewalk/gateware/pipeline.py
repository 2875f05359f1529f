"""Valid bits that go along with what passes a pipeline, whose own registers need no reset (:mod:`.primitives`)."""

from amaranth.hdl import Module, Signal, Value


def carried(m: Module, valid: Value, clocks: int, *, name: str) -> Value:
    """``valid`` as it was ``clocks`` clocks ago, low in reset."""
    for clock in range(clocks):
        later = Signal(name=f"{name}_{clock + 1}")
        m.d.sync += later.eq(valid)
        valid = later
    return valid
