"""The whole engine as a model: streams in, streams out, in every bit what the hardware gives.

The arithmetic is :mod:`.model` (``docs/number-contract.md``), the framing :mod:`.framing`; here stand the rules of
descriptors and errors (PORTS.md, "Token descriptors" and "Errors").
"""

import numpy as np
from ropewalk.design import AMPLITUDE, Design
from ropewalk.tables import amplitude_word

from .beats import INVERSE, KEY, PASS, QUERY, UNIT_AMPLITUDE, VALUE, StreamInput, StreamOutput
from .element_order import beats_let_out, order_in
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
    kept = slice(0, _let_out(design, stream, framing))
    return StreamOutput(
        data=data[kept],
        tid=tags[framing.token][kept],
        last=framing.last[kept],
        user=(kinds[framing.beat] << 1 | error).astype(np.uint8)[kept],
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


def _let_out(design: Design, stream: StreamInput, framing: Framing) -> int:
    """How many output beats there are: an engine holds some back if the stream ends within their head."""
    beats = len(framing.last)
    if not beats or framing.last[-1]:
        return beats
    whole, came = divmod(int(framing.beat[-1]) + 1, design.beats_per_head)
    if whole >= design.heads[0] + design.heads[1]:
        return beats
    slot = int(stream.descriptors[framing.token[-1], 0] & 0xFF)
    return beats - came + beats_let_out(design, slot, came)


def _rotate_tokens(
    design: Design, stream: StreamInput, framing: Framing, rotated: np.ndarray, tokens: slice, out: np.ndarray
) -> None:
    """Fill ``out`` with the output beats of ``tokens``."""
    beats = slice(*np.searchsorted(framing.token, (tokens.start, tokens.stop)))
    token, beat = framing.token[beats] - tokens.start, framing.beat[beats]
    # What never came is 0.
    whole = np.zeros((tokens.stop - tokens.start, design.beats_per_token, design.elements), np.int64)
    whole[token, beat] = wrap(stream.data[framing.source[beats]], design.data_width)
    came = np.zeros(whole.shape, bool)
    came[token, beat] = True
    head_dim = design.geometry.head_dim
    heads, there = (array.reshape(len(whole), -1, head_dim) for array in (whole, came))
    turned = slice(0, design.heads[0] + design.heads[1])
    descriptors = stream.descriptors[tokens]
    asked = descriptors[:, 0] & 0xFF
    slots = np.where(asked < len(design.variants), asked, 0)
    for slot in np.unique(slots).tolist():
        chosen = np.flatnonzero(slots == slot)
        order = design.order(slot)
        # Worked on in pair order (element_order).
        back = order_in(design, slot, order.input_pairing)[1]
        given = heads[chosen, turned][..., back]
        _turn(design, slot, descriptors[chosen], rotated[tokens][chosen], given, there[chosen, turned][..., back])
        heads[chosen, turned] = given[..., order_in(design, slot, order.output_pairing)[0]]
    out[beats] = whole[token, beat]


def _turn(
    design: Design, slot: int, descriptors: np.ndarray, rotated: np.ndarray, heads: np.ndarray, there: np.ndarray
) -> None:
    """Rotate in place the pairs of ``heads [tokens, heads, head_dim]``, in pair order, of the tokens to be ``rotated``.

    A pair of which only one element is ``there`` is not turned.
    """
    shape = design.geometry.of(slot)
    inside = slice(shape.rotary_start, shape.rotary_start + shape.rotary_dim)
    flags = _flags(descriptors) & (INVERSE | UNIT_AMPLITUDE)
    for flag in np.unique(flags[rotated]).tolist():
        chosen = np.flatnonzero(rotated & (flags == flag))
        row = rows(design, slot, descriptors[chosen, 1:].astype(np.int64), unit_amplitude=bool(flag & UNIT_AMPLITUDE))
        pairs = heads[chosen, :, inside].reshape(len(chosen), heads.shape[1], -1, 2)
        both = there[chosen, :, inside].reshape(pairs.shape).all(axis=-1, keepdims=True)
        result = np.where(both, rotate(design, pairs, row[:, None], inverse=bool(flag & INVERSE)), pairs)
        heads[chosen, :, inside] = result.reshape(len(chosen), heads.shape[1], -1)


def wrap(words: np.ndarray, width: int) -> np.ndarray:
    """The low ``width`` bits of ``words``, read as signed: what the engine makes of a container."""
    shift = 64 - width
    return (words << shift) >> shift
