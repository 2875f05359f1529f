"""The clock of a board's design, made by the part's PLL from the one on its pin."""

from dataclasses import dataclass
from itertools import product

from amaranth.hdl import Const, Instance, Module
from amaranth.lib.wiring import In, Out

from ..gateware.component import Component
from .families import ECP5, GW1N, GW2A, ICE40, Family


@dataclass(frozen=True)
class Dividers:
    """How a PLL divides: its input, what it feeds back, and its output.

    The oscillator runs at ``input_mhz / before * feedback``, or ``after`` times that on ECP5 and Gowin, where the
    output is what is fed back.
    """

    before: int
    feedback: int
    after: int


_OSCILLATOR_MHZ = {ECP5: (400, 800), ICE40: (533, 1066), GW1N: (400, 1200), GW2A: (500, 1250)}
_COMPARED_MHZ = {ECP5: (10, 400), ICE40: (10, 133), GW1N: (3, 400), GW2A: (3, 400)}
"""What the divided input may be, at which the PLL compares."""

_RANGES = {
    ECP5: (range(1, 17), range(1, 81), range(1, 129)),
    ICE40: (range(1, 17), range(1, 129), tuple(1 << bits for bits in range(1, 7))),
    GW1N: (range(1, 65), range(1, 65), (2, 4, 8, 16, 32, 48, 64)),
    GW2A: (range(1, 65), range(1, 65), (2, 4, 8, 16, 32, 48, 64)),
}
_GOWIN_DEVICES = {GW1N: "GW1NR-9C", GW2A: "GW2A-18C"}
_ICE40_FILTERS = (17, 26, 44, 66, 101)
"""A compared clock below the first takes filter 1, below the second filter 2, and so on."""


def dividers(family: Family, input_mhz: float, output_mhz: float) -> Dividers:
    """How a PLL of ``family`` makes ``output_mhz`` exactly.

    Of several ways the one with the least division of the input, and of those the one with the fastest oscillator.

    Raises
    ------
    ValueError
        If it cannot, or nothing here knows that PLL.
    """
    if family not in _OSCILLATOR_MHZ:
        raise ValueError(f"nothing here makes {output_mhz:g} MHz from {input_mhz:g} MHz on a part of {family.name}")
    low, high = _OSCILLATOR_MHZ[family]
    found: list[tuple[int, float, Dividers]] = []
    for before, feedback, after in product(*_RANGES[family]):
        compared = input_mhz / before
        fed_back = compared * feedback
        oscillator, made = (fed_back, fed_back / after) if family is ICE40 else (fed_back * after, fed_back)
        if (
            abs(made - output_mhz) < 1e-9
            and low <= oscillator <= high
            and _COMPARED_MHZ[family][0] <= compared <= _COMPARED_MHZ[family][1]
        ):
            found.append((before, -oscillator, Dividers(before, feedback, after)))
    if not found:
        raise ValueError(f"the PLL of {family.name} makes no {output_mhz:g} MHz from {input_mhz:g} MHz")
    return min(found, key=lambda one: one[:2])[2]


class Pll(Component):
    """A clock of ``output_mhz`` from one of ``input_mhz``, exactly.

    Parameters
    ----------
    family
        That of the part: ECP5, iCE40 or Gowin.
    input_mhz, output_mhz
        The clocks.

    Members
    -------
    pin : In
        The port with the clock. On iCE40 it must be on the pin of the PLL, and nothing else may read it.
    clock : Out
        The clock that is made.
    locked : Out
        Whether it is steady; it belongs to no clock.

    Raises
    ------
    ValueError
        If the PLL of that family cannot make it.
    """

    def __init__(self, family: Family, input_mhz: float, output_mhz: float):
        self._family = family
        self._input_mhz = input_mhz
        self._dividers = dividers(family, input_mhz, output_mhz)
        super().__init__({"pin": In(1), "clock": Out(1), "locked": Out(1)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        make = {ECP5: self._ecp5, ICE40: self._ice40}.get(self._family, self._gowin)
        m.submodules.pll = make()
        return m

    def _ecp5(self) -> Instance:
        divide = self._dividers
        return Instance(
            "EHXPLLL",
            # What Lattice's tools choose for the charge pump and the loop's filter.
            a_ICP_CURRENT="12", a_LPF_RESISTOR="8", a_MFG_ENABLE_FILTEROPAMP="1", a_MFG_GMCREF_SEL="2",
            p_CLKI_DIV=divide.before, p_CLKFB_DIV=divide.feedback, p_FEEDBK_PATH="CLKOP", p_CLKOP_ENABLE="ENABLED",
            p_CLKOP_DIV=divide.after, p_CLKOP_CPHASE=max(0, divide.after // 2 - 1), p_CLKOP_FPHASE=0,
            i_CLKI=self.pin, i_CLKFB=self.clock, i_RST=Const(0), i_STDBY=Const(0), i_ENCLKOP=Const(0),
            i_PHASESEL0=Const(0), i_PHASESEL1=Const(0), i_PHASEDIR=Const(1), i_PHASESTEP=Const(1),
            i_PHASELOADREG=Const(1), i_PLLWAKESYNC=Const(0),
            o_CLKOP=self.clock, o_LOCK=self.locked,
        )  # fmt: skip

    def _ice40(self) -> Instance:
        divide = self._dividers
        compared = self._input_mhz / divide.before
        return Instance(
            "SB_PLL40_PAD",
            p_FEEDBACK_PATH="SIMPLE", p_PLLOUT_SELECT="GENCLK",
            p_DIVR=Const(divide.before - 1, 4), p_DIVF=Const(divide.feedback - 1, 7),
            p_DIVQ=Const(divide.after.bit_length() - 1, 3),
            p_FILTER_RANGE=Const(1 + sum(compared >= limit for limit in _ICE40_FILTERS), 3),
            i_PACKAGEPIN=self.pin, i_RESETB=Const(1), i_BYPASS=Const(0),
            o_PLLOUTGLOBAL=self.clock, o_LOCK=self.locked,
        )  # fmt: skip

    def _gowin(self) -> Instance:
        divide = self._dividers
        return Instance(
            "rPLL",
            p_FCLKIN=f"{self._input_mhz:g}", p_DEVICE=_GOWIN_DEVICES[self._family], p_CLKFB_SEL="internal",
            p_IDIV_SEL=divide.before - 1, p_FBDIV_SEL=divide.feedback - 1, p_ODIV_SEL=divide.after,
            i_CLKIN=self.pin, i_CLKFB=Const(0), i_RESET=Const(0), i_RESET_P=Const(0),
            i_FBDSEL=Const(0, 6), i_IDSEL=Const(0, 6), i_ODSEL=Const(0, 6),
            i_PSDA=Const(0, 4), i_DUTYDA=Const(0, 4), i_FDLY=Const(0, 4),
            o_CLKOUT=self.clock, o_LOCK=self.locked,
        )  # fmt: skip
