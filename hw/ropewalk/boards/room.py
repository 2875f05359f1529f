"""Whether a netlist fits a part: what it takes too many of, and which boards have more."""

import re
from collections.abc import Iterable

from ..errors import BuildError
from .parts import Part, Room
from .registry import BOARDS, Board
from .synthesis import Synthesis

_COUNTED = re.compile(r"^Info:\s+(\w+):\s+(\d+)/\s*(\d+)\s+\d+%$", re.MULTILINE)


class RoomError(BuildError):
    """The part has no room for the netlist.

    ``larger`` names the boards with a part of the same family that has; empty where that is not known.
    """

    def __init__(self, message: str, log: str = "", *, larger: tuple[str, ...] = ()):
        super().__init__(message, log)
        self.larger = larger


def needed(synthesis: Synthesis) -> Room:
    """What a netlist takes, at least: a placer may add look-up tables."""
    return Room(
        comb=synthesis.comb,
        ff=synthesis.registers,
        dsp=synthesis.multipliers,
        block_ram=synthesis.block_rams,
    )


def check_room(synthesis: Synthesis, part: Part) -> None:
    """Refuse a netlist of which it is certain that ``part`` does not hold it.

    Raises
    ------
    RoomError
        If it is so; the message says what it takes too many of.
    """
    wanted = needed(synthesis)
    if over := wanted.over(part.room):
        raise RoomError(_sentence(part, over), synthesis.log, larger=_larger(part, wanted))


def check_placer(part: Part, log: str) -> None:
    """Raise :class:`RoomError` if a placer that failed, and printed ``log``, counted more than ``part`` has."""
    over = [(kind, int(used), int(of)) for kind, used, of in _COUNTED.findall(log) if int(used) > int(of)]
    if over:
        raise RoomError(_sentence(part, over), log)


def _sentence(part: Part, over: Iterable[tuple[str, float, float]]) -> str:
    counts = ", ".join(f"{wanted:g} of {there:g} {kind}" for kind, wanted, there in over)
    return f"{part.name} has no room for it: it takes {counts}"


def _larger(part: Part, wanted: Room) -> tuple[str, ...]:
    """The boards whose part is of the same family and has room."""

    def holds(board: Board) -> bool:
        device = board.device
        return device.family.name == part.family.name and not wanted.over(device.room)

    return tuple(board.name for board in BOARDS.values() if holds(board))
