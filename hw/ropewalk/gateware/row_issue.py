"""Which pair of which row a source of rows reads in a clock, and which clocks are a scan's."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import pairs_shape, request_layout

SCAN_SHARE = 64
"""A scan of the source's memory waits at most so many clocks for its turn, and takes at most that share of them."""


class RowIssue(Component):
    """Counts the pairs of rows off, one per clock but for those in which a scan reads.

    Members
    -------
    valid, request, ready : In, In, Out
        A row to be made. Taken in the clock in which the last pair of the one before is issued. Ready is a register.
    read, granted : In, Out
        A scan wants to read; it may in the next clock: one in which no row is made, or now and then one of a row's.
    busy, issue, last : Out
        A row is being made; a pair of it is read in the next clock; which is the last.
    """

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "valid": In(1),
                "request": In(request_layout(design)),
                "ready": Out(1),
                "read": In(1),
                "granted": Out(1),
                "busy": Out(1),
                "issue": Out(1),
                "last": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        ready = Signal(init=1)
        m.d.comb += self.ready.eq(ready)
        left = Signal(pairs_shape(self._design), reset_less=True)
        two_left = Signal(reset_less=True)
        turn = Signal(range(SCAN_SHARE))
        its_turn = Signal()
        # The scan sees that it may read in the clock in which it does, and asks until then.
        shown = Signal()
        m.d.sync += shown.eq(self.granted)
        # What granted and last will be in the next clock.
        grant = Signal()
        turned = Signal()
        at_last = Signal()
        asked = self.read & ~self.granted & ~shown
        m.d.comb += [
            turned.eq(asked & its_turn),
            # A row that is asked for now is made from the next clock on.
            grant.eq(turned | (asked & ~(self.busy | self.valid))),
            self.issue.eq(self.busy & ~self.granted),
            at_last.eq(Mux(ready, self.request.single, Mux(self.issue, two_left, self.last))),
        ]
        m.d.sync += [
            turn.eq(turn + 1),
            its_turn.eq(turn == 0),
            self.granted.eq(grant),
            self.last.eq(at_last),
            # Where a row is being made or begins, the only grant is that of a turn.
            ready.eq((ready & ~self.valid) | (at_last & ~turned)),
        ]
        with m.If(self.issue):
            m.d.sync += [left.eq(left - 1), two_left.eq(left == 3)]
        with m.If(ready):
            m.d.sync += [
                left.eq(self.request.pairs),
                two_left.eq(self.request.pairs == 2),
                self.busy.eq(self.valid),
            ]
        return m
