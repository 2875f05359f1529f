"""The planner: asks the row source for the rows that tokens need and tells the framer what becomes of their data.

No clock of its own: a token moves on in the clock in which both sides can take it.
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import context_layout, request_layout, token_layout


class RowPlanner(Component):
    """Splits a token into a row request, where it needs a new row, and a context for the framer.

    Rows are numbered in the order in which they are asked for, modulo ``2**design.row_number_bits``; row n lives in
    bank n modulo ``design.row_banks``. A row is asked for only when its bank is free: when the row that was there has
    been made and has been let go of by the reader.

    Members
    -------
    token : In stream
        Checked tokens.
    request : Out stream
        Rows to make.
    context : Out stream
        Tokens to frame.
    held : In
        Number of the oldest row that the reader may still read.
    writing : In
        Number of the row that is being made, or is to be made next.
    """

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "token": In(stream.Signature(token_layout(design))),
                "request": Out(stream.Signature(request_layout(design))),
                "context": Out(stream.Signature(context_layout())),
                "held": In(design.row_number_bits),
                "writing": In(design.row_number_bits),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        token = self.token.payload
        banks, bits = self._design.row_banks, self._design.row_number_bits
        number = Signal(bits)
        free = Signal()
        unread = Signal(bits)
        unmade = Signal(bits)
        m.d.comb += [
            unread.eq(number - self.held),
            unmade.eq(number - self.writing),
            free.eq((unread < banks) & (unmade < banks)),
            self.request.payload.eq(token.request),
            *(
                self.context.payload[name].eq(token[name])
                for name in ("new_row", "unit", "inverse", "error", "tag", "heads", "layout", "odd")
            ),
            self.context.payload.start.eq(token.request.start),
            self.context.payload.pairs.eq(token.request.pairs),
            self.context.payload.end.eq(token.request.start + token.request.pairs),
        ]
        # Both receivers are ready or not by their own registers, so looking at one's ready for the other's valid
        # closes no loop.
        row_possible = Signal()
        m.d.comb += [
            row_possible.eq(~token.new_row | (free & self.request.ready)),
            self.request.valid.eq(self.token.valid & token.new_row & free & self.context.ready),
            self.context.valid.eq(self.token.valid & row_possible),
            self.token.ready.eq(self.context.ready & row_possible),
        ]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += number.eq(number + 1)
        return m
