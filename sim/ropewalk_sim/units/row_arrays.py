"""The arrays of ``ropewalk run`` (INTERFACE.md) for a unit whose tokens are rows: to its streams, and back."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from ropewalk.design import POSITION_BITS
from ropewalk.designs.learned import LearnedDesign
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.errors import InputError
from ropewalk.gateware.units.layouts import MASKED
from ropewalk_sim.errors import EngineError
from ropewalk_sim.quantise import check_array, check_finite, check_range, is_float, quantise

from .rows import RowInput, RowOutput, descriptors_of, rows_of, whole_tokens


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedRows:
    """Arrays as a stream, and what is needed to turn the result back."""

    stream: RowInput
    scale: float
    floats: bool
    saturated: int


def pack_rows(
    design: LearnedDesign | SinusoidalDesign, arrays: Mapping[str, np.ndarray], *, scale: float | None = None
) -> PackedRows:
    """The stream of ``x [tokens, dimension]`` and ``position [tokens]``, and optionally ``masked [tokens]``.

    Integers are raw words; floats are quantised with the design's LSB, half up, and saturate.

    Raises
    ------
    InputError
        For another array, shape or type; words that do not fit; positions below 0 or of 2**24 and more; a ``scale``
        other than the design's LSB; ``masked`` where the family ignores masks. Positions at the limit and past it, or
        past the table, are not refused.
    """
    unit = "a learned table" if isinstance(design, LearnedDesign) else "sinusoidal positions"
    for name in arrays:
        if name not in ("x", "position", "masked", "scale"):
            raise InputError(f"the array {name} is not one of {unit}: x, position, masked")
    x = check_array(arrays, "x", (None, design.dimension), "[tokens, dimension]")
    tokens = len(x)
    position = check_array(arrays, "position", (tokens,), "[tokens]")
    position = check_range("position", position, 0, (1 << POSITION_BITS) - 1, "a position")
    masked = np.zeros(tokens, bool)
    if "masked" in arrays:
        if design.geometry.mask == "ignored":
            raise InputError(f"masked is given, and a {design.geometry.model_type} ignores the mask")
        masked = check_array(arrays, "masked", (tokens,), "[tokens]")
        if masked.dtype != np.bool_:
            masked = check_range("masked", masked, 0, 1, "a flag").astype(bool)
    lsb = 2.0**-design.fraction_bits
    if scale is not None and scale != lsb:
        raise InputError(f"scale must be {lsb} (2^-{design.fraction_bits}), the design's LSB, not {scale!r}")
    floats, saturated = is_float("x", x), 0
    if floats:
        words, saturated = quantise(check_finite("x", x), lsb, design.data)
    else:
        what = f"a word of {design.data_width} bits"
        words = check_range("x", x, design.data.minimum, design.data.maximum, what)
    tag = np.arange(tokens) & 0xFF
    stream = whole_tokens(design, descriptors_of(position, flags=masked * MASKED, tag=tag), words)
    return PackedRows(stream=stream, scale=lsb, floats=floats, saturated=saturated)


def unpack_rows(
    design: LearnedDesign | SinusoidalDesign, packed: PackedRows, output: RowOutput
) -> dict[str, np.ndarray]:
    """The arrays of a result: ``x``, ``error [tokens]`` and ``scale``.

    Words come back as ``int32``, floats as ``float64``; ``error`` is ``uint8``, 1 for a token that came back unchanged.
    Raises ``EngineError`` if the output is not framed as the input was.
    """
    sent = packed.stream
    framed = output.beats == sent.beats and all(
        np.array_equal(getattr(output, name), getattr(sent, name)) for name in ("last", "tid", "keep")
    )
    if not framed:
        raise EngineError(f"{sent.beats} beats went in, and {output.beats} came out or were framed otherwise")
    words = rows_of(design, output.data)
    return {
        "x": words * packed.scale if packed.floats else words.astype(np.int32),
        "error": np.asarray(output.error.reshape(sent.tokens, design.beats_per_token).any(axis=1), np.uint8),
        "scale": np.array(packed.scale),
    }
