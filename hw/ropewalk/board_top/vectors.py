"""The vectors of the self-test: what both the gateware that makes them and the model that foresees them go by."""

from ..design import Design

SHIFT_BITS = 33
"""A shift register with feedback from bits 32 and 19, which comes round after 2^33 - 1 steps."""

STEP = 20
"""Steps that it is moved on at once: as many as a single XOR per bit gives."""

DATA_START, TOKEN_START = 0x0_9E37_79B9, 0x1_7F4A_7C15
"""What the registers of the data and of the descriptors begin with."""

ELEMENT_TURN, AXIS_TURN, POSITION_TURN = 7, 11, 8
"""By how many bits it is turned from an element to the next, from an axis to the next, and for the first axis."""

SHORT_BITS, LONG_BITS = 8, 20
"""Bits of a position, of one token and of another."""

SIGNATURE_TURN = 5
"""By how many bits each word of a beat is turned before it goes into the signature."""


def token_count(design: Design) -> int:
    """How many tokens there are: each slot that holds a variant, and one that is empty, at least twice."""
    return max(64, 2 * (len(design.variants) + 1))
