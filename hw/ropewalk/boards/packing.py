"""Moves registers into the multipliers and block RAMs of a netlist, and copies those that many block RAMs read.

Yosys does neither for ECP5.

The gateware puts the registers there for it (``gateware/primitives.py``): operand, pipeline and result registers at a
multiplier, an output register at a block RAM, without reset, clock enable or initial value. Inside the block they cost
nothing and make it fast. A register moves only if that changes no bit at any clock, once it has been loaded; one that
is in use already, as in all that ``--family ecp5`` instantiates, is left alone.

The blocks of a large memory lie all over the part. A register that all of them read, of an address or a write enable,
would be far from most of them; a copy for each few of them is near.
"""

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Bit = int | str
"""A net's number in Yosys' JSON, or a constant "0", "1", "x"."""

OPERAND_BITS, PRODUCT_BITS = 18, 36

MANY_BLOCKS = 48
"""A register that more block RAMs read than these is copied: 64 are a bank of a memory that is 64 bits wide."""

BLOCKS_PER_COPY = 16


class Netlist:
    """The cells of one flat module of Yosys' JSON, with who drives and who reads each net."""

    def __init__(self, module: dict[str, Any]):
        self.cells: dict[str, dict[str, Any]] = module["cells"]
        self._nets: dict[str, Any] = module.get("netnames", {})
        self._readers: dict[Bit, set[tuple[str, str, int]]] = defaultdict(set)
        self._drivers: dict[Bit, str] = {}
        self._outside: set[Bit] = set()
        for port in module["ports"].values():
            if port["direction"] != "input":
                self._outside.update(port["bits"])
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for place, bit in enumerate(bits):
                    if cell["port_directions"][port] == "output":
                        self._drivers[bit] = name
                    else:
                        self._readers[bit].add((name, port, place))
        named = (bit for net in self._nets.values() for bit in net["bits"])
        found = [*self._drivers, *self._readers, *self._outside, *named]
        self._new = 1 + max((bit for bit in found if isinstance(bit, int)), default=1)

    def bits(self, cell: str, port: str) -> list[Bit]:
        """What is connected to a port."""
        return self.cells[cell]["connections"].get(port, [])

    def connect(self, cell: str, port: str, bits: list[Bit]) -> None:
        """Connect an input of a cell anew."""
        for place, bit in enumerate(self.bits(cell, port)):
            self._readers[bit].discard((cell, port, place))
        self.cells[cell]["connections"][port] = bits
        self.cells[cell]["port_directions"][port] = "input"
        for place, bit in enumerate(bits):
            self._readers[bit].add((cell, port, place))

    def drive(self, cell: str, port: str, bits: list[Bit]) -> None:
        """Have an output of a cell drive other nets."""
        self.cells[cell]["connections"][port] = bits
        self.cells[cell]["port_directions"][port] = "output"
        for bit in bits:
            self._drivers[bit] = cell

    def readers(self, bit: Bit) -> list[tuple[str, str, int]]:
        """Who reads a net: cells, their ports, and the places in those; in an order of their own."""
        return sorted(self._readers[bit])

    def plain_registers(self) -> list[str]:
        """The registers on the rising edge that take their data in every clock."""
        return [cell for cell in self.of_type("TRELLIS_FF") if self._plain(cell)]

    def copy_register(self, cell: str, number: int) -> Bit:
        """Another register with the same inputs and, from ``number``, a name of its own; the net that it drives."""
        (original,) = self.bits(cell, "Q")
        new = self._new
        self._new += 1
        for name, net in list(self._nets.items()):
            if original in net["bits"]:
                self._nets[f"{name}${number}"] = {"hide_name": 1, "bits": [new], "attributes": {}}
                break
        copy = deepcopy(self.cells[cell])
        copy["connections"]["Q"] = [new]
        self.cells[f"{cell}${number}"] = copy
        for port, bits in copy["connections"].items():
            for place, bit in enumerate(bits if port != "Q" else ()):
                self._readers[bit].add((f"{cell}${number}", port, place))
        self._drivers[new] = f"{cell}${number}"
        return new

    def move_readers(self, bit: Bit, other: Bit) -> None:
        """Have all cells that read a net read another one."""
        for cell, port, place in self._readers.pop(bit, set()):
            self.cells[cell]["connections"][port][place] = other
            self._readers[other].add((cell, port, place))

    def remove(self, cell: str) -> None:
        """Take a cell out."""
        for port, bits in self.cells[cell]["connections"].items():
            for place, bit in enumerate(bits):
                self._readers[bit].discard((cell, port, place))
        del self.cells[cell]

    def is_read(self, bit: Bit) -> bool:
        """Whether anything reads a net."""
        return bit in self._outside or bool(self._readers[bit])

    def register_before(self, bit: Bit) -> tuple[str, Bit] | None:
        """The plain register that drives a net, and its data."""
        cell = self._drivers.get(bit)
        if cell is None or not self._plain(cell):
            return None
        return cell, self.bits(cell, "DI")[0]

    def register_after(self, bit: Bit) -> str | None:
        """The plain register that is all that reads a net."""
        readers = self._readers[bit]
        if bit in self._outside or len(readers) != 1:
            return None
        cell, port, _ = next(iter(readers))
        return cell if port == "DI" and self._plain(cell) else None

    def has(self, cell: str, register: str) -> bool:
        """Whether a register of a multiplier is in use."""
        return self.cells[cell]["parameters"].get(f"{register}_CLK", "NONE") != "NONE"

    def clock(self, cell: str) -> Bit:
        """The clock of a register."""
        return self.bits(cell, "CLK")[0]

    def _plain(self, name: str) -> bool:
        """Whether a cell is a register on the rising edge that takes its data in every clock."""
        cell = self.cells[name]
        parameters = cell["parameters"]
        return (
            cell["type"] == "TRELLIS_FF"
            and parameters.get("CLKMUX", "CLK") == "CLK"
            and (parameters.get("CEMUX", "1").strip() == "1" or self.bits(name, "CE") == ["1"])
            and (parameters.get("LSRMUX", "LSR") == "LSR" and self.bits(name, "LSR") in ([], ["0"]))
            and self.bits(name, "M") in ([], ["0"], ["x"])
        )

    def of_type(self, *types: str) -> Iterator[str]:
        """The cells of some types."""
        yield from [name for name, cell in self.cells.items() if cell["type"] in types]


