"""Yosys scripts on emitted files, and what must not pass."""

import re
from collections.abc import Mapping
from pathlib import Path

from ..errors import BuildError
from . import tools

TIMEOUT = 3600
"""Seconds after which a run of Yosys is given up."""

_FATAL = re.compile(
    r"Driver-driver conflict|multiple conflicting drivers|(?<!No )latch inferred|found logic loop", re.IGNORECASE
)


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
    if fatal := _FATAL.search(log):
        line = log[log.rfind("\n", 0, fatal.start()) + 1 :].split("\n", 1)[0]
        raise SynthesisError(f"Yosys reports: {line.strip()}", log)
    if code:
        raise SynthesisError(str(tools.failure(tools.YOSYS, code, log)), log)
    return log
