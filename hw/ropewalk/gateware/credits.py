"""Counts places, so that what has been let in always finds one."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib.wiring import In, Out

from .component import Component


class Credits(Component):
    """Places that are taken and given back, one of each per clock.

    Parameters
    ----------
    places
        How many there are.
    under_way
        How many more may be taken after ``free`` has gone low: by what was let in and has not come to take its place.

    Members
    -------
    take, give : In
        A place is taken; one is given back.
    stop : In
        None is free in the next clock.
    free : Out
        Whether there is one, all takes and gives before this clock counted. A register that is low in reset.
    free_if_taken, free_if_not : Out
        What ``free`` will be in the next clock, if one is taken in this one, and if none is.
    """

    def __init__(self, places: int, *, under_way: int = 0):
        self._places = places - under_way
        self._under_way = under_way
        super().__init__(
            {
                "take": In(1),
                "give": In(1),
                "stop": In(1),
                "free": Out(1),
                "free_if_taken": Out(1),
                "free_if_not": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # Below 0 while those under way take theirs.
        below = self._under_way > 0
        bits = max(self._places, self._under_way).bit_length()
        count = Signal(signed(bits + 1) if below else bits, init=self._places)
        # Of what comes, `take` may come late: all is known for either case.
        m.d.sync += count.eq(Mux(self.take, Mux(self.give, count, count - 1), Mux(self.give, count + 1, count)))
        several = Signal()
        none_or_one = Signal()
        m.d.comb += [
            several.eq(count[1:bits].any() & ~(count[-1] & below)),
            none_or_one.eq(~count[1:].any()),
        ]
        m.d.comb += [
            self.free_if_taken.eq(~self.stop & (several | (none_or_one & count[0] & self.give))),
            self.free_if_not.eq(~self.stop & (several | (none_or_one & (count[0] | self.give)))),
        ]
        m.d.sync += self.free.eq(Mux(self.take, self.free_if_taken, self.free_if_not))
        return m
