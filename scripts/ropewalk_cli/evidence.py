"""What `verify` and the demo measure: where two engines differ, and the error against the exact angle."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from ropewalk.design import Design
from ropewalk_sim.compare import compare
from ropewalk_sim.element_order import moved
from ropewalk_sim.exact import exact_rotation, exact_turns
from ropewalk_sim.framing import frame
from ropewalk_sim.statistics import ErrorStatistics, error_statistics
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE, StreamInput, StreamOutput

CHUNK_PAIRS = 1 << 18
"""Pairs that are compared with the exact angle at once, which bounds the memory."""


def slot_bits(design: Design, stream: StreamInput, one: StreamOutput, other: StreamOutput, slot: int) -> int:
    """How many bits of two outputs differ in the tokens of ``slot``, as far as both have the beats.

    Which beat belongs to which token follows from ``stream``, whose packets may be broken.
    """
    beats = min(one.beats, other.beats)
    chosen = np.flatnonzero((stream.descriptors[:, 0] & 0xFF == slot)[frame(design, stream).token[:beats]])
    return compare(design, some_beats(one, chosen), some_beats(other, chosen)).differing_bits


def some_beats(output: StreamOutput, chosen: slice | NDArray[np.intp]) -> StreamOutput:
    """The chosen beats of ``output``, without its clocks."""
    return StreamOutput(
        data=output.data[chosen], tid=output.tid[chosen], last=output.last[chosen], user=output.user[chosen]
    )


def some_tokens(design: Design, stream: StreamInput, tokens: slice) -> StreamInput:
    """The tokens of a slice of a ``stream`` of whole tokens."""
    beats = beats_of(design, tokens)
    return StreamInput(
        descriptors=stream.descriptors[tokens], data=stream.data[beats], tid=stream.tid[beats], last=stream.last[beats]
    )


def beats_of(design: Design, tokens: slice) -> slice:
    """The beats of a slice of whole tokens."""
    return slice(tokens.start * design.beats_per_token, tokens.stop * design.beats_per_token)


def rotary_pairs(design: Design, data: NDArray[np.int64], slot: int, pairing: str) -> NDArray[np.int64]:
    """The pairs of query and key heads that ``slot`` rotates, ``[tokens, heads, pairs, 2]``, of whole tokens' beats.

    ``pairing`` is the order of their elements: that of ``design.order(slot)`` on the side they were seen on.
    """
    shape = design.shapes[slot]
    heads = data.reshape(-1, sum(design.heads), shape.head_dim)[:, : design.heads[0] + design.heads[1]]
    inside = moved(heads, design, slot, pairing, "interleaved")[..., shape.rotated]
    return inside.reshape(*inside.shape[:2], shape.pairs, 2)


def exact_pairs(design: Design, descriptors: NDArray[np.uint32], pairs: NDArray, slot: int) -> NDArray[np.float64]:
    """``pairs [tokens, heads, pairs, 2]`` rotated by the exact angle of their tokens; not rounded, not clipped.

    All tokens are of ``slot``. Those to pass stay as they are.
    """
    result = np.array(pairs, np.float64)
    flags = (descriptors[:, 0] >> 8) & 0xFF
    (chosen,) = np.nonzero(flags & PASS == 0)
    variant = design.variants[slot]
    follows = variant.axis if variant.axis is not None else (0,) * len(variant.inverse_frequency)
    turns = exact_turns(variant.inverse_frequency, descriptors[chosen, 1:].astype(np.int64), follows)
    turns = np.where((flags[chosen] & INVERSE != 0)[:, None], -turns, turns)[:, None]
    unit = (flags[chosen] & UNIT_AMPLITUDE != 0)[:, None, None, None]
    result[chosen] = exact_rotation(pairs[chosen], turns, np.where(unit, 1.0, variant.amplitude))
    return result


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The error of rotated elements against the exact rotation of their words, in LSB of the result.

    The exact result is clipped to the range of a word, as the engine saturates. ``None`` where nothing was rotated.
    """

    tokens: int
    pairs: int
    worst_lsb: float | None
    bias_lsb: float | None
    rms_lsb: float | None


NOTHING_ROTATED = Accuracy(tokens=0, pairs=0, worst_lsb=None, bias_lsb=None, rms_lsb=None)


def found_and_exact(
    design: Design, stream: StreamInput, output: StreamOutput, tokens: NDArray[np.intp], slot: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """The pairs of ``tokens``, all of ``slot``, as they came out and as they should be, in LSB, a chunk at a time."""
    order = design.order(slot)
    given, found = (data.reshape(stream.tokens, -1) for data in (stream.data, output.data))
    per_chunk = max(1, CHUNK_PAIRS // (given.shape[1] // 2))
    for first in range(0, len(tokens), per_chunk):
        chosen = tokens[first : first + per_chunk]
        pairs = rotary_pairs(design, given[chosen], slot, order.input_pairing)
        exact = exact_pairs(design, stream.descriptors[chosen], pairs, slot)
        turned = rotary_pairs(design, found[chosen], slot, order.output_pairing)
        yield turned, np.clip(exact, design.data.minimum, design.data.maximum)


def errors_lsb(design: Design, stream: StreamInput, output: StreamOutput) -> NDArray[np.float64]:
    """The error of every element that was rotated, in LSB, flat, slot by slot."""
    errors = [np.zeros(0)]
    for slot in range(len(design.variants)):
        tokens = rotated_tokens(design, stream, output, slot)
        errors += [(word - exact).ravel() for word, exact in found_and_exact(design, stream, output, tokens, slot)]
    return np.concatenate(errors)


def rotated_tokens(design: Design, stream: StreamInput, output: StreamOutput, slot: int) -> NDArray[np.intp]:
    """The tokens of ``slot`` that were to be rotated and have no error on any beat."""
    mine = stream.descriptors[:, 0] & 0xFF == slot
    passed = (stream.descriptors[:, 0] >> 8) & PASS != 0
    failed = output.error.reshape(stream.tokens, design.beats_per_token).any(axis=1)
    return np.flatnonzero(mine & ~passed & ~failed)


def accuracy(design: Design, stream: StreamInput, output: StreamOutput) -> list[Accuracy]:
    """The accuracy of ``output``, variant by variant in slot order."""
    reports = []
    for one in range(len(design.variants)):
        tokens = rotated_tokens(design, stream, output, one)
        if not len(tokens):
            reports.append(NOTHING_ROTATED)
            continue
        chunks = found_and_exact(design, stream, output, tokens, one)
        errors = sum((error_statistics(word, exact) for word, exact in chunks), ErrorStatistics())
        reports.append(
            Accuracy(
                tokens=len(tokens),
                pairs=errors.count // 2,
                worst_lsb=errors.worst_lsb,
                bias_lsb=errors.bias_lsb,
                rms_lsb=errors.rms_lsb,
            )
        )
    return reports
