"""Registers around a netlist: without them, place and route has no path to measure at its ports."""

from typing import Any

from .packing import Bit, Netlist


def add_boundary(module: dict[str, Any], clock: str) -> int:
    """Put a register at every bit of every port of a flat module of Yosys' JSON, but for ``clock``.

    Returns
    -------
    int
        How many registers that are.

    Raises
    ------
    ValueError
        If the module has no input ``clock`` of one bit.
    """
    ports = module["ports"]
    port = ports.get(clock)
    if port is None or port["direction"] != "input" or len(port["bits"]) != 1:
        raise ValueError(f"the module has no clock {clock}")
    edge = port["bits"][0]
    netlist = Netlist(module)
    free = 1 + max(
        bit
        for bits in [port["bits"] for port in ports.values()] + [net["bits"] for net in module["netnames"].values()]
        for bit in bits
        if isinstance(bit, int)
    )
    registers = 0
    for name, port in ports.items():
        if name == clock:
            continue
        for place, bit in enumerate(port["bits"]):
            if isinstance(bit, str) or (port["direction"] == "input" and not netlist.is_read(bit)):
                continue
            if port["direction"] == "input":
                netlist.move_readers(bit, free)
                data, output = bit, free
            else:
                data, output = bit, free
                port["bits"][place] = free
            module["cells"][f"boundary_{name}_{place}"] = _register(edge, data, output)
            free += 1
            registers += 1
    return registers


def _register(clock: Bit, data: Bit, output: Bit) -> dict[str, Any]:
    return {
        "hide_name": 0,
        "type": "TRELLIS_FF",
        "parameters": {"CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET"},
        "attributes": {},
        "port_directions": {"CLK": "input", "DI": "input", "LSR": "input", "Q": "output"},
        "connections": {"CLK": [clock], "DI": [data], "LSR": ["0"], "Q": [output]},
    }
