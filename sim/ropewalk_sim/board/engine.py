"""Streams through the engine on a board: the same arrays in and out as any other engine's."""

from collections.abc import Sequence

import numpy as np
from ropewalk.board_top.bridge import data_words
from ropewalk.board_top.protocol import MOST_WORDS, Address
from ropewalk.board_top.top import design_word, shape_word
from ropewalk.design import Design
from ropewalk.tables.slot_words import slot_crcs
from ropewalk_sim.beats import StreamInput, StreamOutput
from ropewalk_sim.engines import Progress
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import SCANNING, Access, address_of

from .host import BoardHost

FRUITLESS = 64
"""Requests in a row that move nothing before the engine is said to hang."""


def check_design(host: BoardHost, design: Design) -> None:
    """Raise ``EngineError`` unless the board was built from ``design``."""
    found, wanted = host.read(Address.DESIGN), design_word(design)
    if found != wanted or host.read(Address.SHAPE) != shape_word(design):
        raise EngineError(f"the board was built from another design: it says {found:08x}, and this one is {wanted:08x}")


def differing_slots(host: BoardHost, design: Design) -> dict[int, tuple[int, int]]:
    """The slots whose CRC on the board is not that of ``design``: what was found and what is right, by slot.

    Raises
    ------
    EngineError
        If the design has no registers, or the board does not answer.
    """
    if not design.registers:
        raise EngineError("this design has no registers, so no CRCs: only its identity can be checked")
    while host.read(address_of("load_state")) & SCANNING:
        pass
    wrong = {}
    for slot, crc in enumerate(slot_crcs(design)):
        found = host.read(address_of(f"geometry_crc[{slot}]"))
        if found != crc:
            wrong[slot] = found, crc
    return wrong


def run_stream(
    host: BoardHost,
    design: Design,
    stream: StreamInput,
    *,
    writes: Sequence[Access] = (),
    progress: Progress | None = None,
) -> StreamOutput:
    """What the board gives for ``stream``, which must be of whole tokens, as many beats each as ``design`` says.

    ``writes`` are writes to registers after the reset with which a run begins.

    Raises
    ------
    EngineError
        If the board does not answer, or its engine stops.
    """
    stream.check(design)
    host.reset()
    for access in writes:
        if access.write is None or host.write(access.address, [access.write]) != 1:
            raise EngineError(f"the board refused to write the register at {access.address:#05x}")
    words = data_words(design)
    token_queue = stream.descriptors.reshape(-1).tolist()
    data_queue = _words_of(design, stream)
    got: list[int] = []
    token_at = data_at = fruitless = 0
    while len(got) < words * stream.beats:
        before = token_at, data_at, len(got)
        # Descriptors go ahead of their data, a few at a time, for a word that must wait makes the board wait.
        ahead = (1 + data_at // (words * design.beats_per_token) + 3) * (1 + design.axes)
        if token_at < min(ahead, len(token_queue)):
            token_at += host.write(Address.TOKEN, token_queue[token_at:ahead])
        if data_at < len(data_queue):
            data_at += host.write(Address.DATA, data_queue[data_at : data_at + MOST_WORDS])
        got += host.read_up_to(Address.RESULT, MOST_WORDS)
        if progress is not None:
            progress(len(got) // words, stream.beats)
        fruitless = 0 if before != (token_at, data_at, len(got)) else fruitless + 1
        if fruitless == FRUITLESS:
            raise EngineError(f"the board's engine stopped: {len(got) // words} of {stream.beats} beats came out")
    if len(got) != words * stream.beats:
        raise EngineError("the board gave more beats than it was sent")
    return _beats_of(design, np.array(got, np.uint32).reshape(-1, words))


def _words_of(design: Design, stream: StreamInput) -> list[int]:
    words, container = data_words(design), design.container_bits
    sides = stream.tid.astype(np.uint32) | stream.last.astype(np.uint32) << 8
    raw = np.zeros((stream.beats, 4 * (words - 1)), np.uint8)
    elements = stream.data.astype(f"<i{container // 8}").view(np.uint8).reshape(stream.beats, -1)
    raw[:, : elements.shape[1]] = elements
    return np.column_stack([raw.view("<u4"), sides]).reshape(-1).tolist()


def _beats_of(design: Design, words: np.ndarray) -> StreamOutput:
    container = design.container_bits // 8
    raw = np.ascontiguousarray(words[:, :-1]).view(np.uint8)[:, : design.elements * container]
    sides = words[:, -1]
    return StreamOutput(
        data=np.ascontiguousarray(raw).view(f"<i{container}").astype(np.int64),
        tid=(sides & 0xFF).astype(np.uint8),
        last=(sides >> 8 & 1).astype(bool),
        user=(sides >> 9 & 7).astype(np.uint8),
    )
