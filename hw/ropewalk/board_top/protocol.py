"""The numbers of the serial link, which gateware and host share. ``docs/board.md`` says what they mean."""

from enum import IntEnum

PROTOCOL = 0x52570001
"""What ``IDENTITY`` reads: the letters RW, and the version of this protocol."""

MOST_WORDS = 60
"""Words that a request or its answer carries at most."""

HEADER_BYTES = 4
"""Bytes before the words of a request to write: sequence number, command, and an address of two bytes."""

CRC_BYTES = 4
MOST_BYTES = HEADER_BYTES + 4 * MOST_WORDS + CRC_BYTES
"""A frame's longest contents. Below 254, so that no code byte of COBS is 255."""

LEAST_BYTES = 2 + CRC_BYTES
"""A frame's shortest contents: sequence number, command, CRC."""

ANSWER = 0x80
"""Is added to the command in an answer."""


class Command(IntEnum):
    """What a request asks for."""

    RESET = 0
    WRITE = 1
    READ = 2


class Code(IntEnum):
    """What became of a request: the last byte of an answer before the CRC."""

    DONE = 0
    MALFORMED = 1
    REFUSED = 2


class Address(IntEnum):
    """Words of the board itself. Below them are the engine's own registers."""

    IDENTITY = 0x1000
    DESIGN = 0x1004
    SHAPE = 0x1008
    SELF_TEST = 0x100C
    SIGNATURE = 0x1010
    TOKEN = 0x1014
    DATA = 0x1018
    RESULT = 0x101C


ADDRESS_BITS = 13

RUNNING, PASSED, FAILED = 1, 2, 4
"""Bits of ``SELF_TEST``."""

WAIT_CLOCKS = 4096
"""So long a word for the engine's streams waits for room before it is refused."""
