"""The adder: element plus table word, one rounding, saturation. Arithmetic: ``docs/learned.md``, "Numbers"."""

from amaranth.hdl import Module, Mux, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.learned import LearnedDesign
from ..component import Component
from ..units.adder import RowAdder
from .layouts import words_layout


class TableAdder(Component):
    """``saturate(x + round(word))`` for the elements of a beat.

    Latency 3 clocks (round, add, saturate), one beat per clock; no multiplier. Where the table is finer than the data a
    word is rounded half up; elsewhere it is shifted.

    Members
    -------
    elements, words, add : In
        A beat's elements, its table words, and a bit per element: whether it takes its word.
    out, saturated : Out
        Three clocks later: the sums, and which of them were saturated.
    """

    latency = RowAdder.latency

    def __init__(self, design: LearnedDesign):
        self._design = design
        elements = data.ArrayLayout(design.data.shape, design.lanes)
        super().__init__(
            {
                "elements": In(elements),
                "words": In(words_layout(design)),
                "add": In(design.lanes),
                "out": Out(elements),
                "saturated": Out(design.lanes),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        dropped = design.rounded_bits
        half = design.data.rounding_word(design.table_fraction_bits) if dropped > 0 else 0
        width = design.table_width - dropped + (dropped > 0)
        m.submodules.sum = adder = RowAdder(design, signed(width))
        for lane in range(design.lanes):
            word = self.words[lane]
            rounded = (word + half) >> dropped if dropped > 0 else word << -dropped
            m.d.comb += adder.addends[lane].eq(Mux(self.add[lane], rounded, 0))
        m.d.comb += [
            adder.elements.eq(self.elements),
            self.out.eq(adder.out),
            self.saturated.eq(adder.saturated),
        ]
        return m
