"""Frames of the serial link as bytes: COBS between zeros, with a CRC-32 (``docs/board.md``)."""

import zlib
from collections.abc import Iterator

from ropewalk.board_top.protocol import CRC_BYTES, LEAST_BYTES, MOST_BYTES

LONGEST = MOST_BYTES + 1
"""Bytes of the longest frame between its zeros."""


def cobs(contents: bytes) -> bytes:
    """``contents``, at most 253 bytes, without a byte 0."""
    return b"".join(bytes([len(block) + 1]) + block for block in contents.split(b"\0"))


def uncobs(coded: bytes) -> bytes | None:
    """What :func:`cobs` was given, or None where ``coded`` is nothing that it gives."""
    blocks = []
    at = 0
    while at < len(coded):
        code = coded[at]
        block = coded[at + 1 : at + code]
        if code in (0, 255) or len(block) != code - 1 or 0 in block:
            return None
        blocks.append(block)
        at += code
    return b"\0".join(blocks) if blocks else None


def framed(contents: bytes) -> bytes:
    """A frame on the line, with its CRC and both its zeros."""
    return b"\0" + cobs(contents + zlib.crc32(contents).to_bytes(CRC_BYTES, "little")) + b"\0"


class Unframer:
    """Finds the frames in bytes as they come; what is damaged it leaves out, as if it had not been sent."""

    def __init__(self) -> None:
        self._coded = bytearray()
        # What comes first may be the rest of a frame.
        self._bad = True

    def frames(self, received: bytes) -> Iterator[bytes]:
        """The contents of each sound frame that ends in ``received``, without its CRC."""
        for byte in received:
            if byte:
                self._bad |= len(self._coded) == LONGEST
                if not self._bad:
                    self._coded.append(byte)
                continue
            contents = None if self._bad else uncobs(bytes(self._coded))
            self._coded.clear()
            self._bad = False
            if contents is not None and len(contents) >= LEAST_BYTES:
                body, crc = contents[:-CRC_BYTES], contents[-CRC_BYTES:]
                if zlib.crc32(body) == int.from_bytes(crc, "little"):
                    yield body
