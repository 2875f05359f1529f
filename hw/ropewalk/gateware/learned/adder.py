"""The adder: element plus table word, one rounding, saturation. Arithmetic: ``docs/learned.md``, "Numbers"."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.learned import LearnedDesign
from ..component import Component
from ..primitives import delayed
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

    latency = 3

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
        total_bits = max(width, design.data_width) + 1
        minimum, maximum = design.data.minimum, design.data.maximum
        for lane in range(design.lanes):
            word = self.words[lane]
            addend = Signal(signed(width), name=f"addend_{lane}", reset_less=True)
            total = Signal(signed(total_bits), name=f"total_{lane}", reset_less=True)
            result = Signal(design.data.shape, name=f"result_{lane}", reset_less=True)
            saturated = Signal(name=f"saturated_{lane}", reset_less=True)
            element = delayed(m, self.elements[lane], 1, name=f"element_{lane}")
            rounded = (word + half) >> dropped if dropped > 0 else word << -dropped
            over = (total > maximum) | (total < minimum)
            m.d.sync += [
                addend.eq(Mux(self.add[lane], rounded, 0)),
                total.eq(element + addend),
                result.eq(Mux(over, Mux(total < 0, minimum, maximum), total)),
                saturated.eq(over),
            ]
            m.d.comb += [self.out[lane].eq(result), self.saturated[lane].eq(saturated)]
        return m
