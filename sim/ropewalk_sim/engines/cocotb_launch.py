"""Calls cocotb's runner, in a process of its own: ``python -m ropewalk_sim.engines.cocotb_launch JOB.json``.

The runner changes its behaviour under pytest, exits the process where it fails, and finds its tools through the
environment; :mod:`.cocotb_runner` gives it an environment of its own and reads the outcome from files.
"""

import json
import sys
from pathlib import Path
from typing import Any

from cocotb_tools.runner import get_runner

TOP = "ropewalk"
TIMESCALE = ("1ns", "1ps")  # without it Icarus refuses a clock of 10 ns


def build(simulator: str, verilog: str, target: str, arguments: list[str], top: str = TOP) -> None:
    """Compile ``verilog`` into the folder ``target``."""
    get_runner(simulator).build(
        sources=[verilog],
        hdl_toplevel=top,
        build_dir=target,
        build_args=arguments,
        timescale=TIMESCALE,
        always=True,
    )


def test(simulator: str, target: str, folder: str, arguments: list[str], module: str, top: str = TOP) -> None:
    """Run the bench ``module`` on what ``build`` left in ``target``, with ``folder`` as the current directory."""
    get_runner(simulator).test(
        hdl_toplevel=top,
        hdl_toplevel_lang="verilog",
        test_module=module,
        build_dir=target,
        test_dir=folder,
        results_xml=str(Path(folder) / "results.xml"),
        plusargs=arguments,
    )


def main(order: dict[str, Any]) -> None:
    """Carry out one order: ``action`` and its arguments."""
    try:
        {"build": build, "test": test}[order.pop("action")](**order)
    except RuntimeError as error:
        # The program that failed has said why; a traceback would push that out of sight.
        sys.exit(str(error))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
