"""Measures a row: synthesis and placements, each kept by the digest of the Verilog, so that it is done once."""

import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from amaranth.hdl import Fragment
from ropewalk.boards.parts import Part, part_of
from ropewalk.boards.placement import Placement, place
from ropewalk.boards.synthesis import Synthesis, synthesise
from ropewalk.boards.tools import YOSYS
from ropewalk.design import Design
from ropewalk.designs.any_design import AnyDesign
from ropewalk.emit.components import CLOCK, component_files
from ropewalk.emit.folder import DESCRIPTION, design_files
from ropewalk.errors import BuildError, InputError
from ropewalk.gateware.rotator import RotatorLane
from ropewalk.gateware.streamed_rotator import StreamedRotator
from ropewalk_sim.engines.cache import cache_folder

from ..console import one_line
from .accuracy import worst_lsb
from .rows import Row

MOST_SAID = 160
"""Characters of the reason why a row failed."""

LANE = {"rotator": StreamedRotator, "lane": RotatorLane}
"""The components that are one lane: they take pairs and row entries, and so state their own latency."""

KEPT = "area"
"""The folder in the cache, of one JSON file for each synthesis and each placement."""


@dataclass(frozen=True, kw_only=True)
class Area:
    """What came of a row.

    Parameters
    ----------
    part, name, group, opening
        The row's.
    comb
        Look-up tables as the part has them, those of carry chains and RAM too; by the placer where there is one.
    lut, ff, dsp, block_ram
        Plain look-up tables, registers outside of blocks, multiplier blocks, block RAMs: of the netlist.
    clock_mhz, clocks
        The median; the clock of each seed.
    critical_path
        Of the slowest seed.
    latency
        Clocks from a descriptor of an idle unit to its first beat, or from a beat to its result for a lane alone.
    worst_lsb
        Against the exact result, of the words of ``verify``'s own trial.
    items, items_per_clock
        What is made (pairs, scores, elements), and how many per clock in the steady state.
    sha256, tools
        Of the Verilog and its memory files; the versions of what built it.
    failed
        Why there is nothing of all this; empty where there is.
    """

    part: str
    name: str
    group: str
    opening: bool
    comb: int | None = None
    lut: int | None = None
    ff: int | None = None
    dsp: float | None = None
    block_ram: float | None = None
    clock_mhz: float | None = None
    clocks: dict[str, float] = field(default_factory=dict)
    critical_path: tuple[str, ...] = ()
    latency: int | None = None
    worst_lsb: float | None = None
    items: str = ""
    items_per_clock: float | None = None
    sha256: str = ""
    tools: dict[str, str] = field(default_factory=dict)
    failed: str = ""

    @property
    def key(self) -> str:
        """The row's."""
        return f"{self.part}: {self.name}"

    @property
    def mega_per_second(self) -> float | None:
        """Millions of items per second at the median clock."""
        if self.clock_mhz is None or self.items_per_clock is None:
            return None
        return self.clock_mhz * self.items_per_clock


def measure(row: Row, seeds: int, *, folder: Path | None = None, done: Callable[[], None] = lambda: None) -> Area:
    """Measure ``row`` with ``seeds`` placements; what was measured before is taken from ``folder``.

    ``done`` is called after the synthesis and after each placement. A row that is refused, or that a tool cannot build,
    comes back with that reason.
    """
    known: dict[str, Any] = {
        "part": row.part, "name": row.name, "group": row.group, "opening": row.opening,
    }  # fmt: skip
    try:
        return _measure(row, seeds, known, Kept(cache_folder() / KEPT if folder is None else folder), done)
    except (BuildError, InputError) as error:
        return Area(**known, failed=one_line(error)[:MOST_SAID])


def _measure(row: Row, seeds: int, known: dict[str, Any], kept: "Kept", done: Callable[[], None]) -> Area:
    part = part_of(row.part)
    design, words = row.make()
    # A lane alone needs nothing of the engine's folder.
    folder_files = {} if row.component in LANE else design_files(design, words)
    files = folder_files if row.component is None else component_files(design, row.component)
    files = {name: text for name, text in files.items() if name == "ropewalk.v" or name.endswith(".hex")}
    clock = "aclk" if row.component is None else CLOCK
    tools = {tool.name.lower(): tool.version() for tool in (YOSYS, part.placer) if tool is not None}
    build = _Build(files, part, clock, {"yosys": tools["yosys"]}, tools, kept)
    made = build.synthesis_facts()
    done()
    placements = []
    for seed in range(1, (seeds if part.placer is not None else 0) + 1):
        placements.append(build.placement_facts(seed))
        done()
    slowest = min(placements, key=lambda one: one["clock_mhz"], default=None)
    return Area(
        **known,
        **{name: made[name] for name in ("lut", "ff", "dsp", "block_ram")},
        comb=placements[0]["comb"] if placements else made["comb"],
        clock_mhz=round(median(one["clock_mhz"] for one in placements), 1) if placements else None,
        clocks={str(seed): round(one["clock_mhz"], 1) for seed, one in enumerate(placements, 1)},
        critical_path=tuple(slowest["critical_path"]) if slowest else (),
        latency=_latency(row, design, folder_files),
        worst_lsb=worst_lsb(design, folder_files),
        **_rate(row, design),
        sha256=build.sha256,
        tools=tools,
    )


