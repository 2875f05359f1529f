"""Emptying a unit by its registers: soft reset and flush."""

from amaranth.hdl import Cat, Module, Signal, Value


def emptied(
    m: Module, soft_reset: Value, flush: Value, leaving: Value, *, clear: Signal, stop: Signal, clocks: int = 1
) -> None:
    """Drive ``clear``, which empties a unit, and ``stop``, by which it takes nothing in the next clock.

    ``clear`` lasts for ``clocks`` clocks. A soft reset acts in the next clock. A flush waits until ``leaving``: no beat
    is on offer that is not being taken, since one that was offered may not be withdrawn.
    """
    flushing = Signal()
    begins = Signal()
    lasts, lasting = Signal(clocks - 1, name="lasts"), Signal(name="lasting")
    m.d.comb += [
        begins.eq(soft_reset | (flushing & leaving)),
        # What a unit took before it is emptied would be lost.
        stop.eq(soft_reset | flushing | flush | clear),
    ]
    m.d.sync += [
        lasts.eq(Cat(begins, lasts)),
        # Whether any of those is high, since what begins comes late.
        lasting.eq(Cat(begins, lasts)[: clocks - 1].any()),
        clear.eq(begins | lasting),
    ]
    with m.If(flush):
        m.d.sync += flushing.eq(1)
    with m.Elif(leaving | soft_reset):
        m.d.sync += flushing.eq(0)
