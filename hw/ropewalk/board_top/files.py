"""The Verilog of a board's top."""

from ..boards.registry import Board
from ..design import Design
from ..emit.verilog import emit_top
from ..gateware.contents import rom_contents
from .top import BoardTop
from .uart import clocks_per_bit

BAUD = 115_200
"""The rate of the serial line unless another one is asked for."""


def board_files(design: Design, board: Board, *, expected: int, baud: int = BAUD) -> dict[str, str]:
    """The Verilog of an engine on ``board`` and its memory files, by name; the module is ``ropewalk``.

    Everything runs at the clock on the board's port ``clk``: there is no PLL. ``expected`` is the signature of the
    self-test, which the model gives.

    Raises
    ------
    InputError
        If the board's clock does not give that rate.
    """
    divisor = clocks_per_bit(board.clock_mhz * 1e6, baud)
    top = BoardTop(design, expected=expected, divisor=divisor, inverted=board.inverted)
    return emit_top(top, rom_contents(design), family=design.family)