def pack(module: dict[str, Any]) -> None:
    """Change a flat module of Yosys' JSON: every register moves that can."""
    netlist = Netlist(module)
    for cell in netlist.of_type("MULT18X18D"):
        _pack_operands(netlist, cell)
        _pack_results(netlist, cell)
    for cell in netlist.of_type("DP16KD"):
        if int(netlist.cells[cell]["parameters"]["DATA_WIDTH_B"], 2) == 2 * OPERAND_BITS:
            _pack_output(netlist, cell, "AB", "CLKB")
        else:
            for side in "AB":
                _pack_output(netlist, cell, side, f"CLK{side}")
    _copy_registers(netlist)
    # nextpnr leads the carry of a chain's last cell out, at a cell's cost, even where nothing reads it.
    for cell in netlist.of_type("CCU2C"):
        if not any(netlist.is_read(bit) for bit in netlist.bits(cell, "COUT")):
            netlist.cells[cell]["connections"]["COUT"] = ["x"]
        # Nor is a constant led in where the cell's first half makes a carry whatever comes.
        if netlist.bits(cell, "CIN") == ["0"] and not _hands_on(netlist, cell):
            netlist.cells[cell]["connections"]["CIN"] = ["x"]


def _hands_on(netlist: Netlist, cell: str) -> bool:
    """Whether the first half of a carry cell passes on the carry that comes in, for any values of its inputs."""
    table = int(netlist.cells[cell]["parameters"]["INIT0"], 2)
    constants = [netlist.bits(cell, f"{pin}0") for pin in "ABCD"]
    possible = [
        entry
        for entry in range(16)
        if all(bit not in (["0"], ["1"]) or bit == [str(entry >> pin & 1)] for pin, bit in enumerate(constants))
    ]
    return any(table >> entry & 1 for entry in possible)


def _pack_operands(netlist: Netlist, cell: str) -> None:
    for operand in "AB":
        ports = [f"{operand}{place}" for place in range(OPERAND_BITS)]
        bits = [netlist.bits(cell, port)[0] for port in ports]
        if netlist.has(cell, f"REG_INPUT{operand}"):
            continue
        before = {bit: netlist.register_before(bit) for bit in bits if bit not in ("0", "x")}
        found = [register for register in before.values() if register is not None]
        if not found or len(found) != len(before) or not _one_clock(netlist, cell, [name for name, _ in found]):
            continue
        for port, bit in zip(ports, bits, strict=True):
            register = before.get(bit)
            if register is not None:
                netlist.connect(cell, port, [register[1]])
        for name, _ in found:
            if name in netlist.cells and not netlist.is_read(netlist.bits(name, "Q")[0]):
                netlist.remove(name)
        _enable(netlist, cell, f"REG_INPUT{operand}")


