"""Place and route of a netlist by nextpnr: area and clock, and on a board what the packer takes."""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import BuildError
from . import tools
from .boundary import add_boundary
from .critical_path import Names, clock_names, critical_path
from .families import ECP5, ICE40
from .parts import Part, part_of
from .room import check_placer
from .synthesis import Synthesis

DEFAULT_PART = "LFE5U-85F-6"

TIMEOUT = 7200

_PHASES = (
    (re.compile(r"Info: Creating initial \w+ placement"), "placing"),
    (re.compile(r"Info: Running simulated annealing placer"), "refining the placement"),
    (re.compile(r"Info: Routing \d+ arcs|Info: Running router2"), "routing"),
)
"""What nextpnr prints as it begins a long part of its work, and what that is."""

_REGISTERS_ALONE = re.compile(r"^Info: +(\d+) LCs used as DFF only$", re.MULTILINE)


class PlacementError(BuildError):
    """nextpnr does not place the netlist."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What nextpnr made of a netlist.

    Parameters
    ----------
    comb
        Look-up tables as the part has them, those of carry chains and RAM too, to which registers at the boundary add
        nothing: TRELLIS_COMB for ECP5, logic cells whose table or carry is used for iCE40, and what synthesis counts
        for Gowin.
    clock_mhz, clocks, targets
        The slowest clock; what each reaches; what nextpnr aimed at for each.
    critical_path
        What the slowest path goes through and has a name in the design, with the source first.
    used, available
        nextpnr's own count of each kind of cell, the boundary's among them; what the part has of it.
    placed
        The file for the packer; empty out of context.
    """

    seed: int
    comb: int
    clock_mhz: float
    clocks: Mapping[str, float]
    targets: Mapping[str, float]
    critical_path: tuple[str, ...]
    used: Mapping[str, int]
    available: Mapping[str, int]
    log: str = field(repr=False)
    placed: str = field(repr=False)


def place(
    synthesis: Synthesis,
    *,
    clock: str,
    seed: int,
    part: Part | None = None,
    target_mhz: float | None = None,
    constraints: str | None = None,
    timeout: float = TIMEOUT,
    told: Callable[[str], None] = lambda phase: None,
) -> Placement:
    """Place and route ``synthesis``, whose clock is the port ``clock``, on ``part`` (the LFE5U-85F-6 by default).

    Parameters
    ----------
    target_mhz
        What nextpnr aims at; by default more than it can reach.
    constraints
        The pins, in the language of the part's tools: LPF, PCF or CST. Without them the netlist is placed out of
        context: with a register at every port, without pins, and not for a packer.
    timeout
        Seconds after which nextpnr is given up.
    told
        Is told what nextpnr does: placing, refining the placement, routing.

    Raises
    ------
    RoomError
        If the part has no room for the netlist.
    PlacementError
        If nextpnr fails otherwise.
    BuildError
        If it is not installed, or takes longer than ``timeout`` seconds.
    """
    part = part_of(DEFAULT_PART) if part is None else part
    family = part.family
    if part.placer is None or family.register is None:
        raise BuildError(f"nothing here places a netlist on {part.name}")
    netlist = synthesis.netlist
    names = Names(netlist["modules"][synthesis.top], family)
    if constraints is None:
        netlist = deepcopy(netlist)
        add_boundary(netlist["modules"][synthesis.top], clock, family.register, ports=family is ECP5)
        if part.clock_pin:
            constraints = f'IO_LOC "{clock}" {part.clock_pin};\n'
        mode = ["--out-of-context"] if family is ECP5 else []
    else:
        mode = [family.placed_option, "placed"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "netlist.json").write_text(json.dumps(netlist), encoding="utf-8")
        options = [*part.placer_options, *mode, "--json", "netlist.json", "--report", "report.json"]
        if constraints is not None:
            (folder / "pins").write_text(constraints, encoding="utf-8")
            options += [word.format("pins") for word in family.pins_option]
        # It fails on timing of its own accord; here that is for the build to say, which knows the path then.
        options += ["--seed", str(seed), "--freq", f"{target_mhz or family.aim_mhz:g}", "--timing-allow-fail"]
        code, log = tools.run(part.placer, options, folder, timeout=timeout, heard=lambda line: _phase(line, told))
        if code:
            check_placer(part, log)
            raise PlacementError(str(tools.failure(part.placer, code, log)), log)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        placed = folder / "placed"
        text = placed.read_text(encoding="utf-8") if placed.exists() else ""
    used = {kind: count["used"] for kind, count in report["utilization"].items() if count["used"]}
    if not report["fmax"]:
        raise PlacementError("nextpnr found no path from a register to a register, and so no clock", log)
    clocks = clock_names(report["fmax"])
    slowest = min(report["fmax"], key=lambda one: report["fmax"][one]["achieved"])
    return Placement(
        seed=seed,
        comb=_comb(synthesis, used, log),
        clock_mhz=report["fmax"][slowest]["achieved"],
        clocks={clocks[one]: reached["achieved"] for one, reached in report["fmax"].items()},
        targets={clocks[one]: reached["constraint"] for one, reached in report["fmax"].items()},
        critical_path=critical_path(_slowest_path(report, slowest), names),
        used=used,
        available={kind: report["utilization"][kind]["available"] for kind in used},
        log=log,
        placed=text,
    )


def _phase(line: str, told: Callable[[str], None]) -> None:
    """Tell of the phase that ``line`` begins."""
    for begins, phase in _PHASES:
        if begins.match(line):
            told(phase)


def _comb(synthesis: Synthesis, used: Mapping[str, int], log: str) -> int:
    if synthesis.family is ECP5:
        return used["TRELLIS_COMB"]
    if synthesis.family is ICE40:
        alone = _REGISTERS_ALONE.search(log)
        if alone is None:
            raise PlacementError("nextpnr did not say how many logic cells hold nothing but a register", log)
        return used["ICESTORM_LC"] - int(alone[1])
    return synthesis.comb


def _slowest_path(report: Mapping[str, Any], clock: str) -> list[Mapping[str, Any]]:
    """The path that limits ``clock``."""
    for path in report["critical_paths"]:
        if path["from"].split(" ")[-1] == path["to"].split(" ")[-1] == clock:
            return path["path"]
    return []
