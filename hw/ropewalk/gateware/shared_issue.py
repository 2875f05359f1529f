"""Which pair of which row a source of rows reads at a lower pace, and which clocks are a scan's."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .row_issue import SCAN_SHARE


class SharedIssue(Component):
    """Counts the pairs of rows off, one in ``design.clocks_per_pair`` clocks. A scan reads between pairs, one word in a
    clock more.

    A scan waits at most :data:`~.row_issue.SCAN_SHARE` clocks and those of a pair for its turn.

    Members
    -------
    valid, pairs, ready : In, In, Out
        A row to be made. Taken in the last clock but one of the last pair of the one before, or later.
    read, granted : In, Out
        A scan wants to read; it may in the next clock.
    issue, last : Out
        A pair is read from the next clock on, for all of its clocks. That one, or the one before where none begins, is
        the last of its row.
    busy : Out
        A row is being made, or its last pair read.
    ending : Out
        The last clock in which the last pair of a row is read.
    """

    def __init__(self, design: Design):
        self._clocks = design.clocks_per_pair
        super().__init__(
            {
                "valid": In(1),
                "pairs": In(range(design.geometry.head_dim // 2 + 1)),
                "ready": Out(1),
                "read": In(1),
                "granted": Out(1),
                "issue": Out(1),
                "last": Out(1),
                "busy": Out(1),
                "ending": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # Pairs that are left to issue; clocks until the next one may be.
        going = Signal()
        left = Signal(self.pairs.shape(), reset_less=True)
        wait = Signal(range(self._clocks))
        reading = Signal()
        last = Signal(reset_less=True)
        free = wait <= 1
        m.d.comb += [
            self.ready.eq(~going & free),
            self.issue.eq(going & (wait == 0) & ~self.granted),
            self.last.eq(last),
            self.busy.eq(going | reading),
            self.ending.eq(reading & (wait == 0) & last),
        ]
        m.d.sync += reading.eq(self.issue | (wait != 0))
        with m.If(self.issue):
            m.d.sync += [wait.eq(self._clocks - 1), left.eq(left - 1), last.eq(left == 1), going.eq(left != 1)]
        with m.Elif(wait != 0):
            m.d.sync += wait.eq(wait - 1)
        with m.If(self.valid & self.ready):
            m.d.sync += [left.eq(self.pairs), going.eq(1)]

        # A scan's turn comes now and then, and stays until a pair has been read.
        turn = Signal(range(SCAN_SHARE))
        its_turn = Signal()
        shown = Signal()
        grant = Signal()
        m.d.comb += grant.eq(
            self.read & ~self.granted & ~shown & ~self.issue & free & (its_turn | ~(going | self.valid))
        )
        m.d.sync += [
            turn.eq(turn + 1),
            its_turn.eq((turn == 0) | (its_turn & ~grant)),
            shown.eq(self.granted),
            self.granted.eq(grant),
        ]
        return m
