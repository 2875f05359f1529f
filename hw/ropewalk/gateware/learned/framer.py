"""The framer of the learned-table adder."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data

from ...designs.learned import LearnedDesign
from ..units.framer import RowFramer
from .layouts import beat_layout, token_layout


class Framer(RowFramer):
    """Turns packets into beats that know which table words they need."""

    _design: LearnedDesign

    def __init__(self, design: LearnedDesign):
        super().__init__(design, token=token_layout(design), beat=beat_layout(design))

    def describe(  # noqa: D102
        self, m: Module, out: data.View, token: data.View, word: Signal, at_end: Signal, taken: Signal
    ) -> None:
        design = self._design
        # Elements past the row's end take no table word, and neither do they count as saturated.
        inside = Mux(at_end, (1 << design.last_lanes) - 1, (1 << design.lanes) - 1)
        m.d.sync += [
            out.add.eq(Mux(token.add, inside, 0)),
            out.row.eq(token.add),
            out.place.eq(token.place),
        ]
        if design.storage == "block-ram":
            with m.If(taken):
                m.d.sync += token.place.eq(token.place + 1)
