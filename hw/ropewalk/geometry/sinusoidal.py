"""Sinusoidal positions: sines and cosines of one angle per pair of elements, added to the token's embedding.

Source: Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), section 3.5. Published code differs from it in
the order of the elements, in the divisor of the exponent, and in the row that a position reads.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..strict_json import known_object
from .learned import MASK_RULES, MAX_DIMENSION, MaskRule
from .precise import nearest, precise
from .rotary import MAX_FREQUENCY, MAX_POSITIONS

Layout = Literal["interleaved", "half"]

LAYOUTS: tuple[Layout, ...] = get_args(Layout)

BASE = 10_000.0

MAX_ROW_OFFSET = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SinusoidalGeometry:
    """The sinusoids of a model. Field names are those of ``ropewalk geometry --json``.

    Position p reads row ``r = p + row_offset``, whose pair i has the angle ``r * inverse_frequency[i]``.

    Parameters
    ----------
    dimension
        Elements of a row.
    layout
        ``interleaved``: sin of pair 0, cos of pair 0, sin of pair 1, ...; ``half``: all sines, then all cosines.
        With n pairs, the n sines are followed by (or interleaved with) the cosines of the first
        ``min(n, dimension - n)`` pairs; elements after those are 0. (An odd dimension has either one sine more than
        cosines, n = (dimension + 1) / 2, or a 0 at the end, n = (dimension - 1) / 2.)
    max_position
        Exclusive: the number of positions.
    inverse_frequency
        Of each pair, in radians per row: doubles correctly rounded from multiple precision.
    row_offset
        What is added to a position before it is multiplied.
    zero_row
        A row whose elements are all 0 whatever the formula says (fairseq's padding), or None.
    mask
        As in :class:`~ropewalk.geometry.learned.LearnedGeometry`; masked tokens read ``zero_row``.
    """

    model_type: str
    dimension: int
    layout: Layout
    max_position: int
    inverse_frequency: tuple[float, ...]
    row_offset: int = 0
    zero_row: int | None = None
    mask: MaskRule = "ignored"
    notes: tuple[str, ...] = ()


def paper_frequencies(dimension: int) -> tuple[float, ...]:
    """Inverse frequencies ``10000 ** (-2 i / dimension)`` of the pairs i = 0 .. ceil(dimension / 2) - 1.

    Those of the paper, of XLM and DistilBERT, and of Marian, Pegasus and CTRL, which write the exponent of element j
    as ``2 (j // 2) / dimension``. An odd dimension has a sine more than cosines.
    """
    return _powers((dimension + 1) // 2, precise.mpf(dimension) / 2)


def timescale_frequencies(dimension: int) -> tuple[float, ...]:
    """Inverse frequencies ``10000 ** (-i / (n - 1))`` of the n = floor(dimension / 2) pairs, the last one 1 / 10000.

    Those of tensor2tensor, fairseq and Whisper. ``dimension`` is at least 4; an odd one has a 0 at the end.
    """
    pairs = dimension // 2
    return _powers(pairs, precise.mpf(pairs - 1))


def sinusoid_row(geometry: SinusoidalGeometry, row: int) -> tuple[float, ...]:
    """The elements of one row, each the correctly rounded sine or cosine of ``row * inverse_frequency``.

    ``row`` is a position plus ``row_offset``. It may be negative, for encodings of relative positions: sines change
    their sign with it, cosines do not.
    """
    if row == geometry.zero_row:
        return (0.0,) * geometry.dimension
    angles = [row * precise.mpf(frequency) for frequency in geometry.inverse_frequency]
    sines = [nearest(precise.sin(angle)) for angle in angles]
    cosines = [nearest(precise.cos(angle)) for angle in angles[: geometry.dimension - len(angles)]]
    if geometry.layout == "half":
        elements = sines + cosines
    else:
        elements = [element for pair in zip(sines, cosines, strict=False) for element in pair] + sines[len(cosines) :]
    return tuple(elements + [0.0] * (geometry.dimension - len(elements)))


def _powers(pairs: int, divisor: Any) -> tuple[float, ...]:
    """``BASE ** (-i / divisor)`` of each pair i."""
    logarithm = precise.log(precise.mpf(BASE))
    return tuple(nearest(precise.exp(-logarithm * pair / divisor)) for pair in range(pairs))


def geometry_to_json(geometry: SinusoidalGeometry) -> dict[str, Any]:
    """``geometry`` as ``ropewalk geometry --json`` prints it: plain values in a fixed order, without notes."""
    return {
        "scheme": "sinusoidal",
        "model_type": geometry.model_type,
        "dimension": geometry.dimension,
        "layout": geometry.layout,
        "max_position": geometry.max_position,
        "inverse_frequency": list(geometry.inverse_frequency),
        "row_offset": geometry.row_offset,
        "zero_row": geometry.zero_row,
        "mask": geometry.mask,
    }


_KEYS = frozenset(
    [
        "scheme",
        "model_type",
        "dimension",
        "layout",
        "max_position",
        "inverse_frequency",
        "row_offset",
        "zero_row",
        "mask",
    ]
)


def geometry_from_json(values: object, where: str = "geometry") -> SinusoidalGeometry:
    """The geometry that :func:`geometry_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, unknown, of another kind, out of range, or contradicts the rest.
    """
    keys = known_object(values, where, "sinusoidal", _KEYS)
    dimension = keys.required_integer("dimension", 2, MAX_DIMENSION)
    layout = keys.required_choice("layout", LAYOUTS)
    pairs = {dimension // 2, (dimension + 1) // 2}
    frequencies = keys.items("inverse_frequency", max(pairs))
    if frequencies is None or len(frequencies) not in pairs:
        raise keys.error("inverse_frequency", f"a list of {' or '.join(map(str, sorted(pairs)))} numbers")
    row_offset = keys.required_integer("row_offset", 0, MAX_ROW_OFFSET)
    zero_row = keys.integer("zero_row", 0, MAX_ROW_OFFSET)
    mask = keys.required_choice("mask", MASK_RULES)
    if mask == "counted" and zero_row is None:
        raise keys.error("zero_row", "the row of masked tokens where they are counted")
    return SinusoidalGeometry(
        model_type=keys.required_text("model_type"),
        dimension=dimension,
        layout=layout,
        max_position=keys.required_integer("max_position", 1, MAX_POSITIONS),
        inverse_frequency=keys.required_numbers("inverse_frequency", len(frequencies), 0.0, MAX_FREQUENCY),
        row_offset=row_offset,
        zero_row=zero_row,
        mask=mask,
    )
