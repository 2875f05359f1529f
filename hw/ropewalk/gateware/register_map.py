"""The register map of a unit, read from its ``registers.rdl``: addresses and fields by name.

The rotary engine's description lies beside this file, that of another unit in the folder of its name.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

# The reference front end of SystemRDL, kept up with PeakRDL's exporters.
from systemrdl import RDLCompiler  # type: ignore[attr-defined]
from systemrdl.node import AddrmapNode, FieldNode, RegNode

ROTARY = "rotary"


def rdl_file(unit: str = ROTARY) -> Path:
    """The description of the registers of ``unit``: ``rotary``, or the name of a folder beside this file."""
    here = Path(__file__).parent
    return (here if unit == ROTARY else here / unit) / "registers.rdl"


@dataclass(frozen=True)
class Field:
    """A field of a register: its bits and its value after reset, 0 where the design decides."""

    low: int
    width: int
    reset: int


@dataclass(frozen=True)
class Register:
    """A register: its address, its fields, and how software reaches it."""

    address: int
    fields: dict[str, Field]
    readable: bool
    writable: bool
    write_one_clears: bool


@lru_cache
def register_tree(unit: str = ROTARY) -> AddrmapNode:
    """The elaborated address map of ``unit``, for exporters."""
    compiler = RDLCompiler()
    compiler.compile_file(str(rdl_file(unit)))
    return compiler.elaborate().top


@lru_cache
def register_map(unit: str = ROTARY) -> dict[str, Register]:
    """Every register of ``unit`` by name; those of an array as ``name[index]``."""
    registers = {}
    for node in register_tree(unit).descendants(unroll=True):
        if isinstance(node, RegNode):
            fields = node.fields()
            registers[node.get_path_segment()] = Register(
                address=node.absolute_address,
                fields={field.inst_name: Field(field.low, field.width, _reset(field)) for field in fields},
                readable=any(field.is_sw_readable for field in fields),
                writable=any(field.is_sw_writable for field in fields),
                write_one_clears=any(field.get_property("onwrite") is not None for field in fields),
            )
    return registers


def _reset(field: FieldNode) -> int:
    value = field.get_property("reset")
    return value if isinstance(value, int) else 0
