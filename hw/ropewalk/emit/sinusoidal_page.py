"""The page that lies in the folder of a sinusoidal adder."""

from collections.abc import Sequence

from ..designs.sinusoidal import SinusoidalDesign
from ..gateware.sinusoidal.registers import UNIT
from ..tables.sinusoidal_words import slot_crc
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


def sinusoidal_page(design: SinusoidalDesign, *, latency: int, files: Sequence[str]) -> str:
    """The folder's README.md."""
    geometry = design.geometry
    generators = f"{design.generators} generator{'s' if design.generators > 1 else ''}"
    sentence = f"{design.lanes} elements of {design.data_width} bits per beat, {generators}, rows made on the fly"
    memory = {"sine.hex": "an octant of sines with their slopes"} | {
        name: "the steps of a generator, in turns" for name in files if name.startswith("steps")
    }
    offset = f" + {geometry.row_offset}" if geometry.row_offset else ""
    masked = "the row of zeros is read, that is, nothing is added"
    order = (
        f"all {design.pairs} sines, then {design.cosines} cosines" if design.half else "sine and cosine of each pair"
    )
    lines = [
        *files_part(f"{geometry.model_type}: a sinusoidal adder", sentence, files, memory),
        *ports_part(
            token_bits=64,
            data_bits=design.lanes * design.container_bits,
            elements=f"{design.lanes} elements",
            keep=design.has_keep,
            registers=True,
        ),
        "## Token descriptor, one beat",
        "",
        "| bits | meaning |",
        "|---|---|",
        "| 7:0 | slot: 0; any other is an error |",
        f"| 8 | masked: {masked} |",
        "| 9 | pass: nothing is added |",
        "| 23:16 | tag: the TID of the token's data |",
        "| 63:32 | position |",
        "",
        f"Position p has the angles of row p{offset}: positions 0 to {design.limit - 1}. Any other passes the token "
        "unchanged with its error bit set."
        + (f" Row {geometry.zero_row} is all zeros." if geometry.zero_row is not None else ""),
        "",
        "## Data",
        "",
        f"{row_beats(design.dimension, design.lanes, design.beats_per_token, design.last_lanes)} "
        f"{element_sentence(design.data_width, design.container_bits)} {value_sentence(design.fraction_bits)}",
        "",
        f"A row is {order}"
        + (f", times {design.amplitude:.9g}" if design.scaled else "")
        + f". The sum is rounded once, half up, and saturates; it is off by at most {design.error_bound:.4f} LSB.",
        "",
        *registers_part(
            UNIT,
            {
                "identity": "the letters SINE",
                "control": CONTROL,
                "status": STATUS,
                "offset": "added to every position (signed), 0 after reset",
                "load_begin": "write 0: begin to load the slot",
                "load_data": "write its words, one after the other",
                "load_commit": "write anything: the words become the slot's content, or are refused (SLVERR)",
                "load_state": "bit 0 loading, 1 busy, 2 the CRC is being computed, 10:8 reason of the last refusal",
                "geometry_crc": f"CRC-32 of what the slot holds: `{slot_crc(design):08x}`",
            },
            "The slot keeps its content through every reset.",
        ),
        "## Rate and latency",
        "",
        f"{design.beats_per_clock:.3f} beats per clock. First beat of an idle unit {latency} clocks after its "
        "descriptor, data waiting.",
        "",
    ]
    return "\n".join(lines)
