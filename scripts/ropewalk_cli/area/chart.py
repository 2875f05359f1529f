"""The chart of the area benchmark: clocks on the same part, ours beside the rivals', with what each takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no screen is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from .measure import Area
from .rivals import Rival
from .rows import ECP5, ENGINES, LANES

OURS, THEIRS, INK, QUIET = "#0b6e99", "#c0392b", "#222222", "#8a8a8a"
ROOM = 1.65
"""How much wider than the longest bar the axes are: what is said of a bar stands behind it."""


@dataclass(frozen=True)
class Bar:
    """A bar: its label, its length, what is said of it, and whether it is ours."""

    label: str
    mhz: float
    said: str
    ours: bool


def bars(areas: Sequence[Area], rivals: Sequence[Rival], group: str, kinds: tuple[str, ...]) -> list[Bar]:
    """Those of a group on the ECP5, and the rivals of its kinds that were measured there, the fastest first."""
    found = [
        Bar(_wrapped(area.name), area.clock_mhz, _said(area), True)
        for area in areas
        if area.opening and area.group == group and area.part == ECP5 and area.clock_mhz is not None
    ]
    found += [
        Bar(_wrapped(f"{one.design}: {one.what}"), one.clock_mhz, _said_of_rival(one), False)
        for one in rivals
        if one.kind in kinds and one.figures == "measured" and one.clock_mhz is not None
    ]
    return sorted(found, key=lambda bar: -bar.mhz)


def draw(areas: Sequence[Area], rivals: Sequence[Rival], path: Path, *, note: str = "") -> None:
    """Draw the chart as an SVG or PNG file; ``note`` is kept in an SVG's description. Same data, same bytes."""
    lanes = bars(areas, rivals, LANES, ("lane", "core"))
    engines = bars(areas, rivals, ENGINES, ("engine",))
    settings: dict[Any, Any] = {
        "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
        "axes.edgecolor": QUIET, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "text.color": INK,
        "font.family": "DejaVu Sans", "svg.hashsalt": "ropewalk",
    }  # fmt: skip
    with plt.rc_context(settings):
        heights = [max(1, len(lanes)), max(1, len(engines))]
        figure, (upper, lower) = plt.subplots(
            2, 1, figsize=(13, 2.2 + 0.52 * sum(heights)), height_ratios=heights, layout="constrained"
        )
        figure.suptitle(
            "Clock on a Lattice LFE5U-85F of speed grade 6, nextpnr 0.11, out of context",
            fontsize=14, fontweight="bold", x=0.01, ha="left",
        )  # fmt: skip
        most = max((bar.mhz for bar in (*lanes, *engines)), default=1.0)
        _bars(upper, lanes, "One lane, and cores that make sines or rotate", most)
        _bars(lower, engines, "Whole engines", most)
        lower.set_xlabel("MHz after place and route; ours: median of the seeds")
        upper.scatter([], [], marker="s", s=70, color=OURS, label="Ropewalk")
        upper.scatter([], [], marker="s", s=70, color=THEIRS, label="public designs")
        upper.legend(loc="lower right", frameon=False)
        metadata = {"Date": None, "Description": note} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=110, metadata=metadata)
        plt.close(figure)


def _bars(axes: Axes, found: list[Bar], title: str, most: float) -> None:
    places = range(len(found))
    axes.barh(places, [bar.mhz for bar in found], height=0.62, color=[OURS if bar.ours else THEIRS for bar in found])
    for place, bar in zip(places, found, strict=True):
        clock = round(bar.mhz, 1 if bar.mhz < 50 else None)
        axes.text(bar.mhz + most * 0.01, place, f"{clock:g} MHz", va="center", fontweight="bold")
        axes.text(bar.mhz + most * 0.14, place, bar.said, va="center", color=INK, fontsize=9)
    axes.set_yticks(places, [bar.label for bar in found], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlim(0, most * ROOM)
    axes.set_xticks(range(0, int(most) + 1, 50))
    axes.set_title(title, loc="left", fontsize=11.5)


def _wrapped(label: str) -> str:
    """A label of two lines where it is long."""
    words, first = label.split(" "), ""
    if len(label) <= 44:
        return label
    while words and len(first) + len(words[0]) < max(44, len(label) // 2 + 2):
        first = f"{first} {words.pop(0)}".lstrip()
    return f"{first}\n{' '.join(words)}" if words else first


def _said(area: Area) -> str:
    error = "" if area.worst_lsb is None else f", {area.worst_lsb:.2f} LSB"
    return _cells(area.comb, "COMB", area.dsp, area.block_ram) + error


def _said_of_rival(rival: Rival) -> str:
    cells = (rival.comb, "COMB") if rival.comb is not None else (rival.lut, "LUT")
    return _cells(*cells, rival.dsp, rival.block_ram) + (f", {rival.error}" if rival.error else "")


def _cells(logic: float | None, name: str, dsp: float | None, block_ram: float | None) -> str:
    said = [] if logic is None else [f"{logic:,} {name}"]
    said += [] if dsp is None else [f"{dsp:g} MULT"]
    said += [f"{block_ram:g} block RAM"] if block_ram else []
    return ", ".join(said)
