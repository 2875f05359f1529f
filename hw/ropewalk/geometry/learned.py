"""Learned positions: a table with one vector per position, added to the token's embedding.

Which row a token reads is each family's own rule: an offset, and whether masked tokens count. The values are the
model's weights (:mod:`ropewalk.models.weights`), not part of the geometry.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..strict_json import known_object

MaskRule = Literal["ignored", "counted"]

MASK_RULES: tuple[MaskRule, ...] = get_args(MaskRule)

MAX_ROWS = 1 << 24
MAX_DIMENSION = 1 << 16


@dataclass(frozen=True, kw_only=True)
class LearnedGeometry:
    """The position table of a model. Field names are those of ``ropewalk geometry --json``.

    Parameters
    ----------
    rows, dimension
        The table's shape.
    row_offset
        Position p (the first token's is 0) reads row ``p + row_offset``.
    mask
        Where positions come from: ``ignored``, 0, 1, 2, ... whatever the mask; ``counted``, the number of tokens
        before this one that are not masked.
    masked_row
        With ``counted``, the row that every masked token reads; else None.
    """

    model_type: str
    rows: int
    row_offset: int
    dimension: int
    mask: MaskRule = "ignored"
    masked_row: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def max_position(self) -> int:
        """The number of positions that have a row of their own."""
        return self.rows - self.row_offset


def geometry_to_json(geometry: LearnedGeometry) -> dict[str, Any]:
    """``geometry`` as ``ropewalk geometry --json`` prints it: plain values in a fixed order, without notes."""
    return {
        "scheme": "learned",
        "model_type": geometry.model_type,
        "rows": geometry.rows,
        "row_offset": geometry.row_offset,
        "dimension": geometry.dimension,
        "mask": geometry.mask,
        "masked_row": geometry.masked_row,
    }


_KEYS = frozenset(["scheme", "model_type", "rows", "row_offset", "dimension", "mask", "masked_row"])


def geometry_from_json(values: object, where: str = "geometry") -> LearnedGeometry:
    """The geometry that :func:`geometry_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, unknown, of another kind, out of range, or contradicts the rest.
    """
    keys = known_object(values, where, "learned", _KEYS)
    rows = keys.required_integer("rows", 1, MAX_ROWS)
    mask = keys.required_choice("mask", MASK_RULES)
    masked_row = keys.integer("masked_row", 0, rows - 1)
    if (masked_row is None) != (mask == "ignored"):
        raise keys.error("masked_row", "a row where masked tokens are counted, and null where the mask is ignored")
    return LearnedGeometry(
        model_type=keys.required_text("model_type"),
        rows=rows,
        row_offset=keys.required_integer("row_offset", 0, rows - 1),
        dimension=keys.required_integer("dimension", 1, MAX_DIMENSION),
        mask=mask,
        masked_row=masked_row,
    )
