"""What a bench does to a unit beside offering the streams."""

from dataclasses import dataclass

from ropewalk_sim.registers import Access

from .streams import UnitInput


@dataclass(frozen=True, kw_only=True)
class UnitScript:
    """As :class:`ropewalk_sim.beats.Script`, for units.

    Parameters
    ----------
    interrupted
        A stream that is offered first, for ``interrupted_clocks`` clocks, after ``interrupted_registers``. Then reset
        is asserted for ``reset_clocks`` clocks; with 0 it is left to ``registers`` to end what was under way, by a
        soft reset or a flush (not under cocotb, whose sources cannot take back what they offer).
    registers
        Accesses to registers before the streams of the run proper begin. What comes out meanwhile is dropped.
    meanwhile
        Further ones, while the unit streams. The run does not end before they have been answered.
    output_start
        The clock before which the sink is not ready.
    """

    interrupted: UnitInput | None = None
    interrupted_clocks: int = 0
    interrupted_registers: tuple[Access, ...] = ()
    reset_clocks: int = 2
    registers: tuple[Access, ...] = ()
    meanwhile: tuple[Access, ...] = ()
    output_start: int = 0
