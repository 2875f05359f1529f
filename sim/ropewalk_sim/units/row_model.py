"""What the models of units whose tokens are rows have in common: which beats come out, and what of each is right."""

from dataclasses import dataclass

import numpy as np
from ropewalk.designs.row_design import RowDesign
from ropewalk_sim.framing import Framing, frame
from ropewalk_sim.stream_model import wrap

from .rows import RowInput, RowOutput


@dataclass(frozen=True, kw_only=True, eq=False)
class FramedRows:
    """One entry per output beat.

    ``elements``, of ``data_width`` bits, and ``keep`` are those of its input beat; ``inside`` says which elements
    belong to the row, all ``[beats, lanes]``; ``error`` is the framing error.
    """

    framing: Framing
    elements: np.ndarray
    keep: np.ndarray
    inside: np.ndarray
    error: np.ndarray


def frame_rows(design: RowDesign, stream: RowInput) -> FramedRows:
    """The framing of ``stream``, TKEEP included.

    Raises
    ------
    EngineError
        If the stream goes on after its last token.
    """
    stream.check(design)
    framing = frame(design, stream)
    inside_lanes = np.where(framing.beat == design.beats_per_token - 1, design.last_lanes, design.lanes)
    inside = np.arange(design.lanes) < inside_lanes[:, None]
    keep = stream.keep[framing.source]
    return FramedRows(
        framing=framing,
        elements=wrap(stream.data[framing.source], design.data_width),
        keep=keep,
        inside=inside,
        error=framing.error | within_token(framing.token, (keep != inside).any(axis=1)),
    )


def output_of(stream: RowInput, framed: FramedRows, data: np.ndarray, error: np.ndarray) -> RowOutput:
    """The output with the elements ``data`` and, beside framing errors, the errors ``error [beats]``."""
    tags = (stream.descriptors[:, 0] >> 16).astype(np.uint8)
    return RowOutput(
        data=data,
        tid=tags[framed.framing.token],
        last=framed.framing.last,
        error=framed.error | error,
        keep=framed.keep & framed.inside,
    )


def within_token(token: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """For every beat whether ``seen`` held at it or at an earlier beat of its token; ``token`` rises."""
    total = np.cumsum(seen)
    first = np.flatnonzero(np.diff(token, prepend=-1))
    before = np.repeat((total - seen)[first], np.diff(np.append(first, len(token))))
    return total > before
