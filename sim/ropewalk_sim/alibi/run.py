"""The arrays of ``ropewalk run`` (INTERFACE.md, scheme ``alibi``) to the streams of an ALiBi unit, and back.

Rows go head by head, query by query; row i carries the tag i modulo 256.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.errors import InputError
from ropewalk.strict_json import show
from ropewalk_sim.errors import EngineError
from ropewalk_sim.quantise import check_array, check_finite, check_range, is_float, quantise
from ropewalk_sim.units.streams import UnitInput, UnitOutput, from_octets

from .streams import MOST_KEYS, row_descriptors, whole_rows

ARRAYS = ("score", "query_position", "key_start", "causal")


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedAlibi:
    """The streams of a run, and what brings their result back into arrays.

    ``shape`` is that of the scores, ``scale`` the value of one LSB, ``floats`` whether they were floats, ``saturated``
    how many did not fit the word.
    """

    stream: UnitInput
    shape: tuple[int, int, int]
    scale: float
    floats: bool
    saturated: int


def pack_run(design: AlibiDesign, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedAlibi:
    """Check the arrays of a run, quantise the scores and frame them as streams.

    Parameters
    ----------
    arrays
        ``score [heads, queries, keys]``, integers (raw words) or floats; ``query_position [queries]``, from 0 to below
        2^24; ``key_start`` scalar or ``[queries]``, the position of the first key, negative where there is padding on
        the left; optional ``causal``, a flag or ``[queries]`` of them: keys after the query become the most negative
        score. A row's length, for MPT's form, is ``key_start + keys``.
    scale
        ``2 ** -fraction_bits``, which it is when absent.

    Raises
    ------
    InputError
        If an array is missing, unknown, or holds what INTERFACE.md refuses.
    """
    lsb = 2.0**-design.fraction_bits
    if scale is not None and scale != lsb:
        raise InputError(f"scale is {scale!r}, and the LSB of this unit's scores stands for {lsb!r} (--fraction-bits)")
    for name in arrays:
        if name not in ARRAYS:
            raise InputError(f"the array {show(name)} is not known; these are: {', '.join(ARRAYS)}")
    heads = design.geometry.heads
    score = check_array(arrays, "score", (heads, None, None), "[heads, queries, keys]")
    _, queries, keys = score.shape
    query = check_array(arrays, "query_position", (queries,), "[queries]")
    query = check_range("query_position", query, 0, MOST_KEYS - 1, "a position")
    first = _per_query(arrays, "key_start", queries)
    first = check_range("key_start", first, -MOST_KEYS, MOST_KEYS - keys, f"the first of {keys} keys")
    causal = _per_query(arrays, "causal", queries) if "causal" in arrays else np.zeros(queries, np.int64)
    causal = check_range("causal", causal.astype(np.int64) if causal.dtype == np.bool_ else causal, 0, 1, "a flag")
    floats = is_float("score", score)
    saturated = 0
    if floats:
        words, saturated = quantise(check_finite("score", score), lsb, design.data)
    else:
        low, high = design.data.minimum, design.data.maximum
        words = check_range("score", score, low, high, f"a word of {design.data_width} bits")
    rows = heads * queries if keys else 0
    place = np.arange(rows) % max(queries, 1)
    descriptors = row_descriptors(
        head=np.arange(rows) // max(queries, 1),
        query=query[place],
        first=first[place],
        count=keys,
        length=first[place] + keys,
        causal=causal[place],
        tag=np.arange(rows) & 0xFF,
    )
    stream = whole_rows(design, descriptors, list(words.reshape(rows, keys) if rows else []))
    return PackedAlibi(stream=stream, shape=score.shape, scale=lsb, floats=floats, saturated=saturated)


def unpack_run(design: AlibiDesign, packed: PackedAlibi, output: UnitOutput) -> dict[str, np.ndarray]:
    """The arrays of a result: ``score``, ``error [heads, queries]`` (``uint8``) and ``scale``.

    Words come back as ``int32``, floats as ``float64``; a row with ``error`` 1 came back as it was.

    Raises
    ------
    EngineError
        If the output is not framed as the input was: a beat was lost, added or misplaced.
    """
    sent = packed.stream
    if output.beats != sent.beats:
        raise EngineError(f"{sent.beats} beats went in and {output.beats} came out")
    if not all(np.array_equal(getattr(output, name), getattr(sent, name)) for name in ("last", "tid", "keep")):
        raise EngineError("the output's TLAST, TID or TKEEP do not stand where the input's stood")
    heads, queries, keys = packed.shape
    beats = -(-keys // design.lanes)
    words = from_octets(output.data, design.container_bits).reshape(heads, queries, beats * design.lanes)[..., :keys]
    return {
        "score": words * packed.scale if packed.floats else words.astype(np.int32),
        "error": np.asarray((output.user & 1).reshape(heads, queries, beats).any(axis=2), np.uint8),
        "scale": np.array(packed.scale),
    }


def _per_query(arrays: Mapping[str, np.ndarray], name: str, queries: int) -> np.ndarray:
    """A scalar, repeated, or one value for each query."""
    value = arrays.get(name)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return np.repeat(value, queries)
    return check_array(arrays, name, (queries,), "scalar or [queries]")
