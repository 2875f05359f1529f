"""Public designs that do part of this job, as data: never measured by this command, and never among its rows."""

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

Figures = Literal["measured", "published"]


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One design of somebody else.

    Parameters
    ----------
    design, what
        Whose, and which configuration of it.
    kind
        ``lane`` where it rotates a pair, ``engine`` where it makes its rows too, ``core`` where it only makes them.
    figures
        ``measured``: its public source, synthesised with Yosys and placed with nextpnr-ecp5 0.11.1 for an LFE5U-85F of
        speed grade 6 out of context, as our rows are, by this project in late 2026. ``published``: its authors' own.
    pairs_per_clock
        By its description.
    error
        In words, for they do not measure alike.
    """

    design: str
    what: str
    kind: Literal["lane", "engine", "core"]
    figures: Figures
    comb: int | None = None
    lut: int | None = None
    ff: int | None = None
    dsp: int | None = None
    block_ram: int | None = None
    clock_mhz: float | None = None
    pairs_per_clock: float | None = None
    error: str = ""

    @property
    def megapairs(self) -> float | None:
        """Million pairs per second at its clock."""
        if self.clock_mhz is None or self.pairs_per_clock is None:
            return None
        return self.clock_mhz * self.pairs_per_clock


def rivals() -> list[Rival]:
    """All of them, from ``rivals.json``."""
    text = files("ropewalk_cli.area").joinpath("rivals.json").read_text(encoding="utf-8")
    return [Rival(**entry) for entry in json.loads(text)]
