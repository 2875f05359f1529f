"""The framer of the sinusoidal adder."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data

from ...designs.sinusoidal import SinusoidalDesign
from ..units.framer import RowFramer
from .layouts import beat_layout, context_layout, part_of


class Framer(RowFramer):
    """Turns packets into beats that know their place in a row."""

    _design: SinusoidalDesign

    def __init__(self, design: SinusoidalDesign):
        super().__init__(design, token=context_layout(), beat=beat_layout(design))

    def describe(  # noqa: D102
        self, m: Module, out: data.View, token: data.View, word: Signal, at_end: Signal, taken: Signal
    ) -> None:
        m.d.sync += [out.encoded.eq(token.encoded), out.word.eq(word), out.part.eq(part_of(self._design, word))]
