"""Yosys scripts on emitted files, and what must not pass."""

import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from ..errors import BuildError
from . import tools

TIMEOUT = 3600
"""Seconds after which a run of Yosys is given up."""

_FATAL = re.compile(
    r"Driver-driver conflict|multiple conflicting drivers|(?<!No )latch inferred|found logic loop", re.IGNORECASE
)
_UNDRIVEN = re.compile(r"is used but has no driver")
_MOST_LINES = 8
"""So many lines of what a problem is made of are repeated in a message; the log has all."""


class SynthesisError(BuildError):
    """The Verilog does not become a sound netlist."""


def run_yosys(folder: Path, files: Mapping[str, str], script: str, *, timeout: float = TIMEOUT) -> str:
    """Write ``files`` into ``folder`` and run a Yosys script there; gives its log.

    Raises
    ------
    BuildError
        If Yosys takes more than ``timeout`` seconds.
    SynthesisError
        If Yosys refuses it, crashes, or reports what must not pass.
    """
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "script.ys").write_text(script, encoding="utf-8")
    code, log = tools.run(tools.YOSYS, ["script.ys"], folder, timeout=timeout)
    # What has no driver is for `check -assert` to judge, whose own message only counts.
    if fatal := _FATAL.search(log) or (_UNDRIVEN.search(log) if code else None):
        raise SynthesisError(f"Yosys reports: {_problem(log, fatal.start())}", log)
    if code:
        raise SynthesisError(str(tools.failure(tools.YOSYS, code, log)), log)
    return log


def _problem(log: str, place: int) -> str:
    """The line of ``log`` at ``place``, and where it ends in a colon the indented ones that say what it is about."""
    lines = log[log.rfind("\n", 0, place) + 1 :].split("\n")
    said = [lines[0].strip()]
    if said[0].endswith(":"):
        about = list(takewhile(lambda line: line.startswith("  "), lines[1:]))
        said += [line.strip() for line in about[:_MOST_LINES]]
        said += ["..."] if len(about) > _MOST_LINES else []
    return f"{said[0]} {'; '.join(said[1:])}".strip(" .")
