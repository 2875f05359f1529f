"""The boards that a build can be for: part, clock, pins.

The pins themselves are in ``constraints/``, in the language of each part's tools: ``scripts/board_pins`` writes them.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InputError
from .parts import Part, part_of
from .pll import dividers

CONSTRAINTS = Path(__file__).parent / "constraints"
"""The folder with the pins: that of the repository, to which a link leads."""

PORTS = ("clk", "reset_button", "uart_rx", "uart_tx", "led_pass", "led_fail")
"""The ports of the top module of every board: its clock, a button, a serial line, and two lights."""


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board.

    Parameters
    ----------
    name, title
        What the command line calls it, and what its maker does.
    part
        The name of its part.
    pins
        The file in ``constraints/``.
    clock_mhz
        The clock on its port ``clk``.
    target_mhz
        The clock that a design on it runs at: made from the other by a PLL where it differs.
    inverted
        Which of :data:`PORTS` are active low.
    packer_options
        Further options of the packer.
    """

    name: str
    title: str
    part: str
    pins: str
    clock_mhz: float
    target_mhz: float
    inverted: frozenset[str] = frozenset()
    packer_options: tuple[str, ...] = ()

    def at(self, mhz: float) -> "Board":
        """The board with a design that runs at ``mhz``.

        Raises
        ------
        InputError
            If its PLL does not make that clock.
        """
        if mhz != self.clock_mhz:
            try:
                dividers(self.device.family, self.clock_mhz, mhz)
            except ValueError as error:
                raise InputError(f"{self.title} has no clock of {mhz:g} MHz: {error}") from None
        return replace(self, target_mhz=mhz)

    @property
    def device(self) -> Part:
        """Its part."""
        return part_of(self.part)

    def constraints(self) -> str:
        """The text of the file with its pins."""
        return (CONSTRAINTS / self.pins).read_text(encoding="utf-8")


_BUTTON = frozenset({"reset_button"})
_ALL_LOW = frozenset({"reset_button", "led_pass", "led_fail"})


def _ulx3s(size: int) -> Board:
    return Board(
        name=f"ulx3s-{size}f",
        title=f"Radiona ULX3S with an LFE5U-{size}F",
        part=f"LFE5U-{size}F-6BG381",
        pins="ulx3s.lpf",
        clock_mhz=25,
        target_mhz=100,
    )


def _arty(size: int) -> Board:
    return Board(
        name=f"arty-a7-{size}t",
        title=f"Digilent Arty A7-{size}T",
        part=f"xc7a{size}ticsg324-1L",
        pins="arty-a7.xdc",
        clock_mhz=100,
        target_mhz=100,
        inverted=_BUTTON,
    )


BOARDS = {
    board.name: board
    for board in (
        *(_ulx3s(size) for size in (85, 45, 25, 12)),
        Board(
            name="icepi-zero",
            title="Icepi Zero",
            part="LFE5U-25F-6BG256",
            pins="icepi-zero.lpf",
            clock_mhz=50,
            target_mhz=100,
            inverted=_BUTTON,
        ),
        Board(
            name="orangecrab",
            title="OrangeCrab r0.2 with an LFE5U-25F",
            part="LFE5U-25F-8MG285",
            pins="orangecrab.lpf",
            clock_mhz=48,
            target_mhz=96,
            inverted=_ALL_LOW,
            packer_options=("--freq", "38.8"),
        ),
        Board(
            name="icebreaker",
            title="1BitSquared iCEBreaker",
            part="ICE40UP5K-SG48",
            pins="icebreaker.pcf",
            clock_mhz=12,
            target_mhz=24,
            inverted=_ALL_LOW,
        ),
        Board(
            name="tang-nano-9k",
            title="Sipeed Tang Nano 9K",
            part="GW1NR-LV9QN88PC6/I5",
            pins="tang-nano-9k.cst",
            clock_mhz=27,
            target_mhz=54,
            inverted=_ALL_LOW,
            packer_options=("--sspi_as_gpio", "--mspi_as_gpio"),
        ),
        Board(
            name="tang-primer-20k",
            title="Sipeed Tang Primer 20K on its dock",
            part="GW2A-LV18PG256C8/I7",
            pins="tang-primer-20k.cst",
            clock_mhz=27,
            target_mhz=81,
            inverted=_ALL_LOW,
            packer_options=("--sspi_as_gpio",),
        ),
        *(_arty(size) for size in (35, 100)),
    )
}
"""The boards, by name."""


def board_of(name: str) -> Board:
    """The board called ``name``.

    Raises
    ------
    InputError
        If there is none.
    """
    board = BOARDS.get(name.lower())
    if board is None:
        raise InputError(f"there is no board {name}; there are {', '.join(BOARDS)}")
    return board
