"""The tables of the area benchmark: for a terminal, and as Markdown for the README and ``docs/area.md``."""

from collections.abc import Iterable, Sequence

from rich.table import Table

from ..console import table
from .measure import Area
from .rivals import Rival
from .rows import GROUPS, XILINX

SEEDS = 5
"""Of how many seeds a median is; where it is of others, the table says so."""

COLUMNS = (
    "part", "configuration", "COMB", "LUT", "FF", "DSP", "block RAM", "MHz", "latency", "worst error",
    "million/s",
)  # fmt: skip
RIVAL_COLUMNS = (
    "design", "configuration", "COMB", "LUT", "FF", "DSP", "block RAM", "MHz", "million pairs/s", "error", "figures",
)  # fmt: skip
LEFT = ("part", "configuration", "design", "error", "figures")


def area_cells(area: Area) -> list[str]:
    """The cells of a row under :data:`COLUMNS`; of a row that failed, the reason stands in place of the area."""
    if area.failed:
        return [short_part(area.part), f"{area.name}: {area.failed}", *["-"] * (len(COLUMNS) - 2)]
    clock = number(area.clock_mhz, 1)
    if area.clocks and len(area.clocks) != SEEDS:
        clock += f" ({len(area.clocks)} seed{'s' * (len(area.clocks) > 1)})"
    rate = "-" if area.mega_per_second is None else f"{area.mega_per_second:,.0f} {area.items}"
    error = "-" if area.worst_lsb is None else f"{area.worst_lsb:.2f} LSB"
    return [
        short_part(area.part), area.name, number(area.comb), number(area.lut), number(area.ff), number(area.dsp),
        number(area.block_ram), clock, number(area.latency), error, rate,
    ]  # fmt: skip


def rival_cells(rival: Rival) -> list[str]:
    """The cells of a rival under :data:`RIVAL_COLUMNS`."""
    counts = (rival.comb, rival.lut, rival.ff, rival.dsp, rival.block_ram, rival.clock_mhz)
    return [
        rival.design, rival.what, *(number(one) for one in counts),
        "-" if rival.megapairs is None else number(round(rival.megapairs, 1)), rival.error or "-", rival.figures,
    ]  # fmt: skip


def short_part(part: str) -> str:
    """A part without its package."""
    return part.split("-SG48")[0].replace("GW1NR-LV9QN88PC6/I5", "GW1NR-9C").replace("GW2A-LV18PG256C8/I7", "GW2A-18C")


def number(value: float | None, digits: int = 0) -> str:
    """A count or a clock, as short as it can be without loss."""
    if value is None:
        return "-"
    return f"{value:,.{digits}f}" if value == int(value) or digits else f"{value:,g}"


def shown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table for a terminal."""
    filled = table(*columns, left=LEFT)
    for row in rows:
        filled.add_row(*row)
    return filled


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruler = ["---" if column in LEFT else "---:" for column in columns]
    lines = [[cell.replace("|", "/") for cell in cells] for cells in (columns, ruler, *rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def opening_part(areas: Sequence[Area], rivals: Sequence[Rival]) -> str:
    """What the README holds: our rows, and below them the rivals that have a clock."""
    ours = markdown(COLUMNS, [area_cells(area) for area in areas if area.opening])
    others = markdown(RIVAL_COLUMNS, [rival_cells(rival) for rival in rivals if rival.clock_mhz is not None])
    return f"{ours}\nPublic designs that do part of this job:\n\n{others}"


def whole_part(areas: Sequence[Area], rivals: Sequence[Rival]) -> str:
    """What ``docs/area.md`` holds: a table for each group, the spread and the slowest paths, and all rivals."""
    parts = []
    for group in GROUPS:
        rows = [area for area in areas if area.group == group]
        if rows:
            parts.append(f"### {group.capitalize()}\n\n{markdown(COLUMNS, [area_cells(area) for area in rows])}")
    placed = [area for area in areas if area.clocks]
    if placed:
        paths = [[short_part(area.part), area.name, spread(area), path(area)] for area in placed]
        found = markdown(("part", "configuration", "slowest and fastest seed, MHz", "slowest path"), paths)
        parts.append(f"### Seeds and slowest paths\n\n{found}")
    parts.append(f"### Rivals\n\n{markdown(RIVAL_COLUMNS, [rival_cells(rival) for rival in rivals])}")
    tools = sorted({f"{name} {version}" for area in areas for name, version in area.tools.items()})
    if tools:
        parts.append(f"Built with {', '.join(tools)}.\n")
    if any(area.part == XILINX for area in areas):
        parts.append(f"{XILINX}: area by Yosys alone; nothing here places it, so there is no clock.\n")
    return "\n".join(parts)


def spread(area: Area) -> str:
    """The slowest and the fastest clock."""
    clocks = area.clocks.values()
    return f"{min(clocks):.1f} to {max(clocks):.1f}"


def path(area: Area) -> str:
    """The slowest path in the design's names, its ends only where it is long."""
    steps = list(dict.fromkeys(area.critical_path))
    if len(steps) > 4:
        steps = [*steps[:2], "...", *steps[-2:]]
    return " > ".join(f"`{step}`" if step != "..." else step for step in steps) or "-"
