"""What came of a build: the one record that ``report.json``, the table and the benchmark are made of."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .. import __version__
from .families import GW1N, GW2A
from .parts import Part
from .placement import Placement
from .registry import Board
from .room import needed
from .synthesis import MemoryUse, Synthesis
from .tools import Tool
from .unit import Unit
from .vivado import SCRIPT

OUT_OF_CONTEXT = "out of context: every port but the clock has a register, which comb and ff do not count"
NO_PLACEMENT = "area by Yosys alone: nothing here places this part, so there is no clock"
VIVADO = f"Vivado makes the bitstream: {SCRIPT} is the script for it, and neither it nor its timing was tried here"
MORE_THAN_SOLD = "more than its maker promises of this part, though nextpnr finds it there"
GOWIN_TIMING = (
    "nextpnr knows no timing of Gowin's multipliers and block RAMs: paths through them are missing from the clock"
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """What came of a build.

    Parameters
    ----------
    part, family, board, component
        What was built for what: ``board`` and ``component`` are None where there is none.
    source_sha256
        The SHA-256 of the files that were built: of each, by name, its name, its size and its bytes.
    seed
        The placer's.
    out_of_context
        Whether registers stand at the ports in place of pins.
    comb
        Look-up tables as the part has them, those of carry chains and RAM too (:attr:`.Placement.comb`).
    lut, ff, carry, dsp, block_ram, distributed_ram
        Cells of the netlist: plain look-up tables, registers outside of blocks, carry cells, multiplier blocks, block
        RAMs, and cells of RAM made of look-up tables.
    memories
        Every memory of the Verilog, and what it became.
    clock_mhz, clocks, critical_path
        The slowest clock; what each of them reaches; what limits the slowest. None where nothing places the part.
    target_mhz, targets
        The clock that was asked for, or None; and what that means for each clock.
    timing_met
        Whether every clock that was asked for is reached; None where none was, or nothing was placed.
    used, available
        What the placer counts of each kind of cell, registers at the boundary among them; what the part has of it.
    notes
        What a reader must know about these figures.
    seconds, tools
        How long each step took; the version of each tool.
    """

    part: str
    family: str
    board: str | None
    component: str | None
    source_sha256: str
    seed: int
    out_of_context: bool
    comb: int
    lut: int
    ff: int
    carry: int
    dsp: float
    block_ram: float
    distributed_ram: int
    memories: tuple[MemoryUse, ...]
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    tools: Mapping[str, str]
    target_mhz: float | None
    clock_mhz: float | None = None
    timing_met: bool | None = None
    clocks: Mapping[str, float] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    critical_path: tuple[str, ...] = ()
    used: Mapping[str, int] = field(default_factory=dict)
    available: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As ``report.json`` has it."""
        values = asdict(self)
        for name in ("dsp", "block_ram"):
            if values[name] == int(values[name]):
                values[name] = int(values[name])
        for name in ("clocks", "targets"):
            values[name] = {clock: round(mhz, 2) for clock, mhz in values[name].items()}
        values["clock_mhz"] = min(values["clocks"].values(), default=None)
        return values

    @property
    def missed(self) -> str:
        """Which clocks do not reach what they were asked to, in words."""
        return ", ".join(
            f"{name} reaches {self.clocks[name]:.1f} of {target:.1f} MHz"
            for name, target in self.targets.items()
            if self.clocks[name] < target
        )


def make_report(
    unit: Unit,
    synthesis: Synthesis,
    placement: Placement | None,
    part: Part,
    *,
    board: Board | None,
    seed: int,
    target_mhz: float | None,
    seconds: Mapping[str, float],
    called: Sequence[Tool],
) -> Report:
    """The report of a build of ``unit``, which became ``synthesis``, and ``placement`` where the part is placed."""
    notes = []
    if placement is None:
        notes.append(NO_PLACEMENT)
        if board is not None:
            notes.append(VIVADO)
    elif board is None:
        notes.append(OUT_OF_CONTEXT)
    if placement is not None and part.family in (GW1N, GW2A):
        notes.append(GOWIN_TIMING)
    if part.sold is not None and (over := needed(synthesis).over(part.sold)):
        notes.append(f"{', '.join(f'{wanted:g} of {sold:g} {kind}' for kind, wanted, sold in over)}: {MORE_THAN_SOLD}")
    placed: dict[str, Any] = {}
    if placement is not None:
        names = ("clock_mhz", "clocks", "critical_path", "used", "available")
        placed = {name: getattr(placement, name) for name in names}
        if target_mhz is not None:
            placed["targets"] = placement.targets
            placed["timing_met"] = all(mhz >= placement.targets[name] for name, mhz in placement.clocks.items())
    return Report(
        part=part.name,
        family=part.family.name,
        board=board.name if board is not None else None,
        component=unit.component,
        source_sha256=unit.sha256,
        seed=seed,
        out_of_context=board is None,
        comb=placement.comb if placement is not None else synthesis.comb,
        lut=synthesis.luts,
        ff=synthesis.registers,
        carry=synthesis.carries,
        dsp=synthesis.multipliers,
        block_ram=synthesis.block_rams,
        distributed_ram=synthesis.distributed_rams,
        memories=synthesis.memories,
        target_mhz=target_mhz,
        notes=tuple(notes),
        seconds=dict(seconds),
        tools={
            "ropewalk": __version__,
            "python": platform.python_version(),
            **{tool.name.lower(): tool.version() for tool in called},
        },
        **placed,
    )
