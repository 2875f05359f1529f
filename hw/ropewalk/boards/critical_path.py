"""The slowest path that nextpnr found, in the design's own terms: the component's path, then the signal's name."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from .families import Family
from .packing import Bit

_ADDED = re.compile(r"\$[A-Z].*$")  # what a placer appends to a name
_COPY = re.compile(r"\$\d+(?=\.|\[|$)")  # what Amaranth appends to a name that is taken
_OWN = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")  # components, and a signal
_PIECE = re.compile(r"(\.\d+)+$")  # which block of several a memory is made of
_INDEX = re.compile(r"\[(\d+)\]$")
_OUTER = re.compile(r"^\$glbnet\$")
_PATH = re.compile(r"\\([A-Za-z_]\w*(?:\$\d+)?)\.")  # a component in the name that `flatten` gives to a cell


class Names:
    """The names of a flat module of Yosys' JSON, for nets and cells that a placer may have renamed.

    Parameters
    ----------
    module
        The module.
    family
        Its family, which has a register.
    """

    def __init__(self, module: Mapping[str, Any], family: Family):
        if family.register is None:
            raise ValueError(f"no register is known of {family.name}")
        self._nets: dict[str, Any] = module["netnames"]
        self._cells: dict[str, Any] = module["cells"]
        kinds = "|".join(sorted({re.escape(cell["type"]) for cell in self._cells.values()}, key=len, reverse=True))
        # What Yosys calls a net or cell without a name: after the cell and the port that it is connected to.
        self._after_a_cell = re.compile(rf"_(?:{kinds or '(?!)'})(?:_[A-Z]\w*)?$")
        self._names = self._named_bits()
        # Registers, and the nets that they take their data from: by cell, and by net.
        self._held: dict[str, str] = {}
        self._stored: dict[Bit, str] = {}
        for name, cell in self._cells.items():
            if any(fnmatchcase(cell["type"], pattern) for pattern in family.registers):
                self._held[name] = self._names.get(cell["connections"][family.register.output][0], "")
                self._stored[cell["connections"][family.register.data][0]] = self._held[name]

    def net(self, name: str) -> str:
        """A net that a placer calls ``name``; empty where it has no name in the design."""
        name = _ADDED.sub("", _OUTER.sub("", name))
        if name in self._nets:
            return self._names.get(self._nets[name]["bits"][0], "")
        index = _INDEX.search(name)
        net = self._nets.get(name[: index.start()]) if index else None
        if index is None or net is None:
            return ""
        return self._names.get(net["bits"][int(index[1]) - net.get("offset", 0)], "")

    def cell(self, name: str) -> str:
        """What is stored in or made by the cell that a placer calls ``name``; empty where that has no name."""
        known = [name.removesuffix(ending) for ending in ("", "_DFFLC", "_LC", "_RAM")]
        name = next((one for one in known if one in self._cells), "")
        if not name:
            return ""
        if name in self._held:
            return self._held[name]
        cell = self._cells[name]
        component = ".".join(_PATH.findall(name))
        own = _COPY.sub("", component) if component else self._own(_PIECE.sub("", name))
        if own:
            return f"{own} ({cell['type']})"
        # A look-up table with a register behind it is one cell to some placers.
        return next((self._stored[bit] for bit in _outputs(cell) if bit in self._stored), "")

    def _named_bits(self) -> dict[Bit, str]:
        """The name of each net that has one: of several, that of the innermost component, where it is made."""
        best: dict[Bit, str] = {}
        for name, net in self._nets.items():
            own = self._own(name)
            for place, bit in enumerate(net["bits"] if own else ()):
                text = f"{own}[{place + net.get('offset', 0)}]" if len(net["bits"]) > 1 else own
                if bit not in best or (-text.count("."), len(text)) < (-best[bit].count("."), len(best[bit])):
                    best[bit] = text
        return best

    def _own(self, name: str) -> str:
        """``name`` as the design has it; empty where the design has none."""
        name = _COPY.sub("", name)
        return name if _OWN.match(name) and not self._after_a_cell.search(name) else ""


def critical_path(path: list[Mapping[str, Any]], names: Names) -> tuple[str, ...]:
    """What a path of nextpnr's report goes through, from the register that it leaves to the one that it ends in."""
    if not path:
        return ()
    steps = [names.cell(path[0]["from"]["cell"])]
    steps += [names.net(step["net"]) for step in path if "net" in step]
    steps.append(names.cell(path[-1]["to"]["cell"]))
    found: list[str] = []
    for step in steps:
        if step and step not in found:
            found.append(step)
    return tuple(found)


def clock_names(names: Iterable[str]) -> dict[str, str]:
    """The clocks that a placer calls ``names`` as the design calls them; those that it calls alike stay as they are."""
    own = {name: re.sub(r"(?<=.)\$.*$|_IBUF_I_O$", "", _OUTER.sub("", name)) for name in names}
    alike = Counter(own.values())
    return {name: text if alike[text] == 1 else name for name, text in own.items()}


def _outputs(cell: Mapping[str, Any]) -> Iterator[Bit]:
    for port, bits in cell["connections"].items():
        if cell["port_directions"][port] == "output":
            yield from bits
