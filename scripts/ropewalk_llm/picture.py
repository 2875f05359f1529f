"""The pictures of ``--perplexity`` and ``--sweep``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no screen is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, QUIET = "#222222", "#8a8a8a"
COLOURS = {"tensor": "#c0392b", "head": "#e08a00", "vector": "#0b6e99"}
SERIES = {
    "data": ("#0b6e99", "o", "data width"),
    "data, floor": ("#7fb8d0", "s", "data width, results floored"),
    "coefficient": ("#e08a00", "^", "coefficient width"),
    "phase": ("#c0392b", "v", "phase bits"),
}
LABELS = {"data": "data_width", "data, floor": "data_width", "coefficient": "coefficient_width", "phase": "phase_bits"}


@contextmanager
def _style() -> Iterator[None]:
    settings: dict[Any, Any] = {
        "font.size": 11,
        "font.family": "DejaVu Sans",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
    with plt.rc_context(settings):
        yield


def _save(figure: Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": ""})
    plt.close(figure)


def draw_perplexity(document: dict[str, Any], path: Path) -> None:
    """Perplexity and divergence against the data width, a curve for each way to scale."""
    with _style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5))
        for per, colour in COLOURS.items():
            rows = [row for row in document["rows"] if row["scale_per"] == per]
            if rows:
                widths = [row["data_width"] for row in rows]
                left.plot(widths, [row["perplexity"] for row in rows], "o-", color=colour, label=f"one scale per {per}")
                right.plot(widths, [row["kl_per_token"] for row in rows], "o-", color=colour)
        left.axhline(document["float_perplexity"], color=QUIET, linestyle="--", label="float")
        left.set_ylabel(f"perplexity on {document['text_tokens']:,} tokens")
        right.set_ylabel("KL divergence from the float run, nat per token")
        right.set_yscale("log")
        for axes in (left, right):
            axes.set_xlabel("data width, bits")
            axes.set_xticks(sorted({row["data_width"] for row in document["rows"]}))
            axes.grid(alpha=0.25)
        left.legend(frameon=False)
        _save(figure, path)


def draw_sweep(document: dict[str, Any], path: Path) -> None:
    """Divergence against width (left) and against look-up tables and registers (right), a curve for each series."""
    with _style():
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(18, 6), sharey=True)
        for series, (colour, marker, label) in SERIES.items():
            rows = [row for row in document["rows"] if row["series"] == series]
            divergence = [max(row["kl_per_token"], 1e-12) for row in rows]
            width = [row[LABELS[series]] for row in rows]
            for axes, across in (
                (left, width),
                (middle, [row["comb"] for row in rows]),
                (right, [row["ff"] for row in rows]),
            ):
                axes.plot(across, divergence, marker=marker, color=colour, label=label, markersize=5, linewidth=1.2)
                if axes is not left:
                    _name_points(axes, across, divergence, width, colour)
        left.set_yscale("log")
        left.set_ylabel(f"KL divergence from the float run, nat per token ({document['text_tokens']:,} tokens)")
        left.set_xlabel("width, bits")
        what = f"of {document['lanes']} lanes and the generator (ECP5)"
        middle.set_xlabel(f"look-up tables {what}")
        right.set_xlabel(f"registers {what}")
        for axes in (left, middle, right):
            axes.grid(alpha=0.25)
        left.legend(frameon=False)
        _save(figure, path)


def _name_points(axes: Axes, across: list[float], up: list[float], width: list[int], colour: str) -> None:
    """The width beside the first, the last, and every fourth point."""
    for place, value in enumerate(width):
        if place % 4 == 0 or place == len(width) - 1:
            axes.annotate(
                str(value),
                (across[place], up[place]),
                textcoords="offset points",
                xytext=(6, 4),
                fontsize=8,
                color=colour,
            )
