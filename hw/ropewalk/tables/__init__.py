"""From a geometry's doubles to the integers in the hardware: steps, amplitudes, the sine ROM, full tables, digest.

Every integer is specified in ``docs/number-contract.md`` and comes out the same on every platform: where a double
cannot decide a rounding, multiple precision does.
"""

from .digest import geometry_digest
from .rows import pack_entries, rows_at, table_rows
from .sine import SineWord, pack, sine_words
from .steps import amplitude_word, step_words

__all__ = [
    "SineWord",
    "amplitude_word",
    "geometry_digest",
    "pack",
    "pack_entries",
    "rows_at",
    "sine_words",
    "step_words",
    "table_rows",
]
