"""``--sweep``: what each width of an engine costs and gives, so that a person can choose.

One width at a time is changed, the others stay at what the command line says; data widths twice, with both roundings.
"""

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from ropewalk.errors import InputError

from .area import Area, area_of
from .design import Widths, design_of
from .perplexity import prepared
from .rotary import RotarySession
from .rotation import Rotation
from .session import Step
from .text import SAMPLE, read_text, windows

TOKENS = 200
"""Tokens of the text that are read where the command line does not say how many."""

DATA = tuple(range(6, 19))
COEFFICIENT = tuple(range(8, 19))
PHASE = tuple(range(16, 49, 4))


class Point(NamedTuple):
    """A place of a series, and the widths there."""

    series: str
    value: int
    widths: Widths


def points_of(base: Widths) -> list[Point]:
    """All points of a sweep around ``base``."""
    up = replace(base, rounding="half-up")
    return [
        *(Point("data", value, replace(up, data=value)) for value in DATA),
        *(Point("data, floor", value, replace(base, data=value, rounding="floor")) for value in DATA),
        *(Point("coefficient", value, replace(base, coefficient=value)) for value in COEFFICIENT),
        *(Point("phase", value, replace(base, phase=value)) for value in PHASE),
    ]


def run_sweep(session: RotarySession, request: Any, text: str | None, step: Step) -> dict[str, Any]:
    """The document of ``--sweep``."""
    engine = request.engine_or("model")
    if engine.name != "model" or request.folder is not None:
        raise InputError("--sweep makes its own engines, and runs the model: no --engine but model, and no --design")
    most = TOKENS if request.text_tokens is None else request.text_tokens
    cut = windows(session.loaded, read_text(SAMPLE) if text is None else text, context=request.window, most=most)
    points = points_of(request.widths)
    rotations = {
        widths: Rotation(design_of(session.geometry, widths), per=request.scale_per)
        for widths in dict.fromkeys(point.widths for point in points)
    }
    target = prepared(request.target)
    own, found = session.scores(cut, rotations, step)
    areas: dict[Widths, Area] = {}
    for number, (widths, rotation) in enumerate(rotations.items(), start=1):
        step(f"area {number} of {len(rotations)}")
        areas[widths] = area_of(rotation.design)
    rows = [
        {
            "series": point.series,
            **{f"{name}_width" if name != "phase" else "phase_bits": value
               for name, value in asdict(point.widths).items() if name != "rounding"},
            "rounding": point.widths.rounding,
            "kl_per_token": found[point.widths].kl_per_token,
            "perplexity": found[point.widths].perplexity,
            "worst_error_lsb": rotations[point.widths].statistics.worst_lsb,
            **areas[point.widths]._asdict(),
        }
        for point in points
    ]  # fmt: skip
    document = {
        "engine": engine.name,
        "text_name": SAMPLE if request.text is None else request.text,
        "text_tokens": own.predicted,
        "scale_per": request.scale_per,
        "lanes": next(iter(rotations.values())).design.lanes,
        "float_perplexity": own.perplexity,
        "rows": rows,
    }
    from .picture import draw_sweep

    draw_sweep(document, target / "sweep.png")
    (target / "sweep.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    write_csv(rows, target / "sweep.csv")
    written = [str(target / name) for name in ("sweep.png", "sweep.json", "sweep.csv")]
    return document | {"table": table_of(document), "written": written}


def write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    """The rows, for a spreadsheet."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table_of(document: dict[str, Any]) -> list[str]:
    """The table as text."""
    return [
        f"Divergence on {document['text_tokens']:,} tokens against the area of {document['lanes']} lanes and the "
        f"generator on an ECP5, estimated by synthesis; perplexity of the float run "
        f"{document['float_perplexity']:.4f}:",
        f"{'series':<12} {'data':>4} {'coeff.':>6} {'phase':>5} {'KL, nat/token':>13} {'perplexity':>10} "
        f"{'worst, LSB':>10} {'COMB':>6} {'FF':>6} {'DSP':>4}",
        *(
            f"{row['series']:<12} {row['data_width']:>4} {row['coefficient_width']:>6} {row['phase_bits']:>5} "
            f"{row['kl_per_token']:>13.2e} {row['perplexity']:>10.4f} {row['worst_error_lsb']:>10.3f} "
            f"{row['comb']:>6,} {row['ff']:>6,} {row['dsp']:>4g}"
            for row in document["rows"]
        ),
    ]
