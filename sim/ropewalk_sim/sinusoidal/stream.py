"""What goes into a sinusoidal adder and what comes out: streams as arrays, and the arrays that a person hands over.

``docs/sinusoidal.md`` says what the fields mean on the wires; ``INTERFACE.md`` names the arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from ropewalk.design import POSITION_BITS
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.errors import InputError
from ropewalk.gateware.units.layouts import MASKED
from ropewalk_sim.errors import EngineError
from ropewalk_sim.quantise import check_array, check_finite, check_range, is_float, quantise
from ropewalk_sim.registers import Answer


@dataclass(frozen=True, kw_only=True, eq=False)
class SinusoidalInput:
    """Everything that is offered to a unit.

    Parameters
    ----------
    descriptors
        ``uint32 [tokens, 2]``: slot [7:0], flags [15:8] and tag [23:16]; the position.
    data
        ``int64 [beats, elements]``: the elements; what lies above the data width is ignored.
    tid, last, keep
        ``uint8 [beats]``, ``bool [beats]``, ``bool [beats, elements]``: TID, TLAST, and TKEEP by element.
    """

    descriptors: np.ndarray
    data: np.ndarray
    tid: np.ndarray
    last: np.ndarray
    keep: np.ndarray

    @property
    def tokens(self) -> int:
        """Number of token descriptors."""
        return len(self.descriptors)

    @property
    def beats(self) -> int:
        """Number of input beats."""
        return len(self.data)

    def check(self, design: SinusoidalDesign) -> None:
        """Raise ``ValueError`` unless the streams have the types, and the shapes that ``design`` wants."""
        beats, elements = len(self.data), design.lanes
        wanted = {
            "descriptors": (np.uint32, (self.tokens, 2)),
            "data": (np.int64, (beats, elements)),
            "tid": (np.uint8, (beats,)),
            "last": (np.bool_, (beats,)),
            "keep": (np.bool_, (beats, elements)),
        }
        for name, (dtype, shape) in wanted.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}")
        if not design.has_keep and not self.keep.all():
            raise ValueError("the streams of this design have no TKEEP")


@dataclass(frozen=True, kw_only=True, eq=False)
class SinusoidalOutput:
    """Everything that came out of a unit, and when; the model has no clocks.

    ``data``, ``tid``, ``last``, ``keep`` as on the input; ``error`` is ``bool [beats]``. ``answers`` are those of the
    register port. Clocks are counted from 0, the first one after reset and the accesses before the streams.
    ``early_tokens`` were taken before the first data beat was offered.
    """

    data: np.ndarray
    tid: np.ndarray
    last: np.ndarray
    error: np.ndarray
    keep: np.ndarray
    first_output_clock: int | None = None
    last_output_clock: int | None = None
    early_tokens: int = 0
    answers: tuple[Answer, ...] = ()

    @property
    def beats(self) -> int:
        """Number of output beats."""
        return len(self.data)

    @property
    def beats_per_clock(self) -> float:
        """Throughput from the first output beat to the last; 0 for the model."""
        return (self.beats - 1) / ((self.last_output_clock or 0) - (self.first_output_clock or 0) or np.inf)

    def same(self, other: "SinusoidalOutput") -> bool:
        """Whether both gave the same beats, in every bit of every field."""
        names = ("data", "tid", "last", "error", "keep")
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


def descriptors_of(
    position: np.ndarray, *, slot: np.ndarray | int = 0, flags: np.ndarray | int = 0, tag: np.ndarray | int = 0
) -> np.ndarray:
    """Token descriptors ``uint32 [tokens, 2]``; ``slot``, ``flags``, ``tag`` are bytes, ``position`` has 32 bits."""
    words = np.zeros((len(position), 2), np.uint32)
    words[:, 0] = np.asarray(slot, np.uint32) | np.asarray(flags, np.uint32) << 8 | np.asarray(tag, np.uint32) << 16
    words[:, 1] = position
    return words


def whole_tokens(design: SinusoidalDesign, descriptors: np.ndarray, x: np.ndarray) -> SinusoidalInput:
    """The stream of ``x`` (integers ``[tokens, dimension]``), framed as its descriptors say."""
    tokens, beats, elements = len(descriptors), design.beats_per_token, design.lanes
    gap = beats * elements - design.dimension
    last = np.zeros((tokens, beats), bool)
    last[:, -1] = True
    return SinusoidalInput(
        descriptors=descriptors,
        data=np.ascontiguousarray(np.pad(x, ((0, 0), (0, gap))), np.int64).reshape(-1, elements),
        tid=np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), beats),
        last=last.reshape(-1),
        keep=np.pad(np.ones(x.shape, bool), ((0, 0), (0, gap))).reshape(-1, elements),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedSinusoidal:
    """Arrays as a stream, and what is needed to turn the result back."""

    stream: SinusoidalInput
    scale: float
    floats: bool
    saturated: int


def pack_sinusoidal(
    design: SinusoidalDesign, arrays: Mapping[str, np.ndarray], *, scale: float | None = None
) -> PackedSinusoidal:
    """The stream of ``x [tokens, dimension]`` and ``position [tokens]``, and optionally ``masked [tokens]``.

    Integers are raw words; floats are quantised with the design's LSB, half up, and saturate.

    Raises
    ------
    InputError
        For another array, shape or type; words that do not fit; positions below 0 or of 2**24 and more; a ``scale``
        other than the design's LSB; ``masked`` where the family ignores masks. Positions at the limit and past it are
        not refused.
    """
    for name in arrays:
        if name not in ("x", "position", "masked", "scale"):
            raise InputError(f"the array {name} is not one of sinusoidal positions: x, position, masked")
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
    return PackedSinusoidal(stream=stream, scale=lsb, floats=floats, saturated=saturated)


def unpack_sinusoidal(
    design: SinusoidalDesign, packed: PackedSinusoidal, output: SinusoidalOutput
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
    words = output.data.reshape(sent.tokens, design.beats_per_token * design.lanes)[:, : design.dimension]
    return {
        "x": words * packed.scale if packed.floats else words.astype(np.int32),
        "error": np.asarray(output.error.reshape(sent.tokens, design.beats_per_token).any(axis=1), np.uint8),
        "scale": np.array(packed.scale),
    }
