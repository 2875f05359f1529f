"""A memory for what is needed only when an item goes on: it is set aside when the item comes, and fetched then."""

from typing import Any

from amaranth.hdl import Module, Shape, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .component import Component
from .queue import following


class Aside(Component):
    """What belongs to items, in their order. Nothing is fetched in the clock in which it is stored.

    Parameters
    ----------
    shape
        What belongs to an item.
    places
        How many items there may be, a power of two.

    Members
    -------
    write, stored : In
        Sets aside what belongs to the next item.
    fetch, fetched : In, Out
        The oldest item goes on; what belongs to it, a clock later.
    """

    def __init__(self, shape: Any, places: int):
        assert places & (places - 1) == 0
        self._places = places
        super().__init__({"write": In(1), "stored": In(shape), "fetch": In(1), "fetched": Out(shape)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        width = Shape.cast(Value.cast(self.stored).shape()).width
        memory = m.submodules.memory = Memory(shape=width, depth=self._places, init=[])
        write, read = memory.write_port(), memory.read_port()
        stored = Signal(range(self._places))
        fetched = Signal(range(self._places))
        m.d.comb += [
            write.addr.eq(stored),
            write.en.eq(self.write),
            write.data.eq(self.stored),
            read.addr.eq(fetched),
            Value.cast(self.fetched).eq(read.data),
        ]
        with m.If(self.write):
            m.d.sync += stored.eq(following(stored))
        with m.If(self.fetch):
            m.d.sync += fetched.eq(following(fetched))
        return m
