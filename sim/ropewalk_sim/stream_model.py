"""The whole engine as a model: streams in, streams out, in every bit what the hardware gives.

The arithmetic is :mod:`.model` (``docs/number-contract.md``), the framing :mod:`.framing`; here stand the rules of
descriptors and errors (PORTS.md, "Token descriptors" and "Errors").
"""

import numpy as np
from ropewalk.design import AMPLITUDE, Design
from ropewalk.tables import amplitude_word

from .beats import INVERSE, KEY, PASS, QUERY, UNIT_AMPLITUDE, VALUE, StreamInput, StreamOutput
from .framing import Framing, frame
from .model import rotate, rows

CHUNK_ELEMENTS = 1 << 21
"""Elements that are worked on at once, which bounds the memory of the intermediate results."""


def run_model(design: Design, stream: StreamInput) -> StreamOutput:
    """What the engine of ``design`` gives for ``stream``. Its clocks are ``None``: the model has no time.

    Raises
    ------
    EngineError
        If the stream goes on after its last token.
    """
    stream.check(design)
    framing = frame(design, stream)
    failed = token_errors(design, stream.descriptors)
    rotated = ~failed & (_flags(stream.descriptors) & PASS == 0)
    data = np.empty((len(framing.source), design.elements), np.int64)
    per_chunk = max(1, CHUNK_ELEMENTS // (design.beats_per_token * design.elements))
    for first in range(0, stream.tokens, per_chunk):
        tokens = slice(first, min(first + per_chunk, stream.tokens))
        _rotate_tokens(design, stream, framing, rotated, tokens, data)
    kinds = np.repeat([QUERY, KEY, VALUE], np.array(design.heads) * design.beats_per_head)
    error = framing.error | failed[framing.token]
    tags = (stream.descriptors[:, 0] >> 16).astype(np.uint8)
    return StreamOutput(
        data=data,
        tid=tags[framing.token],
        last=framing.last,
        user=(kinds[framing.beat] << 1 | error).astype(np.uint8),
    )


def token_errors(design: Design, descriptors: np.ndarray) -> np.ndarray:
    """``bool [tokens]``: whether a descriptor has a position or slot error, which stands on the token's every beat.

    A slot is in error if it is empty, or if it is asked for unit amplitude and its rows come from a table that was
    made with another one. A position is in error from the slot's limit on, on any axis, also on one that no pair of
    the slot follows; that of a token to pass is not looked at.
    """
    slot = (descriptors[:, 0] & 0xFF).astype(np.int64)
    flags = _flags(descriptors)
    limits = np.zeros(256, np.int64)
    limits[: len(design.limits)] = design.limits
    empty = slot >= len(design.variants)
    no_row = np.zeros(256, bool)
    if design.source == "table":
        no_row[: len(design.variants)] = [
            amplitude_word(variant.amplitude) != AMPLITUDE.one for variant in design.variants
        ]
    no_row_asked = no_row[slot] & (flags & UNIT_AMPLITUDE != 0)
    beyond = (descriptors[:, 1:] >= limits[slot, None]).any(axis=1) & (flags & PASS == 0)
    return empty | no_row_asked | beyond


def _flags(descriptors: np.ndarray) -> np.ndarray:
    return descriptors[:, 0] >> 8 & 0xFF


def _rotate_tokens(
    design: Design, stream: StreamInput, framing: Framing, rotated: np.ndarray, tokens: slice, out: np.ndarray
) -> None:
    """Fill ``out`` with the output beats of ``tokens``."""
    geometry = design.geometry
    beats = slice(*np.searchsorted(framing.token, (tokens.start, tokens.stop)))
    token, beat = framing.token[beats] - tokens.start, framing.beat[beats]
    # Beats that never came stay 0 and are not read again.
    whole = np.zeros((tokens.stop - tokens.start, design.beats_per_token, design.elements), np.int64)
    whole[token, beat] = wrap(stream.data[framing.source[beats]], design.data_width)
    heads = whole.reshape(len(whole), sum(design.heads), geometry.head_dim)
    turned = slice(0, design.heads[0] + design.heads[1])
    inside = slice(geometry.rotary_start, geometry.rotary_start + geometry.rotary_dim)
    descriptors = stream.descriptors[tokens]
    flags = _flags(descriptors)
    slot = descriptors[:, 0] & 0xFF
    kind = slot << 8 | flags & (INVERSE | UNIT_AMPLITUDE)
    for one in np.unique(kind[rotated[tokens]]):
        chosen = np.flatnonzero(rotated[tokens] & (kind == one))
        position = descriptors[chosen, 1:].astype(np.int64)
        row = rows(design, int(one) >> 8, position, unit_amplitude=bool(one & UNIT_AMPLITUDE))
        pairs = heads[chosen, turned, inside].reshape(len(chosen), -1, design.pairs, 2)
        result = rotate(design, pairs, row[:, None], inverse=bool(one & INVERSE))
        heads[chosen, turned, inside] = result.reshape(len(chosen), -1, geometry.rotary_dim)
    out[beats] = whole[token, beat]


def wrap(words: np.ndarray, width: int) -> np.ndarray:
    """The low ``width`` bits of ``words``, read as signed: what the engine makes of a container."""
    shift = 64 - width
    return (words << shift) >> shift
