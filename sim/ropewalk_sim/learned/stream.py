"""What goes into a learned-table adder and what comes out: streams as arrays, and the arrays that a person hands over.

``docs/learned.md`` says what the fields mean on the wires; ``INTERFACE.md`` names the arrays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from ropewalk.design import POSITION_BITS
from ropewalk.designs.learned import LearnedDesign
from ropewalk.errors import InputError
from ropewalk.gateware.units.layouts import MASKED, PASS
from ropewalk_sim.errors import EngineError
from ropewalk_sim.quantise import check_array, check_finite, check_range, is_float, quantise
from ropewalk_sim.registers import Access, Answer

__all__ = [
    "MASKED", "PASS", "LearnedInput", "LearnedOutput", "Memory", "PackedLearned", "Session", "descriptors_of",
    "pack_learned", "unpack_learned", "whole_tokens",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedInput:
    """Everything that is offered to a unit.

    Parameters
    ----------
    descriptors
        ``uint32 [tokens, 2]``: flags [15:8] and tag [23:16]; the position.
    data
        ``int64 [beats, lanes]``: the elements; what lies above the data width is ignored.
    tid, last, keep
        ``uint8 [beats]``, ``bool [beats]``, ``bool [beats, lanes]``: TID, TLAST, and TKEEP by element.
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

    def check(self, design: LearnedDesign) -> None:
        """Raise ``ValueError`` unless the streams have the types, and the shapes that ``design`` wants."""
        beats, lanes = len(self.data), design.lanes
        wanted = {
            "descriptors": (np.uint32, (self.tokens, 2)),
            "data": (np.int64, (beats, lanes)),
            "tid": (np.uint8, (beats,)),
            "last": (np.bool_, (beats,)),
            "keep": (np.bool_, (beats, lanes)),
        }
        for name, (dtype, shape) in wanted.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}")
        if not design.has_keep and not self.keep.all():
            raise ValueError("the streams of this design have no TKEEP")


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedOutput:
    """Everything that came out of a unit, and when; the model has no clocks.

    ``data``, ``tid``, ``last``, ``keep`` as on the input; ``error`` is ``bool [beats]``. ``answers`` are those of the
    register port; ``bursts`` the reads of the table outside, in order: address, beats, reads under way at that moment.
    """

    data: np.ndarray
    tid: np.ndarray
    last: np.ndarray
    error: np.ndarray
    keep: np.ndarray
    first_data_clock: int | None = None
    first_output_clock: int | None = None
    last_output_clock: int | None = None
    data_waits: int = 0
    early_tokens: int = 0
    answers: tuple[Answer, ...] = ()
    bursts: tuple[tuple[int, int, int], ...] = ()

    @property
    def beats(self) -> int:
        """Number of output beats."""
        return len(self.data)

    @property
    def beats_per_clock(self) -> float:
        """Throughput from the first output beat to the last."""
        return (self.beats - 1) / ((self.last_output_clock or 0) - (self.first_output_clock or 0))

    def same(self, other: "LearnedOutput") -> bool:
        """Whether both gave the same beats: elements that are not kept do not count."""
        if self.beats != other.beats or not np.array_equal(self.keep, other.keep):
            return False
        names = ("tid", "last", "error")
        data = np.array_equal(np.where(self.keep, self.data, 0), np.where(other.keep, other.data, 0))
        return data and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The memory outside, with the table in it from ``base`` on, ``stride`` bytes from row to row (None: no gap).

    A read is answered ``latency`` clocks (lowest, highest; drawn anew for each) after it was taken, in order; in the
    share ``stall`` of the clocks it takes no read, and gives no answer. ``unreadable`` beats, by row and beat, answer
    SLVERR.
    """

    base: int = 0
    stride: int | None = None
    latency: tuple[int, int] = (1, 1)
    stall: float = 0.0
    unreadable: tuple[tuple[int, int], ...] = ()

    def errors(self, design: LearnedDesign) -> np.ndarray:
        """``bool [rows, beats per token]`` for the model."""
        errors = np.zeros((design.geometry.rows, design.beats_per_token), bool)
        for place in self.unreadable:
            errors[place] = True
        return errors


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is done beside offering the streams.

    ``registers`` are accesses before the streams begin, ``meanwhile`` while they flow; ``output_start`` is the clock
    before which the output is held; ``data_start`` that before which no data is offered.
    """

    registers: tuple[Access, ...] = ()
    meanwhile: tuple[Access, ...] = ()
    output_start: int = 0
    data_start: int = 0
    memory: Memory = field(default_factory=Memory)


def descriptors_of(position: np.ndarray, *, flags: np.ndarray | int = 0, tag: np.ndarray | int = 0) -> np.ndarray:
    """Token descriptors ``uint32 [tokens, 2]``; ``flags`` and ``tag`` are bytes, ``position`` has 32 bits."""
    words = np.zeros((len(position), 2), np.uint32)
    words[:, 0] = np.asarray(flags, np.uint32) << 8 | np.asarray(tag, np.uint32) << 16
    words[:, 1] = position
    return words


def whole_tokens(design: LearnedDesign, descriptors: np.ndarray, x: np.ndarray) -> LearnedInput:
    """The stream of ``x`` (integers ``[tokens, dimension]``), framed as its descriptors say."""
    tokens, beats, lanes = len(descriptors), design.beats_per_token, design.lanes
    gap = beats * lanes - design.geometry.dimension
    last = np.zeros((tokens, beats), bool)
    last[:, -1] = True
    keep = np.pad(np.ones(x.shape, bool), ((0, 0), (0, gap)))
    return LearnedInput(
        descriptors=descriptors,
        data=np.ascontiguousarray(np.pad(x, ((0, 0), (0, gap))), np.int64).reshape(-1, lanes),
        tid=np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), beats),
        last=last.reshape(-1),
        keep=keep.reshape(-1, lanes),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedLearned:
    """Arrays as a stream, and what is needed to turn the result back."""

    stream: LearnedInput
    scale: float
    floats: bool
    saturated: int


def pack_learned(
    design: LearnedDesign, arrays: Mapping[str, np.ndarray], *, scale: float | None = None
) -> PackedLearned:
    """The stream of ``x [tokens, dimension]`` and ``position [tokens]``, and optionally ``masked [tokens]``.

    Integers are raw words; floats are quantised with the design's LSB, half up, and saturate.

    Raises
    ------
    InputError
        For another array, shape or type; words that do not fit; positions below 0 or of 2**24 and more; a ``scale``
        other than the design's LSB; ``masked`` where the family ignores masks. Positions past the table are not
        refused.
    """
    for name in arrays:
        if name not in ("x", "position", "masked", "scale"):
            raise InputError(f"the array {name} is not one of a learned table: x, position, masked")
    dimension = design.geometry.dimension
    x = check_array(arrays, "x", (None, dimension), "[tokens, dimension]")
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
    return PackedLearned(stream=stream, scale=lsb, floats=floats, saturated=saturated)


def unpack_learned(design: LearnedDesign, packed: PackedLearned, output: LearnedOutput) -> dict[str, np.ndarray]:
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
    words = output.data.reshape(sent.tokens, design.beats_per_token * design.lanes)[:, : design.geometry.dimension]
    return {
        "x": words * packed.scale if packed.floats else words.astype(np.int32),
        "error": np.asarray(output.error.reshape(sent.tokens, design.beats_per_token).any(axis=1), np.uint8),
        "scale": np.array(packed.scale),
    }
