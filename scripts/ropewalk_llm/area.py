"""What the widths of an engine take on a part: Yosys' counts for ECP5, of what depends on them. Kept in the cache.

That is its lanes and its generator of rows. The rest of an engine (buffers, slots, registers) hardly depends on
coefficients and phase; ``docs/area.md`` has whole engines. The counts are those before placement; the number of look-up
tables is nextpnr's but for a few.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ropewalk.boards.synthesis import synthesise
from ropewalk.boards.tools import YOSYS
from ropewalk.design import Design
from ropewalk.emit.components import component_files
from ropewalk_sim.engines.cache import cached

from .design import generator_digest

REPORT = "area.json"


class Area(NamedTuple):
    """Look-up tables (those of carry chains and RAM too), registers, multipliers, block RAMs."""

    comb: int
    ff: int
    dsp: float
    block_ram: float

    def plus(self, other: "Area", times: int = 1) -> "Area":
        """With so many of another one."""
        return Area(
            self.comb + times * other.comb,
            self.ff + times * other.ff,
            self.dsp + times * other.dsp,
            self.block_ram + times * other.block_ram,
        )


def area_of(design: Design) -> Area:
    """The lanes and the generator of ``design`` on an ECP5."""
    wanted = replace(design, family="ecp5")
    return component_area(wanted, "generator").plus(component_area(wanted, "lane"), design.lanes)


def component_area(design: Design, component: str) -> Area:
    """One component of ``design`` alone."""
    files = component_files(design, component)

    def build(folder: Path) -> None:
        made = synthesise(files, primitives=True)
        counts = Area(made.comb, made.registers, made.multipliers, made.block_rams)
        (folder / REPORT).write_text(json.dumps(counts))

    parts = [
        generator_digest(),
        YOSYS.version(),
        component,
        *(f"{name}\n{text}" for name, text in sorted(files.items())),
    ]
    return Area(*json.loads((cached("llm-area", parts, build) / REPORT).read_text()))
