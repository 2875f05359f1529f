"""The learned-table adder's part of ``generate``, ``run`` and ``verify``."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import check_range
from ropewalk.designs.learned import LearnedDesign, learned_design
from ropewalk.emit.learned import read_table
from ropewalk.errors import InputError
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.models import preset_names
from ropewalk.models.source import gguf_source
from ropewalk.models.weights import Table, load_table
from ropewalk.strict_json import show_path
from ropewalk.tables.learned import Words, resize_rows
from ropewalk_sim.learned.model import add_words
from ropewalk_sim.learned.unit import LearnedUnit

from .scheme import Made, Ran, Request, Verified
from .units import run_unit, verify_unit

CHUNK_ROWS = 256
"""Rows whose rounding is measured at once, which bounds the memory."""


class LearnedScheme:
    """See :class:`~.scheme.Scheme`."""

    exact = "the exact sum of element and table word"

    def make(self, request: Request, options: Mapping[str, Any]) -> Made:
        """A learned-table adder. Fewer positions, or other rows, go into the geometry, and so into its digest."""
        geometry: LearnedGeometry = request.geometry
        table = find_table(request.model, geometry, options["table"], options["table_tensor"])
        notes = []
        if options["resize_rows"] is not None:
            geometry, table, warning = resize_rows(geometry, table, options["resize_rows"])
            notes.append(warning)
        if options["positions"] is not None:
            check_range("positions of a learned table", options["positions"], 1, geometry.max_position)
            geometry = replace(geometry, rows=options["positions"] + geometry.row_offset)
            table = table[: geometry.rows]
        design, words = learned_design(
            geometry,
            table,
            lanes=4 if options["lanes"] is None else options["lanes"],
            data_width=options["data_width"],
            fraction_bits=options["fraction_bits"],
            table_width=options["table_width"],
            storage=options["table_memory"],
            address_width=options["address_width"],
            family=options["family"],
        )
        return Made(design=design, words=words, summary=summary(design, table, words), notes=notes)

    def run(
        self,
        design: LearnedDesign,
        folder: Path,
        arrays: Mapping[str, np.ndarray],
        *,
        engine: str,
        scale: float | None,
    ) -> Ran:
        """Elements through a learned-table adder."""
        unit = LearnedUnit(design, folder)
        reason = f"the position has no row: the table ends at position {design.geometry.max_position - 1}"
        return run_unit(unit, arrays, engine=engine, scale=scale, tokens="tokens", reason=reason)

    def verify(
        self,
        design: LearnedDesign,
        folder: Path,
        names: list[str],
        arrays: Mapping[str, np.ndarray] | None,
        *,
        simulated: Path | None = None,
    ) -> Verified:
        """The engines of a learned-table adder; the table is that of the folder, and compared by its digest."""
        try:
            words = read_table(design, folder)
        except InputError:  # said with the changed tables; the Verilog does not depend on the words
            words = np.zeros((design.geometry.rows, design.geometry.dimension), np.int16)
        return verify_unit(LearnedUnit(design, simulated or folder), folder, names, arrays, words)


def find_table(model: str, geometry: LearnedGeometry, file: str | None, tensor: str | None) -> Table:
    """The table in ``file``, else in the weights that belong to MODEL.

    Raises
    ------
    InputError
        If there is none, or it does not fit the model.
    """
    source = own_weights(model) if file is None else Path(file)
    if source is None:
        raise InputError(
            f"{show_path(model)} comes without weights: give its position table with --table FILE (npy, safetensors "
            f"or GGUF)"
        )
    try:
        return load_table(source, tensor=tensor, geometry=geometry)
    except InputError as refusal:
        raise InputError(f"{'--table' if file is not None else 'the table of the model'}: {refusal}") from None


def own_weights(model: str) -> Path | None:
    """Where the weights of MODEL are: its GGUF file, or the safetensors in its folder; None where there are none."""
    if model in preset_names():
        return None
    gguf = gguf_source(model)
    if gguf is not None:
        return gguf
    path = Path(model)
    folder = path if path.is_dir() else path.parent
    names = ("model.safetensors", "model.safetensors.index.json")
    return folder if any((folder / name).exists() for name in names) else None


def summary(design: LearnedDesign, table: Table, words: Words) -> list[str]:
    """What ``design`` is, in a few lines for a person."""
    found = design.geometry
    where = "in block RAM" if design.storage == "block-ram" else "outside, behind an AXI4 read master"
    offset = f"p + {found.row_offset}" if found.row_offset else "p"
    return [
        f"{found.model_type}: learned-table adder",
        f"  {'table':<18}{found.rows:,} rows of {found.dimension:,} elements, {where}",
        f"  {'positions':<18}0 to {found.max_position - 1:,}: position p reads row {offset}",
        f"  {'widths':<18}{design.data_width}-bit data, LSB 2^-{design.fraction_bits}; {design.table_width}-bit table "
        f"words, LSB 2^{-design.table_fraction_bits}",
        f"  {'rounding':<18}what is added is at most {table_error(design, table, words):.4f} LSB of the data off the "
        f"table's entries",
        f"  {'lanes':<18}{design.lanes} elements per beat, {design.beats_per_token} beats per token",
        f"  {'memory':<18}{design.memory_bits:,} bits",
    ]


def table_error(design: LearnedDesign, table: Table, words: Words) -> float:
    """How far what is added to an element of 0 is at most from the table's entry, in LSB of the data."""
    worst = 0.0
    for first in range(0, len(table), CHUNK_ROWS):
        rows = slice(first, first + CHUNK_ROWS)
        exact = np.ldexp(table[rows].astype(np.float64), design.fraction_bits)
        exact = np.clip(exact, design.data.minimum, design.data.maximum)
        worst = max(worst, float(np.abs(add_words(design, np.int64(0), words[rows]) - exact).max()))  # type: ignore[arg-type]
    return worst
