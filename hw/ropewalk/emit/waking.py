"""Wakes every combinational block of emitted Verilog at time 0.

``always @*`` runs when something that it reads changes. A block whose inputs have the values of their declarations, and
keep them, would never run in an event-driven simulator, and what it drives would stay undefined. Yosys gives blocks a
signal to wake them, but with its value in the declaration, which is no event (IEEE 1800); and blocks of one statement
have none.
"""

import re

_MODULE = re.compile(r"^module .*?^endmodule\n", re.MULTILINE | re.DOTALL)
_SIGNAL = re.compile(r"^  reg (?P<name>\\\$auto\$verilog_backend\S+) += 0;\n", re.MULTILINE)
_ONE_STATEMENT = re.compile(r"^  always @\*\n    (?P<statement>[^\n]+;)\n", re.MULTILINE)
_HEAD = re.compile(r"^module [^;]+;\n")
NAME = "\\$wake"


def woken(verilog: str) -> str:
    """``verilog`` as Yosys writes it, with every combinational block run at time 0."""
    return _MODULE.sub(lambda module: _woken_module(module[0]), verilog)


def _woken_module(module: str) -> str:
    declared = _SIGNAL.search(module)
    if declared:
        module = module.replace(declared[0], "").replace(declared["name"], NAME)
    module, alone = _ONE_STATEMENT.subn(
        lambda block: f"  always @* begin\n    if ({NAME} ) begin end\n    {block['statement']}\n  end\n", module
    )
    if not (declared or alone):
        return module
    # Verilator runs every block by itself, and warns of a delayed assignment at the start.
    signal = f"`ifdef VERILATOR\n  reg {NAME} = 0;\n`else\n  reg {NAME} ;\n  initial {NAME} <= 0;\n`endif\n"
    return _HEAD.sub(lambda head: head[0] + signal, module, count=1)
