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

    Everything runs at the board's ``target_mhz``, which its PLL makes where the clock on its pin is another.
    ``expected`` is the signature of the self-test, which the model gives.

    Raises
    ------
    InputError
        If the clock does not give that rate.
    """
    divisor = clocks_per_bit(board.target_mhz * 1e6, baud)
    return emit_top(
        BoardTop(design, board, expected=expected, divisor=divisor), rom_contents(design), family=design.family
    )
