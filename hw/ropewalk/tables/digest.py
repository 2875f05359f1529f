"""The geometry digest: a SHA-256 by which two workers, or a host and a board, prove that they compute alike.

The byte layouts are specified in ``docs/number-contract.md``, "Geometry digest". Those of the schemes that are not
rotary are written in :mod:`ropewalk.tables.other_digests`.
"""

import hashlib
import struct

from ..design import Design, default_design
from ..geometry import Geometry, RotaryGeometry
from ..geometry.shape import Shape
from .other_digests import other_digest_bytes
from .steps import amplitude_word, step_words

_MAGIC = b"ropewalk/rope/1\n"
_SHAPES = b"shapes\n"
_PAIRING = {"interleaved": 0, "half": 1}


def geometry_digest(design: Design) -> str:
    """The SHA-256, as 64 lower-case hex digits, of :func:`digest_bytes`."""
    return hashlib.sha256(digest_bytes(design)).hexdigest()


def model_digest(geometry: Geometry) -> str:
    """The SHA-256, as 64 lower-case hex digits, of :func:`model_bytes`."""
    return hashlib.sha256(model_bytes(geometry)).hexdigest()


def model_bytes(geometry: Geometry) -> bytes:
    """The integers of a model of any scheme: of a rotary one, those of its default design.

    Raises
    ------
    InputError
        If an amplitude or a frequency does not fit its word.
    """
    if isinstance(geometry, RotaryGeometry):
        return digest_bytes(default_design(geometry))
    return other_digest_bytes(geometry)


def digest_bytes(design: Design) -> bytes:
    """The integers that define a rotary geometry, in the documented order.

    Names, head counts, lanes, widths of data and coefficients and the source of rows are left out: engines that
    differ only in those rotate by the same angles. So are empty slots. Variants of different shapes add their shapes,
    and software's angles what defines them; where there is neither, nothing is added.
    """
    slots = range(len(design.variants))
    shapes = [_shape_words(design.geometry.of(slot)) for slot in slots]
    parts = [_MAGIC, struct.pack("<7I", *shapes[0], design.phase_bits, len(design.variants))]
    if any(shape != shapes[0] for shape in shapes):
        parts += [_SHAPES, *(struct.pack("<5I", *shape) for shape in shapes)]
    for variant, limit in zip(design.variants, design.limits, strict=True):
        parts.append(struct.pack("<2I", amplitude_word(variant.amplitude), limit))
        axes = variant.axis if variant.axis is not None else (0,) * len(variant.inverse_frequency)
        for step, axis in zip(step_words(variant.inverse_frequency, design.phase_bits), axes, strict=True):
            parts.append(struct.pack("<QI", step, axis))
    if design.angle_model != "exact":
        # here, because it takes numpy, which no other digest needs
        from .angle_models import software_words

        parts.append(f"angle model {design.angle_model}\n".encode())
        for variant in design.variants:
            words = software_words(variant, design.angle_model)
            parts.append(struct.pack(f"<{len(words)}I", *words))
    return b"".join(parts)


def _shape_words(shape: Shape) -> tuple[int, int, int, int, int]:
    """What of a shape changes which elements turn; head counts do not."""
    pairings = _PAIRING[shape.pairing], _PAIRING[shape.output_pairing]
    return shape.head_dim, shape.rotary_dim, shape.rotary_start, *pairings
