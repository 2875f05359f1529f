"""Emptying a unit by its registers: soft reset and flush."""

from amaranth.hdl import Module, Signal, Value


def emptied(m: Module, soft_reset: Value, flush: Value, leaving: Value, *, clear: Signal, stop: Signal) -> None:
    """Drive ``clear``, which empties a unit, and ``stop``, by which it takes nothing in the next clock.

    A soft reset acts in the next clock. A flush waits until ``leaving``: no beat is on offer that is not being taken,
    since one that was offered may not be withdrawn.
    """
    flushing = Signal()
    m.d.sync += clear.eq(soft_reset | (flushing & leaving))
    # What a unit took before it is emptied would be lost.
    m.d.comb += stop.eq(soft_reset | flushing | flush)
    with m.If(flush):
        m.d.sync += flushing.eq(1)
    with m.Elif(leaving | soft_reset):
        m.d.sync += flushing.eq(0)
