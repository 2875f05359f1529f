"""Where an engine's rows come from: what its design asks for."""

from ..design import Design
from .generator import RowGenerator
from .shared_generator import SharedRowGenerator
from .table import RowTable


def row_source(design: Design) -> RowGenerator | SharedRowGenerator | RowTable:
    """The source of rows of an engine: a table, or a generator of a pair per clock or in several clocks."""
    if design.source == "table":
        return RowTable(design)
    return RowGenerator(design) if design.clocks_per_pair == 1 else SharedRowGenerator(design)
