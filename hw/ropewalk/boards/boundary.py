"""Registers around a netlist: without them, place and route has no path to measure at its ports."""

from collections.abc import Mapping
from typing import Any

from .families import Register
from .packing import Bit, Netlist


def add_boundary(module: dict[str, Any], clock: str, register: Register, *, ports: bool) -> int:
    """Put a register at every bit of every port of a flat module of Yosys' JSON, but for ``clock``.

    Parameters
    ----------
    module
        The module, which is changed.
    clock
        The name of the port with its clock.
    register
        The register of the family.
    ports
        Whether the ports stay. Else they go, but for the clock: what they fed is fed by registers whose data are
        constant, and what fed them feeds registers that nothing reads. A placer changes no logic, so it measures the
        same paths, and needs no pin for a port.

    Returns
    -------
    int
        How many registers that are.

    Raises
    ------
    ValueError
        If the module has no input ``clock`` of one bit.
    """
    outside = module["ports"]
    clocked = outside.get(clock)
    if clocked is None or clocked["direction"] != "input" or len(clocked["bits"]) != 1:
        raise ValueError(f"the module has no clock {clock}")
    edge = clocked["bits"][0]
    netlist = Netlist(module)
    free = 1 + max(
        bit
        for bits in [port["bits"] for port in outside.values()] + [net["bits"] for net in module["netnames"].values()]
        for bit in bits
        if isinstance(bit, int)
    )
    registers = 0
    for name, port in outside.items():
        if name == clock:
            continue
        for place, bit in enumerate(port["bits"]):
            if isinstance(bit, str) or (port["direction"] == "input" and not netlist.is_read(bit)):
                continue
            if port["direction"] == "input":
                netlist.move_readers(bit, free)
                data, output = bit if ports else "0", free
            else:
                data, output = bit, free
                port["bits"][place] = free
            module["cells"][f"boundary_{name}_{place}"] = _register(register, edge, data, output)
            free += 1
            registers += 1
    if not ports:
        module["ports"] = {clock: clocked}
        if register.pad is not None:
            cell, pin, inside = register.pad
            clocked["bits"] = [free]
            module["cells"]["boundary_clock"] = _cell(cell, {pin: free}, {inside: edge}, {})
    return registers


def _register(register: Register, clock: Bit, data: Bit, output: Bit) -> dict[str, Any]:
    inputs = {register.clock: clock, register.data: data, **register.constants}
    return _cell(register.cell, inputs, {register.output: output}, register.parameters)


def _cell(
    kind: str, inputs: Mapping[str, Bit], outputs: Mapping[str, Bit], parameters: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "hide_name": 0,
        "type": kind,
        "parameters": dict(parameters),
        "attributes": {},
        "port_directions": {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")},
        "connections": {port: [bit] for port, bit in {**inputs, **outputs}.items()},
    }
