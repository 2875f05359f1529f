"""Which clocks of a run are written into a waveform file, and as what."""

from dataclasses import dataclass
from pathlib import Path

from ropewalk.errors import InputError

CLOCKS = 1000
"""How many clocks are captured where it is not said."""

MOST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Waveform:
    """A window of clocks of a run, written into a file.

    Clock n, counted from 0 after reset, lasts from 10 n to 10 (n + 1) ns of the file, beginning with a rising edge:
    a beat is transferred where valid and ready are high in it.

    Parameters
    ----------
    path
        The file. ``.vcd``, or ``.fst``, which is smaller and faster.
    first_clock, clocks
        The window.

    Raises
    ------
    InputError
        If the file's name ends otherwise, or the window is none.
    """

    path: str | Path
    first_clock: int = 0
    clocks: int = CLOCKS

    def __post_init__(self) -> None:
        if Path(self.path).suffix.lower() not in (".vcd", ".fst"):
            raise InputError(f"a waveform's name must end in .vcd or .fst, not {Path(self.path).name!r}")
        for name, least in (("first_clock", 0), ("clocks", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
                raise InputError(f"{name} of a waveform must be an integer from {least} on, not {value!r}")

    @property
    def format(self) -> str:
        """``vcd`` or ``fst``."""
        return Path(self.path).suffix.lower()[1:]

    @property
    def window(self) -> str:
        """The clocks, for messages."""
        return f"{self.first_clock} to {self.first_clock + self.clocks - 1}"
