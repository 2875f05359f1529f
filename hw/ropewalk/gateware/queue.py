"""The queue of the streaming core: RAM with a register at its exit, so that nothing waits for an address.

Whoever writes has counted the places (:mod:`.credits`), so a queue need not say that it is full.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Shape, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .component import Component


class Queue(Component):
    """Items in order, each of one part or several that come at their own times.

    An item is on offer :attr:`latency` clocks after ``offer``; one item per clock. The RAM is read with a register, and
    no place is read in the clock in which it is written.

    Parameters
    ----------
    parts
        Of each part, its shape, and how many of it there may be, a power of two.

    Members
    -------
    write_*, in_* : In
        Stores one part of the next item that lacks it.
    offer : In
        The oldest item that was not offered yet may leave. All of its parts have been stored, or are in this clock.
    output : Out stream
        The items that were offered. Its valid and payload are registers.
    """

    latency = 2

    def __init__(self, parts: Mapping[str, tuple[Any, int]]):
        assert all(depth & (depth - 1) == 0 for _, depth in parts.values())
        self._parts = dict(parts)
        layout = data.StructLayout({name: shape for name, (shape, _) in parts.items()})
        super().__init__(
            {
                **{f"write_{name}": In(1) for name in parts},
                **{f"in_{name}": In(shape) for name, (shape, _) in parts.items()},
                "offer": In(1),
                "output": Out(stream.Signature(layout)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # Whether there is more, and whether that is one item, is known of the next clock for either case of what comes
        # late: whether one is taken. There are two where the item to be offered next would be the second one behind
        # that to be taken next; where none is there it does not matter.
        fewest = min(places for _, places in self._parts.values())
        offered = Signal(range(fewest))
        second_next = Signal(range(fewest), init=2 % fewest)
        more, single = Signal(), Signal()
        take = Signal()
        valid = Signal()
        offer, two = self.offer, offered == second_next
        m.d.comb += [
            self.output.valid.eq(valid),
            take.eq(more & (~valid | self.output.ready)),
        ]
        # Synthesis is to leave these two as they are.
        single_if = [Signal(name=f"single_{case}", attrs={"keep": 1}) for case in ("not", "taken")]
        m.d.comb += [
            single_if[0].eq((offer & ~more) | (~offer & single)),
            single_if[1].eq((offer & single) | (~offer & two)),
        ]
        m.d.sync += [
            valid.eq(more | (valid & ~self.output.ready)),
            more.eq(offer | (more & ~(take & single))),
            single.eq(Mux(take, single_if[1], single_if[0])),
        ]
        with m.If(offer):
            m.d.sync += offered.eq(following(offered))
        with m.If(take):
            m.d.sync += second_next.eq(following(second_next))
        for name, (shape, places) in self._parts.items():
            memory = Memory(shape=Shape.cast(shape).width, depth=places, init=[])
            m.submodules[f"storage_{name}"] = memory
            write, read = memory.write_port(), memory.read_port()
            stored = Signal((places - 1).bit_length(), name=f"stored_{name}")
            taken = Signal(stored.shape(), name=f"taken_{name}")
            m.d.comb += [
                write.addr.eq(stored),
                write.data.eq(getattr(self, f"in_{name}")),
                write.en.eq(getattr(self, f"write_{name}")),
                read.addr.eq(taken),
                read.en.eq(take),
                Value.cast(self.output.payload[name]).eq(read.data),
            ]
            with m.If(write.en):
                m.d.sync += stored.eq(following(stored))
            with m.If(take):
                m.d.sync += taken.eq(following(taken))
        return m


def following(pointer: Signal) -> Value:
    """One more, modulo the width: for so few bits look-up tables are smaller than a carry chain with its ends."""
    return Cat(pointer[place] ^ pointer[:place].all() for place in range(len(pointer)))
