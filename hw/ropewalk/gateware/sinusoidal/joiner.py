"""The joiner: brings beats and the words of their rows together, and sees to it that a row is used up.

A word of a queue serves one beat. A beat of a token without a row needs none; a row whose packet ended early is drained
before the next beat passes.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import SinusoidalDesign
from ..component import Component
from .layouts import beat_layout


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
        encodings = data.ArrayLayout(design.encoding.shape, design.elements)
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

        draining = Signal()
        place = Signal(beat.word.shape(), reset_less=True)
        needed = Signal(self._queues)
        available = Signal()
        drained = Signal()
        m.d.comb += [
            needed.eq(Mux(draining, self._needs(place), Mux(beat.encoded, self._needs(beat.word), 0))),
            available.eq((needed & ~self.ready) == 0),
            self.beat.ready.eq(available & self.credit & ~draining),
            self.enter.eq(self.beat.valid & self.beat.ready),
            drained.eq(draining & available),
            self.take.eq(Mux(self.enter | drained, needed, 0)),
        ]
        with m.If(self.enter):
            m.d.sync += [
                place.eq(beat.word + 1),
                draining.eq(beat.encoded & beat.side.last & ~beat.side.tail),
            ]
        with m.If(drained):
            m.d.sync += [place.eq(place + 1), draining.eq(place != design.beats_per_token - 1)]

        for lane, (sine, cosine) in enumerate(self._lanes(beat.word)):
            chosen = Mux(sine, self.words[0][lane], 0)
            if design.half:
                chosen = Mux(cosine, self.words[1][lane], chosen)
            m.d.comb += self.encodings[lane].eq(Mux(beat.encoded, chosen, 0))
        return m

    def _needs(self, word: Signal) -> Value:
        """Which queues the beat ``word`` of a row takes a word of."""
        lanes = self._lanes(word)
        of_sines = Cat(sine for sine, _ in lanes).any()
        return Cat(of_sines, Cat(cosine for _, cosine in lanes).any()) if self._design.half else of_sines

    def _lanes(self, word: Signal) -> list[tuple[Value, Value]]:
        """Of each element of the beat ``word``: whether it is in the first queue, and in the second."""
        design = self._design
        n, filled = design.pairs, design.pairs + design.cosines
        lanes = []
        for lane in range(design.elements):
            # Element e = word * elements + lane of the row; the first element past a border, as a word.
            end, sines = (-(-(border - lane) // design.elements) for border in (filled, n))
            inside = word < end
            if design.half:
                lanes.append((word < sines, inside & (word >= sines)))
            else:
                lanes.append((inside, word < 0))
        return lanes
