"""The frozen description of a learned-table adder: sizes gateware and model alike. JSON in and out.

The table's words are not part of it: they stand in the folder's ``rows.hex``, and :attr:`LearnedDesign.table_digest`
proves that they are the ones that the folder was made from.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from .. import __version__
from ..design import check_range
from ..errors import InputError
from ..formats import Format
from ..geometry.learned import LearnedGeometry, geometry_from_json, geometry_to_json
from ..models.weights import Table
from ..strict_json import Keys
from ..tables.digest import model_digest
from ..tables.learned import MAX_COARSER, Words, check_shape, quantise_table, table_digest, table_fraction_bits
from .row_design import RowDesign

Storage = Literal["block-ram", "external"]

FORMAT = "ropewalk learned design 1"

LANES = (1, 2, 4, 8, 16, 32)

MAX_MEMORY_WORDS = 1 << 22
"""Words of a block RAM table: beyond this no FPGA could hold it and Python should not try."""

MAX_BURST = 16
"""Beats of a burst of the AXI4 read master."""

PREFETCH_BEATS = 128
"""Beats that the read master may ask for ahead of their use: 64 clocks of latency, a burst and the way back."""

PAGE_BYTES = 4096
"""AXI4 bursts do not cross a multiple of this."""


@dataclass(frozen=True, kw_only=True)
class LearnedDesign(RowDesign):
    """A learned-table adder: a geometry and the choices that turn it into hardware.

    Parameters
    ----------
    geometry
        The table's shape and the family's row rule.
    lanes
        N, elements per beat: a power of two to 32.
    data_width, fraction_bits
        W and F of an element: 4 to 32 bits, LSB ``2**-F``, F from 0 to 31.
    table_width, table_fraction_bits
        T and G of a table word: 4 to 16 bits, LSB ``2**-G``.
    table_digest
        :func:`~ropewalk.tables.learned.table_digest` of the words.
    storage
        ``block-ram``, or ``external`` behind the AXI4 read master.
    address_width
        Bits of an address of the read master, 16 to 64.
    family
        Whose primitives the gateware uses.

    Raises
    ------
    InputError
        If the choices do not fit each other or the geometry.
    """

    geometry: LearnedGeometry
    lanes: int = 4
    data_width: int = 16
    fraction_bits: int = 8
    table_width: int = 16
    table_fraction_bits: int
    table_digest: str
    storage: Storage = "block-ram"
    address_width: int = 32
    family: str = "generic"

    def __post_init__(self) -> None:
        if self.lanes not in LANES:
            raise InputError(f"lanes must be {', '.join(map(str, LANES[:-1]))} or {LANES[-1]}, not {self.lanes!r}")
        check_range("data width", self.data_width, 4, 32)
        check_range("fraction bits", self.fraction_bits, 0, 31)
        check_range("table width", self.table_width, 4, 16)
        low, high = self.fraction_bits - MAX_COARSER, self.fraction_bits + self.table_width
        check_range("table fraction bits", self.table_fraction_bits, low, high)
        check_range("address width", self.address_width, 16, 64)
        check_shape(self.geometry.rows, self.geometry.dimension)
        if self.storage not in get_args(Storage):
            raise InputError(f"storage must be block-ram or external, not {self.storage!r}")
        if self.family != "generic":
            raise InputError(f"family must be generic, not {self.family!r}")
        if not re.fullmatch("[0-9a-f]{64}", self.table_digest):
            raise InputError("the digest of a table must be a SHA-256 in hexadecimal")
        if self.storage == "block-ram" and self.memory_words > MAX_MEMORY_WORDS:
            raise InputError(
                f"a table of {self.geometry.rows} x {self.geometry.dimension} elements takes "
                f"{self.memory_bits / 1e6:.0f} Mbit, more than any block RAM holds; keep it outside"
            )

    @property
    def dimension(self) -> int:
        """d, elements of a row."""
        return self.geometry.dimension

    @property
    def table(self) -> Format:
        """A table word."""
        return Format(width=self.table_width, fraction_bits=self.table_fraction_bits)

    @property
    def rounded_bits(self) -> int:
        """Bits of a table word below the data's LSB, which are rounded away; negative where it is shifted up."""
        return self.table_fraction_bits - self.fraction_bits

    @property
    def table_container_bits(self) -> int:
        """Bits a table word takes in memory outside: 8 or 16."""
        return 8 if self.table_width <= 8 else 16

    @property
    def word_bits(self) -> int:
        """Bits of one table word as it is stored: packed inside, in a container outside."""
        return self.table_width if self.storage == "block-ram" else self.table_container_bits

    @property
    def memory_words(self) -> int:
        """Memory words of the table, each a beat of ``lanes`` table words."""
        return self.geometry.rows * self.beats_per_token

    @property
    def memory_bits(self) -> int:
        """Block RAM bits of the unit's table: ``rows * ceil(dimension / N) * N * T``; outside, the prefetch buffer."""
        if self.storage == "block-ram":
            return self.memory_words * self.lanes * self.table_width
        return PREFETCH_BEATS * (self.lanes * self.table_width + 2)

    @property
    def bus_bytes(self) -> int:
        """Bytes of a beat of the read master: ``lanes`` containers."""
        return self.lanes * self.table_container_bits // 8

    @property
    def row_stride(self) -> int:
        """Bytes from row to row where rows follow each other without a gap: the stride register after reset."""
        return self.beats_per_token * self.bus_bytes


