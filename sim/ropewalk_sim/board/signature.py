"""What the self-test of a board must come to: its vectors, the model's answer to them, and that one's signature."""

import numpy as np
from ropewalk.board_top.crc import POLYNOMIAL
from ropewalk.board_top.vectors import (
    AXIS_TURN,
    DATA_START,
    ELEMENT_TURN,
    LONG_BITS,
    POSITION_TURN,
    SHIFT_BITS,
    SHORT_BITS,
    SIGNATURE_TURN,
    STEP,
    TOKEN_START,
    token_count,
)
from ropewalk.design import Design

from ..beats import INVERSE, PASS, UNIT_AMPLITUDE, StreamInput, StreamOutput, descriptor_words, whole_tokens
from ..stream_model import run_model


def expected_signature(design: Design) -> int:
    """The signature of an engine that is right in every bit."""
    return signature_of(design, run_model(design, self_test_stream(design)))


def self_test_stream(design: Design) -> StreamInput:
    """What the self-test sends."""
    tokens = token_count(design)
    word0, positions = [], []
    register = TOKEN_START
    for number in range(tokens):
        flags = INVERSE * (register & 1)
        flags |= PASS * (register >> 1 & 7 == 0)
        flags |= UNIT_AMPLITUDE * (register >> 4 & 3 == 3)
        word0.append((number % (len(design.variants) + 1), flags, number))
        bits = LONG_BITS if register >> 6 & 1 else SHORT_BITS
        positions.append(
            [_turned(register, POSITION_TURN + AXIS_TURN * axis) & (1 << bits) - 1 for axis in range(design.axes)]
        )
        register = _moved_on(register)
    slot, flags, tag = np.array(word0).T
    descriptors = descriptor_words(slot, np.array(positions), flags=flags, tag=tag, axes=design.axes)
    data = np.empty((tokens * design.beats_per_token, design.elements), np.int64)
    half = 1 << design.data_width - 1
    register = DATA_START
    for beat in data:
        for index in range(design.elements):
            word = _turned(register, ELEMENT_TURN * index) & 2 * half - 1
            beat[index] = (word ^ half) - half
        register = _moved_on(register)
    return whole_tokens(design, descriptors, data.reshape(tokens, sum(design.heads), -1))


def signature_of(design: Design, output: StreamOutput) -> int:
    """The signature of what came out."""
    container = design.container_bits
    bits = design.elements * container
    signature = 0
    for data, tid, last, user in zip(output.data, output.tid, output.last, output.user, strict=True):
        beat = sum((int(element) & (1 << container) - 1) << index * container for index, element in enumerate(data))
        beat |= (int(tid) | int(last) << 8 | int(user) << 9) << bits
        folded = 0
        for index in range(-(-(bits + 12) // 32)):
            word = beat >> 32 * index & 0xFFFFFFFF
            turn = SIGNATURE_TURN * index % 32
            folded ^= (word << turn | word >> 32 - turn) & 0xFFFFFFFF
        signature = signature >> 1 ^ (POLYNOMIAL if signature & 1 else 0) ^ folded
    return signature


def _moved_on(register: int) -> int:
    """The register after :data:`~ropewalk.board_top.vectors.STEP` single steps."""
    for _ in range(STEP):
        register = register << 1 & (1 << SHIFT_BITS) - 1 | register >> 32 & 1 ^ register >> 19 & 1
    return register


def _turned(register: int, places: int) -> int:
    places %= SHIFT_BITS
    return (register >> places | register << SHIFT_BITS - places) & (1 << SHIFT_BITS) - 1
