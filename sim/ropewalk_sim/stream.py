"""The arrays of ``ropewalk run`` (INTERFACE.md, scheme ``rope``) to the streams of an engine, and back.

A token's elements are its query heads, key heads and value heads. In the arrays queries and keys are in the model's own
element order; on the streams they are in the engine's. Token i carries the tag i modulo 256.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from ropewalk.design import POSITION_BITS, Design
from ropewalk.design_checks import MAX_HEADS
from ropewalk.errors import InputError
from ropewalk.strict_json import show

from .beats import (
    INVERSE,
    KEY,
    PASS,
    QUERY,
    UNIT_AMPLITUDE,
    VALUE,
    Script,
    Stalls,
    StreamInput,
    StreamOutput,
    descriptor_words,
    whole_tokens,
)
from .element_order import Layouts, moved_tokens
from .errors import EngineError
from .quantise import check_array, check_finite, check_range, check_scale, default_scale, is_float, quantise
from .registers import write

__all__ = [
    "INVERSE",
    "KEY",
    "PASS",
    "QUERY",
    "UNIT_AMPLITUDE",
    "VALUE",
    "PackedRun",
    "Script",
    "Stalls",
    "StreamInput",
    "StreamOutput",
    "descriptor_words",
    "pack_run",
    "unpack_run",
    "whole_tokens",
]


HEAD_REGISTERS = ("query_heads", "key_heads", "value_heads")


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedRun:
    """The streams of a run, and what brings their result back into arrays.

    ``scale`` is the value of one LSB, ``floats`` whether the arrays held floats, ``saturated`` how many elements
    did not fit the word at that scale (always 0 at the default one), ``values`` whether there was ``v``. ``script`` is
    what the registers must be told first, ``design`` the design with that done.
    """

    design: Design
    script: Script | None
    stream: StreamInput
    scale: float
    floats: bool
    saturated: int
    values: bool = False


def pack_run(design: Design, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> PackedRun:
    """Check the arrays of a run, quantise them and frame them as streams.

    Parameters
    ----------
    arrays
        ``q [tokens, query_heads, head_dim]``, ``k [tokens, key_heads, head_dim]``, ``position [tokens, axes]`` (or
        ``[tokens]``: the same on every axis); optional ``v [tokens, value_heads, head_dim]`` (as many value heads as
        the registers can say; those of the design must be given), ``variant [tokens]`` (slot numbers 0..255, or names;
        slot 0 where absent) and ``inverse [tokens]`` (booleans, or 0 and 1). Integer elements are raw words; floats
        are quantised.
    scale
        The value of one LSB. By default, for floats, the smallest power of two at which nothing can saturate,
        whichever of the design's variants a token names; for integers 1.

    Raises
    ------
    InputError
        If an array is missing, unknown, or holds what INTERFACE.md refuses.
    """
    design, script = _with_heads(design, arrays)
    wanted = {name: heads for name, heads in zip("qkv", design.heads, strict=True) if heads or name in arrays}
    for name in arrays:
        if name not in wanted and name not in ("position", "variant", "inverse"):
            known = ", ".join([*dict.fromkeys([*wanted, "v"]), "position", "variant", "inverse"])
            raise InputError(f"the array {show(name)} is not known; these are: {known}")
    head_dim = design.geometry.head_dim
    tokens = len(given_positions(design, arrays))
    labels = {"q": "[tokens, query_heads, head_dim]", "k": "[tokens, key_heads, head_dim]",
              "v": "[tokens, value_heads, head_dim]"}  # fmt: skip
    elements = {
        name: check_array(arrays, name, (tokens, heads, head_dim), labels[name]) for name, heads in wanted.items()
    }
    kinds = {name: is_float(name, array) for name, array in elements.items()}
    if len(set(kinds.values())) > 1:
        mixed = ", ".join(f"{name} is {array.dtype}" for name, array in elements.items())
        raise InputError(f"the elements must all be integers or all be floats: {mixed}")
    floats = any(kinds.values())
    position = check_range("position", given_positions(design, arrays), 0, (1 << POSITION_BITS) - 1, "a position")
    slot = given_slots(design, arrays, tokens)
    flags = INVERSE * given_inverse(arrays, tokens)
    scale = None if scale is None else check_scale(scale, design.data)
    saturated = 0
    if floats:
        doubles = np.concatenate([check_finite(name, array) for name, array in elements.items()], axis=1)
        if scale is None:
            amplitude = max(variant.amplitude for variant in design.variants)
            largest = float(np.abs(doubles).max(initial=0.0))
            scale = default_scale(largest, amplitude, design.data, design.coefficient)
        words, saturated = quantise(doubles, scale, design.data)
    else:
        low, high = design.data.minimum, design.data.maximum
        what = f"a word of {design.data_width} bits"
        words = np.concatenate([check_range(name, array, low, high, what) for name, array in elements.items()], axis=1)
        scale = 1.0 if scale is None else scale
    tag = np.arange(tokens) & 0xFF
    words = _reordered(
        design,
        words,
        slot,
        lambda number: design.geometry.of(number).pairing,
        lambda number: design.order(number).input_pairing,
    )
    stream = whole_tokens(design, descriptor_words(slot, position, flags=flags, tag=tag, axes=design.axes), words)
    return PackedRun(
        design=design,
        script=script,
        stream=stream,
        scale=scale,
        floats=floats,
        saturated=saturated,
        values="v" in arrays,
    )


def unpack_run(packed: PackedRun, output: StreamOutput) -> dict[str, np.ndarray]:
    """The arrays of a result: ``q``, ``k``, (``v``), ``error`` and ``scale``.

    Words come back as ``int32``, floats as ``float64``, in the shapes they had; ``error [tokens]`` is ``uint8``, 1
    for a token that came back unrotated.

    Raises
    ------
    EngineError
        If the output is not framed as the input was: a beat was lost, added or misplaced.
    """
    design, sent = packed.design, packed.stream
    if output.beats != sent.beats:
        raise EngineError(f"{sent.beats} beats went in and {output.beats} came out")
    if not (np.array_equal(output.last, sent.last) and np.array_equal(output.tid, sent.tid)):
        raise EngineError("the output's TLAST or TID do not stand where the input's stood")
    words = output.data.reshape(sent.tokens, sum(design.heads), design.geometry.head_dim)
    words = _reordered(
        design,
        words,
        sent.descriptors[:, 0] & 0xFF,
        lambda number: design.order(number).output_pairing,
        lambda number: design.geometry.of(number).output_pairing,
    )
    result: dict[str, np.ndarray] = {}
    first = 0
    for name, heads in zip("qkv", design.heads, strict=True):
        if heads or (name == "v" and packed.values):
            part = words[:, first : first + heads]
            result[name] = part * packed.scale if packed.floats else part.astype(np.int32)
            first += heads
    result["error"] = np.asarray(output.error.reshape(sent.tokens, design.beats_per_token).any(axis=1), np.uint8)
    result["scale"] = np.array(packed.scale)
    return result


def _with_heads(design: Design, arrays: Mapping[str, np.ndarray]) -> tuple[Design, Script | None]:
    """``design`` with the head counts of the arrays, and what writes them into their registers.

    Query and key heads are those of one of the variants, value heads any number.
    """
    given = {name: array.shape[1] for name in "qkv" if (array := _heads_of(arrays, name)) is not None}
    queries, keys, values = design.heads
    counts = given.get("q", queries), given.get("k", keys)
    if counts in {(shape.query_heads, shape.key_heads) for shape in design.shapes}:
        queries, keys = counts
    values = given.get("v", values)
    if (queries, keys, values) == design.heads:
        return design, None
    if not design.registers:
        raise InputError(
            f"v has {values} value heads, and this engine has {design.value_heads}: it was made without registers"
        )
    if values > MAX_HEADS:
        raise InputError(f"v has {values} value heads; an engine counts at most {MAX_HEADS}")
    writes = tuple(
        write(name, count)
        for name, count, before in zip(HEAD_REGISTERS, (queries, keys, values), design.heads, strict=True)
        if count != before
    )
    shapes = tuple(replace(shape, query_heads=queries, key_heads=keys) for shape in design.shapes)
    design = replace(design, geometry=design.geometry.with_shapes(shapes), value_heads=values)
    return design, Script(registers=writes)


def _heads_of(arrays: Mapping[str, np.ndarray], name: str) -> np.ndarray | None:
    array = arrays.get(name)
    return array if isinstance(array, np.ndarray) and array.ndim == 3 else None


def _reordered(design: Design, words: np.ndarray, slot: np.ndarray, source: Layouts, target: Layouts) -> np.ndarray:
    """All heads ``[tokens, heads, head_dim]`` with those that are rotated in another order; values keep theirs.

    A token of an empty slot has the order of slot 0.
    """
    rotated = design.heads[0] + design.heads[1]
    slot = np.where(slot < len(design.variants), slot, 0)
    return np.concatenate([moved_tokens(words[:, :rotated], design, slot, source, target), words[:, rotated:]], axis=1)


def given_positions(design: Design, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """The positions as they were given: one per token, or one per token and axis."""
    given = arrays.get("position")
    if not isinstance(given, np.ndarray) or given.ndim == 1:
        return check_array(arrays, "position", (None,), "[tokens]")
    if given.ndim != 2 or given.shape[1] != design.axes:
        wanted = "one axis: it must be [tokens]"
        if design.axes > 1:
            wanted = f"{design.axes} axes: it must be [tokens, {design.axes}], or [tokens], the same on every axis"
        raise InputError(f"position has the shape {list(given.shape)}, and this engine's positions have {wanted}")
    return given


def given_slots(design: Design, arrays: Mapping[str, np.ndarray], tokens: int) -> np.ndarray:
    """Slot numbers of the tokens. A number of an empty slot is allowed: the engine answers it with an error."""
    if "variant" not in arrays:
        return np.zeros(tokens, np.int64)
    variant = check_array(arrays, "variant", (tokens,), "[tokens]")
    if variant.dtype.kind == "S":
        variant = np.char.decode(variant, "utf-8", "replace")
    if variant.dtype.kind != "U":
        return check_range("variant", variant, 0, 255, "a slot number")
    slots = {one.name: slot for slot, one in enumerate(design.variants)}
    found, inverse = np.unique(variant, return_inverse=True)
    for name in found:
        if str(name) not in slots:
            raise InputError(f"variant {show(str(name))} is not known; the design has: {', '.join(slots)}")
    return np.array([slots[str(name)] for name in found], np.int64)[inverse]


def given_inverse(arrays: Mapping[str, np.ndarray], tokens: int) -> np.ndarray:
    if "inverse" not in arrays:
        return np.zeros(tokens, np.int64)
    inverse = check_array(arrays, "inverse", (tokens,), "[tokens]")
    if inverse.dtype == np.bool_:
        return inverse.astype(np.int64)
    return check_range("inverse", inverse, 0, 1, "a flag")
