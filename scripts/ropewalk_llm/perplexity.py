"""``--perplexity``: what data widths and ways to scale do to the perplexity of a text, as a table and a picture."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from ropewalk.errors import InputError

from .metrics import Score
from .rotary import RotarySession
from .rotation import Rotation, ScalePer
from .session import Step
from .text import SAMPLE, read_text, windows

WIDTHS = (16, 12, 8)
SCALES: tuple[ScalePer, ...] = ("tensor", "head", "vector")

Case = tuple[int, ScalePer]


def cases_of(request: Any) -> list[Case]:
    """The widths and scales: all, or those that were asked for."""
    widths = (request.data_width,) if "data_width" in request.chosen else WIDTHS
    scales = (request.scale_per,) if "scale_per" in request.chosen else SCALES
    return [(width, per) for width in widths for per in scales]


def run_perplexity(session: RotarySession, request: Any, text: str | None, step: Step) -> dict[str, Any]:
    """The document of ``--perplexity``."""
    engine = request.engine_or("model")
    if engine.name == "float" or request.folder is not None:
        raise InputError("--perplexity makes its own engines: --engine model or verilator, and no --design")
    name = SAMPLE if request.text is None else request.text
    cut = windows(session.loaded, read_text(SAMPLE) if text is None else text, context=request.window,
                  most=request.text_tokens)  # fmt: skip
    rotations: dict[Case, Rotation] = {}
    for width, per in cases_of(request):
        step(f"the {width}-bit engine, one scale per {per}")
        made = session.engine(replace(engine, widths=replace(engine.widths, data=width), per=per))
        assert made is not None
        rotations[width, per] = made
    own, found = session.scores(cut, rotations, step)
    rows = [row_of(case, found[case], rotations[case]) for case in rotations]
    from .picture import draw_perplexity

    target = prepared(request.target)
    document = {
        "engine": engine.name,
        "text_name": name,
        "text_tokens": own.predicted,
        "window": request.window,
        "float_perplexity": own.perplexity,
        "rows": rows,
        "differing_bits": sum(one.statistics.differing_bits for one in rotations.values())
        if engine.name == "verilator"
        else None,
        "table": table_of(own, rows),
    }
    draw_perplexity(document, target / "perplexity.png")
    (target / "perplexity.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return document | {"written": [str(target / "perplexity.png"), str(target / "perplexity.json")]}


def row_of(case: Case, found: Score, rotation: Rotation) -> dict[str, Any]:
    """One line of the table."""
    return {
        "data_width": case[0],
        "scale_per": case[1],
        "perplexity": found.perplexity,
        "kl_per_token": found.kl_per_token,
        "worst_error_lsb": rotation.statistics.worst_lsb,
        "rotations": rotation.statistics.rotations,
    }


def table_of(own: Score, rows: list[dict[str, Any]]) -> list[str]:
    """The table as text."""
    return [
        f"Perplexity on {own.predicted:,} tokens; divergence from the float run in nat per token:",
        f"{'data':>6}  {'one scale per':<14} {'perplexity':>10}  {'KL':>9}  {'worst error':>11}",
        f"{'float':>6}  {'':<14} {own.perplexity:>10.4f}  {'':>9}  {'':>11}",
        *(
            f"{row['data_width']:>6}  {row['scale_per']:<14} {row['perplexity']:>10.4f}  {row['kl_per_token']:>9.2e}  "
            f"{row['worst_error_lsb']:>7.3f} LSB"
            for row in rows
        ),
    ]


def prepared(folder: Path) -> Path:
    """``folder``, made where it is missing; raises ``InputError`` where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} cannot be made: {error.strerror}") from None
    return folder