def learned_design(
    geometry: LearnedGeometry, table: Table, *, fraction_bits: int = 8, table_width: int = 16, **options: Any
) -> tuple[LearnedDesign, Words]:
    """The design for ``table`` (its own scale, from its largest entry), and the table's words.

    ``options`` are further fields of :class:`LearnedDesign`. Raises ``InputError`` as that does.
    """
    check_range("fraction bits", fraction_bits, 0, 31)
    check_range("table width", table_width, 4, 16)
    if table.shape != (geometry.rows, geometry.dimension):
        raise InputError(
            f"the table has {table.shape[0]} x {table.shape[1]} elements, and the model's {geometry.rows} x "
            f"{geometry.dimension}"
        )
    scale = table_fraction_bits(table, table_width, fraction_bits)
    words = quantise_table(table, table_width, fraction_bits, scale)
    design = LearnedDesign(
        geometry=geometry,
        fraction_bits=fraction_bits,
        table_width=table_width,
        table_fraction_bits=scale,
        table_digest=table_digest(words, table_width, scale),
        **options,
    )
    return design, words


_INTEGERS = {"lanes": 32, "data_width": 32, "table_width": 16, "address_width": 64}
_KEYS = ("format", "ropewalk", "parameters", "geometry", "digest", "table_digest", "derived")


def learned_to_json(design: LearnedDesign, derived: dict[str, Any]) -> dict[str, Any]:
    """Everything that defines ``design``, its digests, and ``derived`` beside it, which is not read back."""
    names = (*_INTEGERS, "fraction_bits", "table_fraction_bits", "storage", "family")
    return {
        "format": FORMAT,
        "ropewalk": __version__,
        "parameters": {name: getattr(design, name) for name in names},
        "geometry": geometry_to_json(design.geometry),
        "digest": model_digest(design.geometry),
        "table_digest": design.table_digest,
        "derived": derived,
    }


def learned_from_json(values: dict[str, Any], where: str) -> LearnedDesign:
    """The design that :func:`learned_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything that defines the design is missing, unknown or out of range.
    """
    top = Keys(values, where)
    if values.get("format") != FORMAT:
        raise top.error("format", f'"{FORMAT}"')
    inside = top.object("parameters")
    if inside is None:
        raise top.error("parameters", "an object")
    signed = {"fraction_bits": (0, 31), "table_fraction_bits": (-MAX_COARSER, 31 + 16)}
    for keys, known in ((top, _KEYS), (inside, (*_INTEGERS, *signed, "storage", "family"))):
        for key in keys:
            if key not in known:
                raise keys.error(key, "absent: it is not a key of a learned design")
    storage = inside.required_choice("storage", get_args(Storage))
    digest = top.get("table_digest")
    geometry = geometry_from_json(values.get("geometry"), f"{where}: geometry")
    if values.get("digest") != model_digest(geometry):
        raise top.error("digest", f"the digest of the geometry beside it, {model_digest(geometry)}")
    try:
        return LearnedDesign(
            geometry=geometry,
            storage=storage,
            family=inside.required_text("family"),
            table_digest=digest if isinstance(digest, str) else "",
            **{name: inside.required_integer(name, 1, high) for name, high in _INTEGERS.items()},
            **{name: inside.required_integer(name, *bounds) for name, bounds in signed.items()},
        )
    except InputError as refusal:
        text = str(refusal)
        raise refusal if text.startswith(where) else top.refuse(text) from None
