"""A whole build: synthesis, place and route, and on a board the bitstream; with a report of what came of it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import BuildError, InputError
from ..family import Family
from . import tools
from .bitstream import bitstream
from .parts import Part
from .placement import Placement, place
from .registry import Board
from .report import Report, make_report
from .room import check_room
from .synthesis import Synthesis, netlist_verilog, synthesise
from .unit import Unit
from .vivado import SCRIPT, vivado_script

NETLIST = "netlist.v"
"""The netlist as Verilog, of the cells of its family."""

Told = Callable[[str], None]
"""Is told the name of each step as it begins, and of what the placer does in its own."""

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Build:
    """A build: its report, its files by name, and what its tools printed.

    The files are the netlist, and for a board what it was made of (Verilog, memory files, pins) and its bitstream;
    where nothing here makes one, a script for the maker's tools. ``bitstreams`` names what a board is loaded with.
    """

    report: Report
    files: Mapping[str, bytes] = field(repr=False)
    log: str = field(repr=False)
    bitstreams: tuple[str, ...] = ()


class _Log:
    """What the steps of a build printed, and how long each took."""

    def __init__(self, told: Told):
        self._told = told
        self._parts: list[str] = []
        self.seconds: dict[str, float] = {}

    def step(self, name: str, work: Callable[[], _Result], printed: Callable[[_Result], str]) -> _Result:
        """Carry out a step, and keep what it ``printed``; a step that fails takes along what came before."""
        self._told(name)
        started = time.monotonic()
        try:
            result = work()
        except BuildError as error:
            self._parts.append(f"== {name}\n{error.log}\n")
            error.log = self.text
            raise
        self.seconds[name] = round(time.monotonic() - started, 2)
        self._parts.append(f"== {name}: {self.seconds[name]} s\n{printed(result)}\n")
        return result

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self._parts)


def check_primitives(family: Family, part: Part) -> None:
    """Refuse Verilog that is made of the primitives of another family than that of ``part``."""
    if family not in ("generic", part.family.name):
        raise InputError(
            f"the Verilog is made of the primitives of {family}, and {part.name} is of {part.family.name}: "
            f"generate it with --family {part.family.name}, or generic"
        )


def build(
    unit: Unit,
    part: Part,
    *,
    board: Board | None = None,
    seed: int = 1,
    target_mhz: float | None = None,
    allow_timing_fail: bool = False,
    told: Told = lambda step: None,
) -> Build:
    """Build ``unit`` for ``part``: out of context, or with the pins of ``board``, whose part it is.

    Parameters
    ----------
    seed
        The placer's.
    target_mhz
        A clock to reach out of context, where there is none unless given. A board has its own.
    allow_timing_fail
        Whether a clock that is not reached is merely reported.
    told
        Is told each step, and each phase of place and route.

    Raises
    ------
    InputError
        If the unit uses the primitives of another family.
    RoomError
        If the part has no room for the unit.
    BuildError
        If a tool is missing or fails, the netlist is unsound, or a clock is not reached; its ``log`` has what the
        tools printed until then.
    """
    check_primitives(unit.family, part)
    packer = part.packer if board is not None else None
    called = [tool for tool in (tools.YOSYS, part.placer, packer) if tool is not None]
    for tool in called:
        tool.check()
    if board is not None:
        target_mhz = board.target_mhz
    log = _Log(told)
    synthesis = log.step(
        "synthesis",
        lambda: _synthesised(unit, part, pads=board is not None),
        lambda done: done.log,
    )
    verilog = log.step("netlist", lambda: netlist_verilog(synthesis), lambda done: "")
    files = {NETLIST: verilog.encode()}
    packed: dict[str, bytes] = {}
    placement: Placement | None = None
    if part.placer is not None:
        placement = log.step(
            "place and route",
            lambda: place(
                synthesis,
                clock=unit.clock,
                seed=seed,
                part=part,
                target_mhz=target_mhz,
                constraints=board.constraints() if board is not None else None,
                told=told,
            ),
            lambda done: done.log,
        )
    if packer is not None and board is not None and placement is not None:
        placed = placement.placed
        packed, _ = log.step(
            "bitstream",
            lambda: bitstream(placed, part, name=board.name, options=board.packer_options),
            lambda done: done[1],
        )
        files |= packed
    if board is not None:
        sources = {**unit.files, board.pins: board.constraints()}
        if packer is None:
            sources[SCRIPT] = vivado_script(unit.files, unit.module, board)
        files |= {name: text.encode() for name, text in sources.items()}
    report = make_report(
        unit,
        synthesis,
        placement,
        part,
        board=board,
        seed=seed,
        target_mhz=target_mhz,
        seconds=log.seconds,
        called=called,
    )
    if report.timing_met is False and not allow_timing_fail:
        path = " > ".join(report.critical_path) or "none with a name"
        raise BuildError(f"the timing is not met: {report.missed}; the slowest path: {path}", log.text)
    return Build(report, files, log.text, tuple(packed))


def _synthesised(unit: Unit, part: Part, *, pads: bool) -> Synthesis:
    """The netlist of ``unit``, which ``part`` may have room for."""
    synthesis = synthesise(
        unit.files,
        module=unit.module,
        family=part.family,
        primitives=unit.family == part.family.name,
        pads=pads,
    )
    check_room(synthesis, part)
    return synthesis
