"""What goes into a unit and what comes out of it, as arrays of octets: no design is needed to run it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from ropewalk_sim.registers import Answer


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitInput:
    """Everything that is offered to a unit.

    Parameters
    ----------
    descriptors
        ``uint32 [tokens, words]``: the beats of ``s_axis_token``.
    data
        ``uint8 [beats, octets]``: the beats of ``s_axis``.
    keep
        ``bool [beats, octets]``: TKEEP; not looked at where the unit has none.
    tid, last
        ``uint8 [beats]``, ``bool [beats]``.

    Raises
    ------
    ValueError
        If an array has another type or shape.
    """

    descriptors: np.ndarray
    data: np.ndarray
    keep: np.ndarray
    tid: np.ndarray
    last: np.ndarray

    def __post_init__(self) -> None:
        beats = self.data.shape[0]
        wanted = {
            "descriptors": (np.uint32, (len(self.descriptors), self.descriptors.shape[-1])),
            "data": (np.uint8, (beats, self.data.shape[-1])),
            "keep": (np.bool_, self.data.shape),
            "tid": (np.uint8, (beats,)),
            "last": (np.bool_, (beats,)),
        }
        for name, (dtype, shape) in wanted.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape:
                raise ValueError(f"{name} must be {np.dtype(dtype)} {list(shape)}, not {array.dtype} {array.shape}")

    @property
    def tokens(self) -> int:
        """Number of descriptors."""
        return len(self.descriptors)

    @property
    def beats(self) -> int:
        """Number of data beats."""
        return len(self.data)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitOutput:
    """Everything that came out of a unit, and when; clocks as in :class:`ropewalk_sim.beats.StreamOutput`.

    ``data`` is ``uint8 [beats, octets]``, ``keep`` ``bool [beats, octets]`` (all true where the unit has no TKEEP),
    ``tid`` and ``user`` ``uint8 [beats]``, ``last`` ``bool [beats]``.
    """

    data: np.ndarray
    keep: np.ndarray
    tid: np.ndarray
    user: np.ndarray
    last: np.ndarray
    clocks: int | None = None
    first_output_clock: int | None = None
    last_output_clock: int | None = None
    early_tokens: int | None = None
    data_waits: int | None = None
    token_waits: int | None = None
    output_waits: int | None = None
    before: "UnitOutput | None" = None
    answers: tuple[Answer, ...] = field(default=())

    @property
    def beats(self) -> int:
        """Number of output beats."""
        return len(self.data)

    @property
    def beats_per_clock(self) -> float | None:
        """Throughput from the first output beat to the last; ``None`` for a model and below two beats."""
        if self.first_output_clock is None or self.last_output_clock is None or self.beats < 2:
            return None
        return (self.beats - 1) / (self.last_output_clock - self.first_output_clock)

    def same_beats(self, other: "UnitOutput") -> bool:
        """Whether the beats are the same in every bit; octets that TKEEP leaves out do not count."""
        return self.beats == other.beats and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("keep", "tid", "user", "last")
        ) and np.array_equal(np.where(self.keep, self.data, 0), np.where(other.keep, other.data, 0))  # fmt: skip


def to_octets(words: NDArray[np.int64], container_bits: int) -> NDArray[np.uint8]:
    """``int64 [beats, elements]`` as octets ``[beats, elements * container_bits / 8]``, low ones first."""
    octets = container_bits // 8
    shape = (len(words), words.shape[1] * octets)
    return np.ascontiguousarray(words).astype(f"<i{octets}").view(np.uint8).reshape(shape)


def from_octets(octets: NDArray[np.uint8], container_bits: int) -> NDArray[np.int64]:
    """The elements in ``octets``, read as signed: ``int64 [beats, elements]``."""
    size = container_bits // 8
    shape = (len(octets), octets.shape[1] // size)
    return np.ascontiguousarray(octets).view(f"<i{size}").astype(np.int64).reshape(shape)
