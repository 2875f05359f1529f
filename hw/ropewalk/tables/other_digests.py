"""The digest's bytes of ALiBi, learned and sinusoidal positions.

The byte layouts are specified in ``docs/number-contract.md``, "Geometry digest".
"""

import struct

from ..design import POSITION_BITS
from ..geometry import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ..geometry.alibi import MODES
from ..geometry.learned import MASK_RULES
from ..geometry.sinusoidal import LAYOUTS
from .steps import step_words

PHASE_BITS = 48
"""Fraction bits of a sinusoid's steps."""

_NO_ROW = 0xFFFFFFFF


def other_digest_bytes(geometry: AlibiGeometry | LearnedGeometry | SinusoidalGeometry) -> bytes:
    """The integers that define a geometry that is not rotary, in the documented order.

    The name of the model is left out, and so are a learned table's weights: they are not part of the geometry.
    """
    match geometry:
        case AlibiGeometry():
            return b"".join(
                [
                    b"ropewalk/alibi/1\n",
                    struct.pack("<2I", geometry.heads, MODES.index(geometry.mode)),
                    # a double's bits, as the slopes are correctly rounded: nothing is lost
                    struct.pack(f"<{1 + geometry.heads}d", geometry.scale_after, *geometry.slopes),
                ]
            )
        case LearnedGeometry():
            return b"ropewalk/learned/1\n" + struct.pack(
                "<5I",
                geometry.rows,
                geometry.row_offset,
                geometry.dimension,
                MASK_RULES.index(geometry.mask),
                _row(geometry.masked_row),
            )
        case SinusoidalGeometry():
            steps = step_words(geometry.inverse_frequency, PHASE_BITS)
            return b"".join(
                [
                    b"ropewalk/sinusoidal/1\n",
                    struct.pack(
                        "<8I",
                        geometry.dimension,
                        LAYOUTS.index(geometry.layout),
                        sinusoidal_limit(geometry),
                        geometry.row_offset,
                        _row(geometry.zero_row),
                        MASK_RULES.index(geometry.mask),
                        PHASE_BITS,
                        len(steps),
                    ),
                    struct.pack(f"<{len(steps)}Q", *steps),
                ]
            )


def sinusoidal_limit(geometry: SinusoidalGeometry) -> int:
    """The number of positions: the model's, at most 2**24."""
    return min(geometry.max_position, 1 << POSITION_BITS)


def _row(row: int | None) -> int:
    return _NO_ROW if row is None else row