def _pack_results(netlist: Netlist, cell: str) -> None:
    ports = [f"P{place}" for place in range(PRODUCT_BITS)]
    for parameter in ("REG_PIPELINE", "REG_OUTPUT"):
        if netlist.has(cell, parameter):
            return
        driven = {port: netlist.bits(cell, port)[0] for port in ports if netlist.bits(cell, port)}
        read = {port: bit for port, bit in driven.items() if netlist.is_read(bit)}
        after = {port: netlist.register_after(bit) for port, bit in read.items()}
        registers = [register for register in after.values() if register is not None]
        if not registers or len(registers) != len(read) or not _one_clock(netlist, cell, registers):
            return
        for port, register in after.items():
            assert register is not None
            later = netlist.bits(register, "Q")
            netlist.remove(register)
            netlist.drive(cell, port, later)
        _enable(netlist, cell, parameter)


def _pack_output(netlist: Netlist, cell: str, sides: str, clock: str) -> None:
    """The output register of ``sides`` of a block RAM: both together are one port where words have 36 bits."""
    if any(netlist.cells[cell]["parameters"].get(f"REGMODE_{side}") == "OUTREG" for side in sides):
        return
    read = {
        port: bits[0]
        for port, bits in netlist.cells[cell]["connections"].items()
        if port[:2] == "DO" and port[2] in sides and netlist.is_read(bits[0])
    }
    after = {port: netlist.register_after(bit) for port, bit in read.items()}
    registers = [register for register in after.values() if register is not None]
    clocks = {netlist.clock(register) for register in registers}
    if not registers or len(registers) != len(read) or clocks != set(netlist.bits(cell, clock)):
        return
    for port, register in after.items():
        assert register is not None
        later = netlist.bits(register, "Q")
        netlist.remove(register)
        netlist.drive(cell, port, later)
    for side in sides:
        netlist.cells[cell]["parameters"][f"REGMODE_{side}"] = "OUTREG"
        netlist.connect(cell, f"OCE{side}", ["1"])


def _copy_registers(netlist: Netlist) -> None:
    """Copies for the block RAMs, those of the same data together, wherever too many of them read one register."""
    # What is written tells which blocks hold the same bits of different words: their data go the same way.
    written: dict[str, tuple[int, int]] = {}
    for order, cell in enumerate(netlist.of_type("DP16KD")):
        ports = netlist.cells[cell]["connections"]
        data = [bit for port in ports if port[:2] == "DI" for bit in ports[port] if isinstance(bit, int)]
        written[cell] = min(data, default=0), order
    if len(written) <= MANY_BLOCKS:
        return
    group = {cell: place // BLOCKS_PER_COPY for place, cell in enumerate(sorted(written, key=written.__getitem__))}
    for cell in netlist.plain_registers():
        (original,) = netlist.bits(cell, "Q")
        by_group = defaultdict(list)
        for reader, port, _ in netlist.readers(original):
            if reader in group:
                by_group[group[reader]].append((reader, port))
        if sum(len({reader for reader, _ in some}) for some in by_group.values()) <= MANY_BLOCKS:
            continue
        for number in sorted(by_group):
            new = netlist.copy_register(cell, number)
            for reader, port in by_group[number]:
                netlist.connect(reader, port, [new if bit == original else bit for bit in netlist.bits(reader, port)])
        if not netlist.is_read(original):
            netlist.remove(cell)


def _one_clock(netlist: Netlist, cell: str, registers: list[str]) -> bool:
    """Whether registers that are to move into a multiplier have one clock, which is that of those already in it."""
    clocks = {netlist.clock(name) for name in registers} | {bit for bit in netlist.bits(cell, "CLK0") if bit != "0"}
    return len(clocks) == 1 and _remember(netlist, cell, clocks.pop())


def _remember(netlist: Netlist, cell: str, clock: Bit) -> bool:
    netlist.connect(cell, "CLK0", [clock])
    return True


def _enable(netlist: Netlist, cell: str, register: str) -> None:
    netlist.cells[cell]["parameters"].update(
        {f"{register}_CLK": "CLK0", f"{register}_CE": "CE0", f"{register}_RST": "RST0"}
    )
    netlist.connect(cell, "CE0", ["1"])
    netlist.connect(cell, "RST0", ["0"])
