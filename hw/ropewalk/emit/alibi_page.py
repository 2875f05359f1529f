"""The page that lies in the folder of an ALiBi unit."""

from collections.abc import Sequence

from ..designs.alibi import AlibiDesign
from ..gateware.alibi.registers import UNIT
from ..geometry.alibi import MODES
from ..tables.slopes import slope_crc
from .unit_page import CONTROL, STATUS, element_sentence, files_part, ports_part, registers_part, value_sentence

BIAS = {
    "relative": "slope x (key - query)",
    "absolute": "slope x key",
    "mpt": "slope x (key - (row length - 1))",
    "symmetric": "-slope x |key - query|",
}


def alibi_page(design: AlibiDesign, *, latency: int, files: Sequence[str]) -> str:
    """The folder's README.md."""
    geometry, lanes = design.geometry, design.lanes
    sentence = f"{lanes} scores of {design.data_width} bits per clock, {geometry.heads} heads"
    memory = {"slopes.hex": "the slopes, and an empty bank to load others into"}
    lines = [
        *files_part(f"{geometry.model_type}: an ALiBi unit", sentence, design.family, files, memory),
        *ports_part(
            token_bits=160,
            data_bits=8 * design.beat_bytes,
            elements=f"{lanes} scores",
            keep=True,
            registers=design.registers,
        ),
        "## Row descriptor, one beat",
        "",
        "| bits | meaning |",
        "|---|---|",
        "| 7:0 | head |",
        "| 8 | causal: keys after the query become the most negative score |",
        "| 23:16 | tag: the TID of the row's data |",
        "| 63:32 | position of the query |",
        "| 95:64 | position of the first key, signed |",
        "| 127:96 | keys of the row |",
        "| 159:128 | row length, for the mode mpt |",
        "",
        f"The mode is {geometry.mode}"
        + (" after reset" if design.registers else "")
        + f": the bias is {BIAS[geometry.mode]}; that of a key below 0 (padding) is 0. A head without a slope, or a "
        "position of 2^24 or more, passes the row unchanged with its error bit set.",
        "",
        "## Data",
        "",
        f"A row is one score per key, {lanes} to a beat, the first key lowest, TLAST on the last beat, which may be "
        "filled in part: TKEEP has a bit per octet. "
        + element_sentence(design.data_width, design.container_bits)
        + " "
        + value_sentence(design.fraction_bits)
        + " Results are rounded once, half up, and saturate.",
        "",
    ]
    if design.registers:
        modes = ", ".join(f"{number} {mode}" for number, mode in enumerate(MODES))
        lines += registers_part(
            UNIT,
            {
                "identity": "the letters ALIB",
                "control": CONTROL,
                "status": STATUS,
                "mode": f"{modes}; {design.mode} after reset",
                "heads": "heads that have a slope",
                "load_begin": "write the number of heads: begin to load slopes",
                "load_data": "write two words for each head: the low 32 bits of its slope word, then the high ones",
                "load_commit": "write anything: the slopes take effect, or are refused (SLVERR)",
                "load_state": "bit 0 loading, 1 busy, 2 the CRC is being computed, 10:8 reason of the last refusal",
                "slope_crc": f"CRC-32 of the slopes as they are stored: `{slope_crc(design.slope_words):08x}`",
            },
            f"A slope word is the slope times 2^{design.slope_bits}, rounded.",
        )
    lines += [
        "## Rate and latency",
        "",
        f"One beat per clock, without a bubble between rows. First beat of an idle unit {latency} clocks after its "
        "descriptor, data waiting.",
        "",
    ]
    return "\n".join(lines)
