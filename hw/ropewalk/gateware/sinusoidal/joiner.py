"""The joiner: brings beats and the words of their rows together, and sees to it that a row is used up.

A word of a queue serves one beat. A beat of a token without a row needs none; a row whose packet ended early is drained
before the next beat passes.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import SinusoidalDesign
from ..component import Component
from .layouts import beat_layout, part_layout, part_of


class Joiner(Component):
    """Latency 0 clocks: a beat passes in the clock in which it and its words are there. One beat per clock.

    Members
    -------
    beat : In stream
        Beats with their place in the row.
    words, ready, take : In, In, Out
        The queues of the row source.
    credit : In
        A beat may pass in this clock.
    enter : Out
        One passes.
    encodings : Out
        What is added to its elements, each 0 where nothing is.
    """

    def __init__(self, design: SinusoidalDesign):
        self._design = design
        self._queues = 2 if design.half else 1
        encodings = data.ArrayLayout(design.encoding.shape, design.lanes)
        super().__init__(
            {
                "beat": In(stream.Signature(beat_layout(design))),
                "words": In(data.ArrayLayout(encodings, self._queues)),
                "ready": In(self._queues),
                "take": Out(self._queues),
                "credit": In(1),
                "enter": Out(1),
                "encodings": Out(encodings),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        beat = self.beat.payload

        draining, looked = Signal(), Signal()
        place = Signal(beat.word.shape(), reset_less=True)
        part = Signal(part_layout(), reset_less=True)
        needed = Signal(self._queues)
        available = Signal()
        drained = Signal()
        m.d.comb += [
            needed.eq(Mux(draining, self._needs(part), Mux(beat.encoded, self._needs(beat.part), 0))),
            available.eq((needed & ~self.ready) == 0),
            self.beat.ready.eq(available & self.credit & ~draining),
            self.enter.eq(self.beat.valid & self.beat.ready),
            drained.eq(looked & available),
            self.take.eq(Mux(self.enter | drained, needed, 0)),
        ]
        with m.If(self.enter):
            m.d.sync += [
                place.eq(beat.word + 1),
                draining.eq(beat.encoded & beat.side.last & ~beat.part.tail),
            ]
        # A word is drained in two clocks: what it is, and its being taken.
        m.d.sync += [part.eq(part_of(design, place)), looked.eq(draining & ~drained)]
        with m.If(drained):
            m.d.sync += [place.eq(place + 1), draining.eq(~part.tail)]

        for lane, (first, second) in enumerate(self._lanes(beat.part)):
            chosen = Mux(first, self.words[0][lane], 0)
            if design.half:
                chosen = Mux(second, self.words[1][lane], chosen)
            m.d.comb += self.encodings[lane].eq(Mux(beat.encoded, chosen, 0))
        return m

    def _needs(self, part: data.View) -> Value:
        """Which queues a beat of that ``part`` of a row takes a word of."""
        lanes = self._lanes(part)
        needed = [Cat(first for first, _ in lanes).any()]
        if self._design.half:
            needed.append(Cat(second for _, second in lanes).any())
        return Cat(needed)

    def _lanes(self, part: data.View) -> list[tuple[Value, Value]]:
        """Of each element of a beat of that ``part``: whether it is in the first queue, and in the second."""
        design = self._design
        # How many elements of the beat in which cosines begin are sines, and how many of the last are no padding.
        sines = design.pairs % design.lanes
        filled = design.pairs + design.cosines - (design.beats_per_token - 1) * design.lanes
        lanes = []
        for lane in range(design.lanes):
            inside = ~part.tail if lane >= filled else Const(1)
            first = part.sines | part.border if lane < sines else part.sines
            lanes.append((inside & first, inside & ~first) if design.half else (inside, Const(0)))
        return lanes
