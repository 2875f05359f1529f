"""Tokens of one row of elements each: the streams of the learned and the sinusoidal unit, as arrays of elements.

``docs/learned.md`` and ``docs/sinusoidal.md`` say what the fields mean on the wires.
"""

from dataclasses import dataclass

import numpy as np
from ropewalk.designs.row_design import RowDesign
from ropewalk_sim.in_out import Input, Output, check_arrays

from .streams import UnitInput, UnitOutput, from_octets, to_octets


@dataclass(frozen=True, kw_only=True, eq=False)
class RowInput(Input):
    """Everything that is offered to a unit.

    Parameters
    ----------
    descriptors
        ``uint32 [tokens, 2]``: slot [7:0], flags [15:8] and tag [23:16]; the position.
    data
        ``int64 [beats, lanes]``: the elements; what lies above the data width is ignored.
    tid, last, keep
        ``uint8 [beats]``, ``bool [beats]``, ``bool [beats, lanes]``: TID, TLAST, and TKEEP by element.
    """

    keep: np.ndarray

    def check(self, design: RowDesign) -> None:
        """Raise ``ValueError`` unless the streams have the types, and the shapes that ``design`` wants."""
        beats, lanes = len(self.data), design.lanes
        wanted = {
            "descriptors": (np.uint32, (self.tokens, 2)),
            "data": (np.int64, (beats, lanes)),
            "tid": (np.uint8, (beats,)),
            "last": (np.bool_, (beats,)),
            "keep": (np.bool_, (beats, lanes)),
        }
        check_arrays(self, wanted)
        if not design.has_keep and not self.keep.all():
            raise ValueError("the streams of this design have no TKEEP")


@dataclass(frozen=True, kw_only=True, eq=False)
class RowOutput(Output):
    """Everything that came out of a unit, and when: see :class:`~ropewalk_sim.in_out.Figures`.

    ``data``, ``tid``, ``last``, ``keep`` as on the input; ``error`` is ``bool [beats]``.
    """

    tid: np.ndarray
    last: np.ndarray
    error: np.ndarray
    keep: np.ndarray

    def same(self, other: "RowOutput") -> bool:
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


def whole_tokens(design: RowDesign, descriptors: np.ndarray, x: np.ndarray) -> RowInput:
    """The stream of ``x`` (integers ``[tokens, dimension]``), framed as its descriptors say."""
    tokens, beats, lanes = len(descriptors), design.beats_per_token, design.lanes
    gap = beats * lanes - design.dimension
    last = np.zeros((tokens, beats), bool)
    last[:, -1] = True
    return RowInput(
        descriptors=descriptors,
        data=np.ascontiguousarray(np.pad(x, ((0, 0), (0, gap))), np.int64).reshape(-1, lanes),
        tid=np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), beats),
        last=last.reshape(-1),
        keep=np.pad(np.ones(x.shape, bool), ((0, 0), (0, gap))).reshape(-1, lanes),
    )


def rows_of(design: RowDesign, beats: np.ndarray) -> np.ndarray:
    """The elements ``[tokens, dimension]`` in the beats ``[beats, lanes]`` of whole tokens."""
    return beats.reshape(-1, design.beats_per_token * design.lanes)[:, : design.dimension]


def to_unit(design: RowDesign, stream: RowInput) -> UnitInput:
    """``stream`` in octets."""
    return UnitInput(
        descriptors=stream.descriptors,
        data=to_octets(stream.data, design.container_bits),
        keep=np.repeat(stream.keep, design.container_bits // 8, axis=1),
        tid=stream.tid,
        last=stream.last,
    )


def from_unit(design: RowDesign, output: UnitOutput) -> RowOutput:
    """``output`` in elements; its ``before``, of a run that was interrupted, is left out."""
    return RowOutput(
        data=from_octets(output.data, design.container_bits),
        tid=output.tid,
        last=output.last,
        error=output.user.astype(bool),
        keep=output.keep[:, :: design.container_bits // 8],
        **output.figures(),
    )


def octets_of(design: RowDesign, output: RowOutput) -> UnitOutput:
    """``output`` in octets."""
    return UnitOutput(
        data=to_octets(output.data, design.container_bits),
        keep=np.repeat(output.keep, design.container_bits // 8, axis=1),
        tid=output.tid,
        last=output.last,
        user=output.error.astype(np.uint8),
        **output.figures(),
    )
