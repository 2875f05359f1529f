"""The geometry digest: a SHA-256 by which two workers, or a host and a board, prove that they rotate alike.

The byte layout is specified in ``docs/number-contract.md``, "Geometry digest".
"""

import hashlib
import struct

from ..design import Design
from .angle_models import software_words
from .steps import amplitude_word, step_words

_MAGIC = b"ropewalk/rope/1\n"
_PAIRING = {"interleaved": 0, "half": 1}


def geometry_digest(design: Design) -> str:
    """The SHA-256, as 64 lower-case hex digits, of :func:`digest_bytes`."""
    return hashlib.sha256(digest_bytes(design)).hexdigest()


def digest_bytes(design: Design) -> bytes:
    """The integers that define the geometry, in the documented order.

    Names, head counts, lanes, widths of data and coefficients and the source of rows are left out: engines that
    differ only in those rotate by the same angles. So are empty slots. Software's angles add what defines them; for
    exact ones nothing is added.
    """
    geometry = design.geometry
    parts = [
        _MAGIC,
        struct.pack(
            "<7I",
            geometry.head_dim,
            geometry.rotary_dim,
            geometry.rotary_start,
            _PAIRING[geometry.pairing],
            _PAIRING[geometry.output_pairing],
            design.phase_bits,
            len(design.variants),
        ),
    ]
    for variant, limit in zip(design.variants, design.limits, strict=True):
        parts.append(struct.pack("<2I", amplitude_word(variant.amplitude), limit))
        axes = variant.axis if variant.axis is not None else (0,) * design.pairs
        for step, axis in zip(step_words(variant.inverse_frequency, design.phase_bits), axes, strict=True):
            parts.append(struct.pack("<QI", step, axis))
    if design.angle_model != "exact":
        parts.append(f"angle model {design.angle_model}\n".encode())
        for variant in design.variants:
            words = software_words(variant, design.angle_model)
            parts.append(struct.pack(f"<{len(words)}I", *words))
    return b"".join(parts)
