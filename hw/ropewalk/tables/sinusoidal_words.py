"""The words of a sinusoidal adder's slot, as they are loaded and as the hardware's CRC-32 covers them.

| word | bits |
|---|---|
| 0 | elements of a row |
| 1 | 0: layout (0 interleaved, 1 half), 31:16 pairs of a row |
| 2 | 24:0 limit, exclusive |
| 3 | 20:0 row offset |
| 4 | 20:0 the row of zeros, or all ones where there is none |
| 5 | 17:0 amplitude word |
| 6 + 2i | 31:0 low bits of the step of pair i |
| 7 + 2i | 15:0 high bits of the step |

Bits that the table does not name are 0. Words 0 and 1 are those of the design: they belong to synthesis, and are there
to be checked.
"""

import struct
import zlib

from ..designs.sinusoidal import SinusoidalDesign
from .steps import amplitude_word, step_words

HEADER_WORDS = 6
NO_ROW = 0xFFFFFFFF


def shape_words(design: SinusoidalDesign) -> tuple[int, int]:
    """Words 0 and 1, which synthesis has fixed."""
    return design.dimension, int(design.half) | design.pairs << 16


def slot_steps(design: SinusoidalDesign) -> tuple[int, ...]:
    """The step of every pair."""
    return step_words(design.geometry.inverse_frequency, design.phase_bits)


def slot_load_words(design: SinusoidalDesign) -> list[int]:
    """All words of the slot, in load order."""
    geometry = design.geometry
    return [
        *shape_words(design),
        design.limit,
        geometry.row_offset,
        NO_ROW if geometry.zero_row is None else geometry.zero_row,
        amplitude_word(design.amplitude),
        *(half for step in slot_steps(design) for half in (step & 0xFFFFFFFF, step >> 32)),
    ]


def slot_crc(design: SinusoidalDesign) -> int:
    """CRC-32 (IEEE 802.3, as zlib has it) over the slot's words, each little-endian."""
    words = slot_load_words(design)
    return zlib.crc32(struct.pack(f"<{len(words)}I", *words))
