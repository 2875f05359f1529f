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
    """A port of the top: ``input`` or ``output``, its range as it is declared (empty for one bit), its name."""

    direction: str
    range: str
    name: str

    @property
    def width(self) -> int:
        """Its bits, where the range ends at a plain number and at 0."""
        return int(self.range[1:].partition(":")[0]) + 1 if self.range else 1


def ports_of(verilog: str) -> list[Port]:
    """The ports of the module ``ropewalk`` in ``verilog``, wherever they are declared; none without that module."""
    body = re.search(r"^module ropewalk\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)
    if body is None:
        return []
    declared = re.sub(r"//.*", "", body[0])
    return [
        Port(*found) for found in re.findall(r"\b(input|output)\s+(?:wire\s+)?(\[[^\]]*\])?\s*(\w+)\s*[,;)]", declared)
    ]


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
            ",\n".join(f"    {direction} {bits} {name}" for direction, bits, name in ports),
            ");",
            *(f"    reg {bits} {name}_held = 0;" for _, bits, name in held),
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
