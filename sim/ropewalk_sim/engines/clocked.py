"""The module around an emitted top that is compiled with it: a register before each of its inputs.

What the clock loop sets takes effect with the next rising edge, like the output of a register. Nothing in the design
then depends on an input but through one, so the logic is evaluated once per clock, and not once more when inputs change
between two edges: a fifth of the time.
"""

import re
from typing import NamedTuple

CLOCKED = "clocked"
"""The name of the module."""

CLOCK = "aclk"


class Port(NamedTuple):
    """A port of the top: ``input`` or ``output``, its bits, its name."""

    direction: str
    width: int
    name: str


def ports_of(verilog: str) -> list[Port]:
    """The ports of the module ``ropewalk`` in ``verilog``; none where there is no such module."""
    body = re.search(r"^module ropewalk\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^ *(input|output) (?:\[(\d+):0\] )?(\w+);", body[0], re.MULTILINE) if body else ()
    return [Port(direction, int(high or 0) + 1, name) for direction, high, name in found]


def clocked(verilog: str) -> str:
    """The Verilog of the module :data:`CLOCKED` around the module ``ropewalk`` in ``verilog``.

    It has the same ports, and begins with zeros on all inputs: in reset, with nothing valid.
    """
    ports = ports_of(verilog)
    held = [port for port in ports if port.direction == "input" and port.name != CLOCK]
    connected = (
        (name, f"{name}_held" if (direction, width, name) in held else name) for direction, width, name in ports
    )
    return "\n".join(
        [
            f"module {CLOCKED}(",
            ",\n".join(f"    {direction} [{width - 1}:0] {name}" for direction, width, name in ports),
            ");",
            *(f"    reg [{width - 1}:0] {name}_held = 0;" for _, width, name in held),
            f"    always @(posedge {CLOCK}) begin",
            *(f"        {name}_held <= {name};" for _, _, name in held),
            "    end",
            "    ropewalk ropewalk(",
            ",\n".join(f"        .{name}({other})" for name, other in connected),
            "    );",
            "endmodule",
            "",
        ]
    )
