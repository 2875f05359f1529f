"""What the pages in the folders of ALiBi, learned and sinusoidal units have in common."""

from collections.abc import Mapping, Sequence

from ..family import Family
from ..gateware.register_map import register_map
from .family_page import VERILOG, family_part

FILES = {
    "design.json": "every parameter; all `ropewalk` commands read it",
    "registers.h": "its registers for a C program",
}


def files_part(
    title: str, sentence: str, family: Family, files: Sequence[str], memories: Mapping[str, str]
) -> list[str]:
    """The head of a page: what the unit is, what each of its ``files`` holds, and for whose parts the Verilog is."""
    purpose = FILES | {"ropewalk.v": f"the unit, {VERILOG[family]}"} | dict(memories)
    return [
        f"# {title}",
        "",
        f"Written by `ropewalk generate`. Top module `ropewalk`, {sentence}.",
        "",
        "| file | what it is |",
        "|---|---|",
        *(f"| `{name}` | {purpose[name]} |" for name in sorted({*files, "design.json"})),
        "",
        *family_part(family, files),
    ]


def ports_part(
    *, token_bits: int, data_bits: int, elements: str, keep: bool, registers: bool, more: Sequence[str] = ()
) -> list[str]:
    """The table of the ports."""
    keeps = f", `tkeep[{data_bits // 8 - 1}:0]`" if keep else ""
    access = "the registers below" if registers else "no registers, every access is answered with SLVERR"
    return [
        "## Ports",
        "",
        "| port | direction | bits | meaning |",
        "|---|---|---|---|",
        "| `aclk`, `aresetn` | in | 1 | clock; synchronous reset, active low |",
        f"| `s_axis_token_tdata` | in | {token_bits} | descriptor, below; with `tvalid`, `tready` |",
        f"| `s_axis_tdata` | in | {data_bits} | a beat of {elements}; with `tvalid`, `tready`, `tlast`, "
        f"`tid[7:0]`{keeps} |",
        f"| `m_axis_tdata` | out | {data_bits} | the same, with what was added; with `tvalid`, `tready`, `tlast`, "
        f"`tid[7:0]`, `tuser[0]` (error){keeps} |",
        *more,
        f"| `s_axil_*` | | 32 | AXI4-Lite, 12-bit addresses: {access} |",
        "",
    ]


def element_sentence(data_width: int, container_bits: int) -> str:
    """Where the elements of a beat stand."""
    return (
        f"Element e of a beat stands in bits {container_bits}e + {data_width - 1} down to {container_bits}e, two's "
        f"complement, sign-extended to {container_bits} bits."
    )


def value_sentence(fraction_bits: int) -> str:
    """What a word stands for."""
    return f"The LSB stands for 2^-{fraction_bits} = {2.0**-fraction_bits:g}."


def row_beats(dimension: int, lanes: int, beats: int, last: int) -> str:
    """How the elements of a token lie in its beats."""
    text = (
        f"A token is {dimension} elements in {beats} beats, TLAST on the last. Beat b carries elements {lanes}b to "
        f"{lanes}b + {lanes - 1}."
    )
    if last != lanes:
        text += f" The last beat has {last} elements, from element 0 of the beat on; TKEEP says so, a bit per octet."
    return text


def registers_part(unit: str, shown: Mapping[str, str], tail: str) -> list[str]:
    """The registers that most users need, with their addresses; ``shown`` holds what is said of each."""
    address = {name: register.address for name, register in register_map(unit).items()}
    return [
        "## Registers",
        "",
        "| address | register | |",
        "|---|---|---|",
        *(f"| 0x{address[name]:03x} | `{name}` | {text} |" for name, text in shown.items()),
        "",
        f"{tail} All registers are in `registers.h`, and specified in Ropewalk's `docs/registers-{unit}.md`.",
        "",
    ]


CONTROL = "write 1: bit 0 soft reset, 1 snapshot of the counters, 2 clear the counters, 3 flush"
STATUS = "sticky error bits; a 1 written to a bit clears it"
