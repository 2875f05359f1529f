"""Yosys on emitted files, in a process of its own, and what must not pass."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TIMEOUT = 600
"""Seconds after which a run of Yosys is given up."""

_FATAL = re.compile(
    r"Driver-driver conflict|multiple conflicting drivers|(?<!No )latch inferred|found logic loop", re.IGNORECASE
)


class SynthesisError(RuntimeError):
    """The Verilog does not become a sound netlist."""


def run_yosys(files: Mapping[str, str], folder: Path, script: str, module: str, timeout: float) -> str:
    """Write ``files`` into ``folder`` and run a Yosys script there; gives its log.

    In ``script`` stand ``{files}`` for the Verilog among the files and ``{top}`` for ``module``. Raises
    :class:`SynthesisError` if Yosys refuses it, crashes or takes more than ``timeout`` seconds.
    """
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    verilog = " ".join(sorted(name for name in files if name.endswith(".v")))
    (folder / "synthesis.ys").write_text(script.format(files=verilog, top="\\" + module), encoding="utf-8")
    try:
        result = subprocess.run(
            [sys.executable, "-m", "ropewalk.boards.yosys_worker", "synthesis.ys"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        raise SynthesisError(f"Yosys was not done after {timeout:g} s") from None
    log = result.stdout
    if fatal := _FATAL.search(log):
        line = log[log.rfind("\n", 0, fatal.start()) + 1 :].split("\n", 1)[0]
        raise SynthesisError(f"Yosys reports: {line.strip()}")
    if result.returncode:
        said = [line for line in log.splitlines() if line.strip()]
        told = next((line for line in reversed(said) if "ERROR" in line or "Error" in line), "".join(said[-1:]))
        raise SynthesisError(f"Yosys ended with {result.returncode}: {told.strip()}")
    return log
