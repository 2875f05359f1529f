"""The way out of the rotator: a queue, or a buffer that puts beats back in order (:mod:`.output_buffer`).

Both forms have the same members. The rotator never stalls, so a beat may enter it only when there is a place for its
result: that is what ``room`` says.
"""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .chunks import order_layout
from .component import Component
from .credits import Credits
from .head_sides import HeadSides
from .layouts import elements_layout, result_layout, side_layout
from .pipeline import carried
from .queue import Queue


def output_members(design: Design) -> dict:
    """The members of both forms.

    ``enter`` is high when a beat enters the core; ``order`` is its order, a clock later. ``valid`` is high when it
    comes out of the rotator, with its ``elements``. ``came``, ``word``, ``absent`` and ``side`` say what accompanies
    each beat, and which of its head it is, no more than a clock after it entered. ``result`` gives the beats in the
    order of the output.
    """
    return {
        "room": Out(1),
        "enter": In(1),
        "order": In(order_layout(design)),
        "valid": In(1),
        "elements": In(elements_layout(design)),
        "came": In(1),
        "word": In(range(max(2, design.beats_per_head))),
        "absent": In(1),
        "side": In(side_layout()),
        "result": Out(stream.Signature(result_layout(design))),
    }


class DirectOutput(Component):
    """Beats go out as they leave the rotator, or with each pair in two chunks for paired order.

    See :func:`output_members`.

    Parameters
    ----------
    core_latency
        Clocks from a beat entering to its result.
    waiting
        Beats that may wait before the core.
    """

    def __init__(self, design: Design, core_latency: int, waiting: int):
        self._design = design
        self._core_latency = core_latency
        self._waiting = waiting
        super().__init__(output_members(design))

    @property
    def depth(self) -> int:
        """Places in the queue: the beats in flight, and the clocks that a credit takes to come back."""
        return 1 << (self._core_latency + Queue.latency + 1).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        # A beat is counted in the clock after it goes: that is known late.
        m.submodules.credits = credits = Credits(self.depth, under_way=1)
        m.submodules.results = results = ExitQueue(design, self.depth)
        places = range(len(self.elements))
        if design.stream_pairings[1] == "paired":
            places = [*places[::2], *places[1::2]]
        stays = self.valid
        if design.buffered:
            sides = head_sides(m, self, design, beats=self.depth + self._waiting, goes=self.enter)
            stays = carried(m, sides.stays, self._core_latency - sides.latency, name="stays")
        m.d.comb += [
            self.room.eq(credits.free),
            results.in_elements.as_value().eq(Cat(self.elements[place] for place in places)),
            results.write_elements.eq(stays),
            results.offer.eq(stays),
        ]
        connect(m, results.output, wiring.flipped(self.result))
        leaves = self.result.valid & self.result.ready
        if design.buffered:
            m.d.comb += [results.in_side.eq(sides.side), results.write_side.eq(sides.stays)]
            m.d.sync += credits.take.eq(self.enter)
            give_back(m, credits, leaves, sides.drops, places=self.depth)
        else:
            m.d.comb += [results.in_side.eq(self.side), results.write_side.eq(self.came)]
            m.d.sync += [credits.take.eq(self.enter), credits.give.eq(leaves)]
        return m


class ExitQueue(Component):
    """The queue of the exit: a queue for what accompanies beats, and one for each lane, which all do the same.

    So no signal has to reach all of a beat. See :class:`~ropewalk.gateware.queue.Queue` for the members.
    """

    latency = Queue.latency

    def __init__(self, design: Design, depth: int):
        self._depth = depth
        super().__init__(
            {
                "write_elements": In(1),
                "in_elements": In(elements_layout(design)),
                "write_side": In(1),
                "in_side": In(side_layout()),
                "offer": In(1),
                "output": Out(stream.Signature(result_layout(design))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        given, taken = self.in_elements, self.output.payload.elements
        m.submodules.side = side = Queue({"side": (self.in_side.shape(), self._depth)})
        m.d.comb += [
            side.write_side.eq(self.write_side),
            side.in_side.eq(self.in_side),
            self.output.payload.side.eq(side.output.payload.side),
            self.output.valid.eq(side.output.valid),
        ]
        queues = [side]
        for number in range(len(given) // 2):
            here, there = (Cat(elements[2 * number], elements[2 * number + 1]) for elements in (given, taken))
            m.submodules[f"lane_{number}"] = lane = Queue({"pair": (len(here), self._depth)})
            m.d.comb += [
                lane.write_pair.eq(self.write_elements),
                lane.in_pair.eq(here),
                there.eq(lane.output.payload.pair),
            ]
            queues.append(lane)
        for queue in queues:
            m.d.comb += [queue.offer.eq(self.offer), queue.output.ready.eq(self.output.ready)]
        return m


def head_sides(m: Module, output: Component, design: Design, *, beats: int, goes: Value) -> HeadSides:
    """What accompanies the beats of an output where ``goes`` is high for each, of ``beats`` at most that wait."""
    sides = HeadSides(design, beats=beats)
    m.submodules.sides = sides
    m.d.comb += [
        sides.came.eq(output.came),
        sides.word.eq(output.word),
        sides.absent.eq(output.absent),
        sides.arrival.eq(output.side),
        sides.goes.eq(goes),
    ]
    return sides


def give_back(m: Module, credits: Credits, leaves: Value, dropped: Value, *, places: int) -> None:
    """Gives places back for beats that leave, and for those that stood in for missing ones and are not kept.

    One place a clock can be given back: what is dropped waits for a clock in which nothing leaves.
    """
    owed = Signal(range(places + 1))
    some = owed.any()
    m.d.sync += [credits.give.eq(leaves | some), owed.eq(owed + dropped - (some & ~leaves))]
