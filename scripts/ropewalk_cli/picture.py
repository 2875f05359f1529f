"""The demo's picture: how far the engine is from the exact angle, and how far the usual float32 software is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")  # no screen is needed

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

ENGINE, REAL, SOFTWARE, INK, QUIET = "#0b6e99", "#e08a00", "#c0392b", "#222222", "#8a8a8a"
BIN = 0.05  # LSB


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Worst error against position, for one base: ``position`` rising, the errors in LSB beside it."""

    label: str
    position: NDArray[np.float64]
    engine: NDArray[np.float64]
    software: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Story:
    """Everything that the picture shows; errors are in LSB of the result."""

    model: str
    data_width: int
    random_errors: NDArray[np.float64]
    real_errors: NDArray[np.float64]
    curves: tuple[Curve, ...]
    limit: int
    """Positions of the model's own context, for orientation."""


def draw(story: Story, path: Path) -> None:
    """Draw ``story`` as a PNG file at ``path``."""
    settings: dict[Any, Any] = {
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "text.color": INK,
        "font.family": "DejaVu Sans",
    }
    with plt.rc_context(settings):
        figure, (left, right) = plt.subplots(1, 2, figsize=(14, 6.2), width_ratios=(1, 1.35))
        figure.suptitle(
            f"{story.model}: the generated Verilog against the exact rotation ({story.data_width}-bit words)",
            fontsize=15,
            fontweight="bold",
            x=0.02,
            ha="left",
        )
        _histogram(left, story)
        _positions(right, story)
        figure.text(
            0.02,
            0.015,
            f"1 LSB is the last bit of a {story.data_width}-bit word; random words reach 70 % of full scale; "
            "the exact rotation is computed with 96-bit angles.\nThe float32 software is Hugging Face's arithmetic on "
            "the same words, its result not rounded to a word. Each point of a curve is the worst of some thousand "
            "elements.",
            fontsize=9,
            color=QUIET,
        )
        figure.tight_layout(rect=(0, 0.06, 1, 0.97), w_pad=3)
        figure.savefig(path, dpi=110)
        plt.close(figure)


def _histogram(axes: Axes, story: Story) -> None:
    worst = max(float(np.abs(errors).max()) for errors in (story.random_errors, story.real_errors))
    edge = BIN * np.ceil(max(worst + BIN, 1.0) / BIN)
    bins = np.linspace(-edge, edge, round(2 * edge / BIN) + 1)
    for errors, label, colour, filled in (
        (story.random_errors, "random words, positions to 16,777,215", ENGINE, True),
        (story.real_errors, "queries and keys of the real model", REAL, False),
    ):
        axes.hist(
            errors,
            bins=bins.tolist(),
            weights=np.full(errors.size, 100.0 / errors.size),
            histtype="stepfilled" if filled else "step",
            color=colour,
            alpha=0.75 if filled else 1.0,
            linewidth=1.8,
            label=f"{label}\n({_count(errors.size)} elements, worst {np.abs(errors).max():.2f} LSB)",
        )
    axes.set_yscale("log")
    axes.set_ylim(1e-5, 2000)
    axes.set_xlim(-edge, edge)
    for side in (-0.5, 0.5):
        axes.plot([side, side], [1e-5, 20], color=INK, linestyle=":", linewidth=1.2)
    axes.text(0.0, 25, "perfect rounding stays within \u00b10.5", color=INK, fontsize=9, ha="center")
    axes.set_title("How far each result is from the exact one", loc="left", fontsize=12)
    axes.set_xlabel("error of a rotated element (LSB of a word)")
    axes.set_ylabel(f"share of elements per {BIN:g} LSB (%)")
    axes.yaxis.set_major_locator(FixedLocator([1e-4, 1e-2, 1, 100]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4f}".rstrip("0").rstrip(".")))
    axes.legend(loc="upper left", frameon=False, fontsize=9.5)


def _positions(axes: Axes, story: Story) -> None:
    for curve, style in zip(story.curves, ("-", "--", ":", "-."), strict=False):
        axes.plot(curve.position, curve.software, style, color=SOFTWARE, linewidth=1.8)
        axes.plot(curve.position, curve.engine, style, color=ENGINE, linewidth=1.8)
        axes.plot([], [], style, color=INK, label=curve.label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(1, 2.0**24)
    axes.set_ylim(0.005, 3e5)
    axes.xaxis.set_major_locator(FixedLocator([1, 16, 256, 4096, 65536, 1 << 20, (1 << 24) - 1]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
    axes.axhline(0.5, color=INK, linestyle=":", linewidth=1.2)
    axes.text(2.0**23.8, 0.48, "0.5: rounding to a word alone", color=INK, fontsize=9, ha="right", va="top")
    axes.axvline(story.limit, color=QUIET, linestyle=":", linewidth=1.2)
    axes.text(
        story.limit * 0.9, 0.006, f"the model itself\nends at {story.limit:,} ", color=QUIET, fontsize=9, ha="right"
    )
    software = max(float(curve.software.max()) for curve in story.curves)
    engine = max(float(curve.engine.max()) for curve in story.curves)
    bold = {"fontweight": "bold", "fontsize": 11.5}
    axes.text(2.0**23.8, 12, f"float32 software:\nworst {software:,.0f} LSB", color=SOFTWARE, ha="right", **bold)
    axes.text(
        2.0**23.8,
        0.05,
        f"this engine: worst {engine:.2f} LSB\nup to the last position",
        color=ENGINE,
        ha="right",
        **bold,
    )
    axes.set_title("Worst error against position", loc="left", fontsize=12)
    axes.set_xlabel("position (tokens from the start)")
    axes.set_ylabel("worst error of a rotated element (LSB of a word)")
    axes.grid(True, which="major", color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", frameon=False, fontsize=10, title="frequencies of", alignment="left")


def _count(number: int) -> str:
    return f"{number / 1e6:.1f} million" if number >= 1e6 else f"{number:,}"
