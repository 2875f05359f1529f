"""Tells how long the spare place of the slots may still be needed.

A commit makes the old content of its slot the spare. Tokens that were taken before it may still need that: until they
have all left the planner, and the row that was begun for the last of them is done.
"""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from .component import Component


class SpareGuard(Component):
    """Follows the tokens that were taken before a swap.

    It looks at everything a clock late and in steps, so it lets go some clocks later than it could, never earlier.

    Parameters
    ----------
    tokens
        How many there may be between the descriptor port and the planner.

    Members
    -------
    swapped : In
        A slot's content was swapped with the spare in this clock. Not again before ``needed`` is low.
    taken, retired, rows_idle, row_begun : In
        A descriptor was taken; a token left the planner; the row source is between rows; it began a row.
    needed : Out
        The spare is needed, from the clock after the swap.
    """

    def __init__(self, tokens: int):
        # They are counted modulo a larger number.
        self._bits = tokens.bit_length()
        super().__init__(
            {
                "swapped": In(1),
                "taken": In(1),
                "retired": In(1),
                "rows_idle": In(1),
                "row_begun": In(1),
                "needed": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        taken, retired, row_over = Signal(), Signal(), Signal()
        m.d.sync += [taken.eq(self.taken), retired.eq(self.retired), row_over.eq(self.rows_idle | self.row_begun)]
        taken_number, retired_number = Signal(self._bits), Signal(self._bits)
        with m.If(taken):
            m.d.sync += taken_number.eq(taken_number + 1)
        with m.If(retired):
            m.d.sync += retired_number.eq(retired_number + 1)

        # Two clocks after the swap, the number is that of the descriptors that were taken up to its clock. From then on
        # it is compared in every clock, so that in which as many have left cannot be missed.
        counting, fenced, draining = Signal(3), Signal(), Signal()
        fence = Signal(self._bits, reset_less=True)
        equal = Signal(reset_less=True)
        m.d.sync += [counting.eq(Cat(self.swapped, counting)), equal.eq(retired_number == fence)]
        with m.If(counting[1]):
            m.d.sync += fence.eq(taken_number)
        with m.If(counting[2]):
            m.d.sync += fenced.eq(1)
        with m.If(fenced & equal):
            m.d.sync += [fenced.eq(0), draining.eq(1)]
        with m.If(draining & row_over):
            m.d.sync += draining.eq(0)
        m.d.comb += self.needed.eq(counting.any() | fenced | draining)
        return m
