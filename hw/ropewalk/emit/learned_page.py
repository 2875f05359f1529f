"""The page that lies in the folder of a learned-table adder."""

from collections.abc import Sequence

from ..designs.learned import LearnedDesign
from ..gateware.learned.registers import UNIT
from .unit_page import (
    CONTROL,
    STATUS,
    element_sentence,
    files_part,
    ports_part,
    registers_part,
    row_beats,
    value_sentence,
)


def learned_page(design: LearnedDesign, *, latency: int, files: Sequence[str]) -> str:
    """The folder's README.md."""
    geometry, lanes, outside = design.geometry, design.lanes, design.storage == "external"
    where = "outside, behind an AXI4 read master" if outside else "in block RAM"
    sentence = f"{lanes} elements of {design.data_width} bits per clock, the table {where}"
    memory = {"rows.hex": "the table, a beat to a line" + (": what the memory outside must hold" if outside else "")}
    master = (
        f"| `m_axi_*` | | {8 * design.bus_bytes} | AXI4 read master, {design.address_width}-bit addresses: reads the "
        "table |"
    )
    masked = f"row {geometry.masked_row}" if geometry.masked_row is not None else "no row: an error"
    offset = f" + {geometry.row_offset}" if geometry.row_offset else ""
    shown = {
        "identity": "the letters LEAR",
        "control": CONTROL + ("" if outside else ", 4 compute the CRC again"),
        "status": STATUS,
        "offset": f"added to every position (signed), {geometry.row_offset} after reset",
        "masked_row": "the row that masked tokens read",
    }
    if outside:
        shown |= {
            "base_low": "address of row 0",
            "base_high": "its high 32 bits",
            "row_stride": f"octets from row to row, {design.row_stride} after reset",
        }
    else:
        shown |= {
            "load_begin": "write a row's number: begin to write rows",
            "load_data": "write its elements, one after the other; rows follow each other",
            "load_commit": "write anything: the CRC is computed again",
            "load_state": "bit 0 loading, 2 the CRC is being computed, 10:8 reason of the last refusal",
            "table_crc": "CRC-32 of all words as they are stored, row by row, each with 16 bits",
        }
    lines = [
        *files_part(f"{geometry.model_type}: a learned-table adder", sentence, design.family, files, memory),
        *ports_part(
            token_bits=64,
            data_bits=lanes * design.container_bits,
            elements=f"{lanes} elements",
            keep=design.has_keep,
            registers=True,
            more=[master] if outside else [],
        ),
        "## Token descriptor, one beat",
        "",
        "| bits | meaning |",
        "|---|---|",
        f"| 8 | masked: the token reads {masked} |",
        "| 9 | pass: nothing is added |",
        "| 23:16 | tag: the TID of the token's data |",
        "| 63:32 | position |",
        "",
        f"Position p reads row p{offset} of {geometry.rows}: positions 0 to {geometry.max_position - 1}. Any other "
        "passes the token unchanged with its error bit set.",
        "",
        "## Data",
        "",
        f"{row_beats(geometry.dimension, lanes, design.beats_per_token, design.last_lanes)} "
        f"{element_sentence(design.data_width, design.container_bits)} {value_sentence(design.fraction_bits)}",
        "",
        f"Table words have {design.table_width} bits with an LSB of 2^{-design.table_fraction_bits}. The sum is "
        "rounded once, half up, and saturates.",
        "",
        *registers_part(UNIT, shown, "Registers are as after power-up when `aresetn` has been low."),
        "## Rate and latency",
        "",
        "One beat per clock"
        + (" where rows have 3 beats or more and memory answers within 64 clocks" if outside else "")
        + f". First beat of an idle unit {latency} clocks after its descriptor, data waiting"
        + (", and the latency of the memory more." if outside else "."),
        "",
    ]
    return "\n".join(lines)
