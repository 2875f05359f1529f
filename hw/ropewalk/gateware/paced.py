"""A pipeline into which something goes at most once in some clocks: words stand in it, and few registers hold them."""

from amaranth.hdl import Module, Signal, Value


class Pace:
    """The strobes of a pipeline, and words that go along with what passes it.

    A plain delay takes a register per clock. What stands for some clocks is taken over once in so many.

    Parameters
    ----------
    m
        Where the registers go.
    strobe
        Something goes in, in this clock: clock 0 of it.
    clocks
        So many clocks later at the earliest, the next.
    """

    def __init__(self, m: Module, strobe: Value, *, clocks: int, name: str):
        self._m = m
        self._clocks = clocks
        self._name = name
        self._strobes = [strobe]

    def strobe(self, clock: int) -> Value:
        """The strobe, ``clock`` clocks later; low in reset."""
        while len(self._strobes) <= clock:
            later = Signal(name=f"{self._name}_{len(self._strobes)}")
            self._m.d.sync += later.eq(self._strobes[-1])
            self._strobes.append(later)
        return self._strobes[clock]

    def carried(self, value: Value, since: int, at: int, *, stands: int = 1, name: str) -> Value:
        """``value``, which stands for all the clocks of what passes from clock ``since`` on, as it was.

        It is there from clock ``at`` on, and stands for ``stands`` clocks. It has no reset.
        """
        end = at - since + stands
        registers = max(0, -(-end // self._clocks) - 1)
        # Each takes over what stands in the one before, the last as late as it must.
        first = max(0, end - 1 - registers * self._clocks)
        for number in range(registers):
            register = Signal(value.shape(), name=f"{name}_{number + 1}", reset_less=True)
            with self._m.If(self.strobe(since + first + number * self._clocks)):
                self._m.d.sync += register.eq(value)
            value = register
        return value
