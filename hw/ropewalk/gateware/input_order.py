"""The way into the rotator: beats of a head as they come, or put into pair beats by a buffer (:mod:`.input_buffer`).

Both forms have the same members. A beat enters the core when its row entries are there and there is room for its
result; its elements are at the rotator :attr:`latency` clocks later, and nothing stops them on the way.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .chunks import arrangement, order_layout
from .component import Component
from .entrance import Entrance
from .layouts import ask_layout, beat_layout, elements_layout, lagging_layout, side_layout
from .pipeline import delayed


def input_members(design: Design) -> dict:
    """The members of both forms.

    ``beat`` takes beats from the framer, and ``fetch`` brings their elements from there and what else follows them, a
    clock later; not those of beats that stand in for missing ones. ``asks`` says what the row memory must have for the
    beat that goes next and for the one behind it, and ``available`` whether it has; ``room`` whether there is room for
    a result. ``enter`` is high when a beat enters the core; ``order`` is its order, a clock later. ``elements``,
    ``rotated`` and ``inverse`` go to the rotator. ``came`` is high for each beat that came, or stands in for one
    (``absent``): the ``word``-th of its head, accompanied by ``side``.
    """
    return {
        "beat": In(stream.Signature(beat_layout(design))),
        "fetch": Out(1),
        "arriving": In(elements_layout(design)),
        "lagging": In(lagging_layout(design)),
        "asks": Out(data.ArrayLayout(ask_layout(design), 2)),
        "available": In(data.ArrayLayout(3, 2)),
        "room": In(1),
        "enter": Out(1),
        "order": Out(order_layout(design)),
        "elements": Out(elements_layout(design)),
        "rotated": Out(design.lanes),
        "inverse": Out(1),
        "came": Out(1),
        "word": Out(range(max(2, design.beats_per_head))),
        "absent": Out(1),
        "side": Out(side_layout()),
    }


class DirectInput(Component):
    """Beats go in as they come, in interleaved or in paired order. See :func:`input_members`."""

    latency = 2
    beat_latency = Entrance.latency
    """Clocks from a beat on offer to its entering the core, where it waits for nothing."""

    depth = 0
    """Beats that it holds."""

    def __init__(self, design: Design):
        self._design = design
        super().__init__(input_members(design))

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.entrance = entrance = Entrance(beat_layout(design), conditions=[[1, 2]])
        head = entrance.head
        m.d.comb += [
            entrance.arrival.valid.eq(self.beat.valid),
            entrance.arrival.payload.eq(self.beat.payload),
            self.beat.ready.eq(entrance.arrival.ready),
            self.asks[0].eq(head.ask),
            self.asks[1].eq(self.beat.payload.ask),
            Cat(entrance.head_there, entrance.there).eq(self.available),
            entrance.room.eq(self.room),
            self.enter.eq(entrance.enter),
            self.fetch.eq(entrance.enter),
            self.side.eq(self.lagging.side),
        ]

        # Clock 1: what follows the beat is there.
        elements = self.arriving.as_value()
        rotated = self.lagging.rotated
        m.d.sync += self.came.eq(entrance.enter)
        if design.moves:
            absent = delayed(m, head.absent, 1, name="absent")
            here = Signal(self.arriving.shape())
            m.d.comb += [
                self.fetch.eq(entrance.enter & ~head.absent),
                self.order.eq(data.View(order_layout(design), delayed(m, head.order, 1, name="order"))),
                self.word.eq(delayed(m, head.ask.word, 1, name="word")),
                self.absent.eq(absent),
                Value.cast(here).eq(elements & (~absent).replicate(len(elements))),
            ]
            split = Mux(self.lagging.inside, self.order.split_in, self.order.split_out)
            elements = arrangement(design, here, split)
            rotated = rotated & (~absent).replicate(design.lanes)
        m.d.comb += [
            self.elements.as_value().eq(delayed(m, elements, 1, name="elements")),
            self.rotated.eq(delayed(m, rotated, 1, name="rotated")),
            self.inverse.eq(delayed(m, self.lagging.inverse, 1, name="inverse")),
        ]
        return m
