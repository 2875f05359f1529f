"""What goes into a unit and what comes out of it, as arrays of octets: no design is needed to run it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ropewalk_sim.in_out import Input, Output, check_arrays


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitInput(Input):
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

    keep: np.ndarray

    def __post_init__(self) -> None:
        beats = self.data.shape[0]
        wanted = {
            "descriptors": (np.uint32, (len(self.descriptors), self.descriptors.shape[-1])),
            "data": (np.uint8, (beats, self.data.shape[-1])),
            "keep": (np.bool_, self.data.shape),
            "tid": (np.uint8, (beats,)),
            "last": (np.bool_, (beats,)),
        }
        check_arrays(self, wanted)


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitOutput(Output):
    """Everything that came out of a unit, and when: see :class:`~ropewalk_sim.in_out.Figures`.

    ``data`` is ``uint8 [beats, octets]``, ``keep`` ``bool [beats, octets]`` (all true where the unit has no TKEEP),
    ``tid`` and ``user`` ``uint8 [beats]``, ``last`` ``bool [beats]``; ``before`` is what came out before a scripted
    reset.
    """

    keep: np.ndarray
    tid: np.ndarray
    user: np.ndarray
    last: np.ndarray
    before: "UnitOutput | None" = None

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