def _latency(row: Row, design: AnyDesign, files: dict[str, str]) -> int:
    """What the folder states of the unit; of a lane alone, what the component states."""
    if row.component in LANE:
        assert isinstance(design, Design)
        lane = LANE[row.component](design)
        Fragment.get(lane, None)  # or it would be said that it is never used
        return lane.latency
    return json.loads(files[DESCRIPTION])["derived"]["latency"]


def _rate(row: Row, design: AnyDesign) -> dict[str, Any]:
    """What a unit makes, and how many of it per clock where neither side waits, as the design states it."""
    if isinstance(design, Design):
        per_clock = 1.0 if row.component in LANE else design.lanes * design.beats_per_clock
        return {"items": "pairs", "items_per_clock": per_clock}
    beats = getattr(design, "beats_per_clock", 1.0)
    return {"items": "scores" if row.name.startswith("ALiBi") else "elements", "items_per_clock": design.lanes * beats}


class Kept:
    """A folder of JSON files, each named after the digest of what it is the result of. Written whole or not at all."""

    def __init__(self, folder: Path):
        self._folder = folder

    def get(self, *what: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What ``make`` gave for ``what``, now or in an earlier run."""
        digest = hashlib.sha256("\n".join(what).encode()).hexdigest()
        path = self._folder / f"{digest[:32]}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not there, or cut off by somebody
            pass
        result = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self._folder, suffix=".tmp", delete=False, encoding="utf-8") as file:
            file.write(json.dumps(result))
        Path(file.name).replace(path)
        return result


class _Build:
    """The files of a row on its part; the synthesis is done when a placement lacks it."""

    def __init__(
        self, files: dict[str, str], part: Part, clock: str, yosys: dict[str, str], tools: dict[str, str], kept: Kept
    ):
        self._files, self._part, self._clock, self._kept = files, part, clock, kept
        self._yosys, self._tools = json.dumps(yosys), json.dumps(tools)
        self._made: Synthesis | None = None
        digest = hashlib.sha256()
        for name, text in sorted(files.items()):
            digest.update(f"{name}\n{len(text)}\n{text}".encode())
        self.sha256 = digest.hexdigest()

    def synthesis_facts(self) -> dict[str, Any]:
        """The counts of the netlist."""
        return self._kept.get("synthesis", self.sha256, self._part.family.command, self._yosys, make=self._synthesise)

    def placement_facts(self, seed: int) -> dict[str, Any]:
        """What the placer made of it with ``seed``."""
        options = " ".join(self._part.placer_options)
        what = (self._part.family.command, options, self._tools, str(seed))
        return self._kept.get("placement", self.sha256, *what, make=lambda: self._place(seed))

    @property
    def _synthesis(self) -> Synthesis:
        if self._made is None:
            self._made = synthesise(self._files, family=self._part.family, primitives=True)
        return self._made

    def _synthesise(self) -> dict[str, Any]:
        made = self._synthesis
        return {
            "comb": made.comb,
            "lut": made.luts,
            "ff": made.registers,
            "dsp": made.multipliers,
            "block_ram": made.block_rams,
        }

    def _place(self, seed: int) -> dict[str, Any]:
        placed: Placement = place(self._synthesis, clock=self._clock, seed=seed, part=self._part)
        return {"comb": placed.comb, "clock_mhz": placed.clock_mhz, "critical_path": list(placed.critical_path)}


def area_to_json(area: Area) -> dict[str, Any]:
    """As ``docs/area.json`` and ``--json`` have it; rates are there for readers and not read back."""
    values = asdict(area)
    rate = area.mega_per_second
    return {**values, "mega_per_second": None if rate is None else round(rate, 1)}


def area_from_json(values: dict[str, Any]) -> Area:
    """What :func:`area_to_json` made ``values`` from."""
    fields = {name: value for name, value in values.items() if name != "mega_per_second"}
    return Area(**{**fields, "critical_path": tuple(values["critical_path"])})
