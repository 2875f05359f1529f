"""The host's end of the serial link: asks until it is answered, and believes nothing that is damaged."""

import secrets
import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from ropewalk.board_top.protocol import (
    ANSWER,
    FAILED,
    MOST_WORDS,
    PASSED,
    PROTOCOL,
    RUNNING,
    Address,
    Code,
    Command,
)
from ropewalk_sim.errors import EngineError

from .frames import LONGEST, Unframer, framed

TRIES = 16
"""So often a request is sent before the board is said not to answer."""

BITS_PER_BYTE = 10
SLACK = 0.2
"""Seconds that an answer may take beyond the time of its bytes on the line."""

SELF_TEST_SECONDS = 60.0


class Line(Protocol):
    """What is needed of a serial port; ``serial.Serial`` is one."""

    @property
    def baudrate(self) -> int:
        """Bits per second."""
        ...

    @property
    def timeout(self) -> float | None:
        """Seconds that a ``read`` waits."""
        ...

    @timeout.setter
    def timeout(self, value: float | None, /) -> None: ...

    def write(self, data: bytes, /) -> int | None:
        """Send bytes."""
        ...

    def read(self, size: int = 1, /) -> bytes:
        """Bytes that came: as many as asked for, or fewer after ``timeout`` seconds."""
        ...


class BoardHost:
    """A board on a line. Nothing is under way on it when this is made.

    Raises
    ------
    EngineError
        If no board answers, here and in every method; or one with another protocol.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._unframer = Unframer()
        self._number = secrets.randbelow(256)
        self.resent = 0
        """Requests that had to be sent again."""
        self.reset()
        identity = self.read(Address.IDENTITY)
        if identity != PROTOCOL:
            raise EngineError(f"the board speaks the protocol {identity:08x}, and this program {PROTOCOL:08x}")

    def reset(self) -> None:
        """Drop what is under way on the board; its loaded slots stay."""
        self._ask(Command.RESET, secrets.token_bytes(8), echoed=True)

    def read(self, address: int) -> int:
        """A word. Raises ``EngineError`` where the board refuses."""
        words = self.read_up_to(address, 1)
        if not words:
            raise EngineError(f"the board refused to read the word at {address:#06x}")
        return words[0]

    def read_up_to(self, address: int, count: int) -> list[int]:
        """``count`` words from one address, or those before the first that was refused; at most 60."""
        answer = self._ask(Command.READ, address.to_bytes(2, "little") + bytes([count]))
        words, carried = answer[:-2], answer[-2]
        if len(words) != 4 * carried or carried > count:
            raise EngineError("the board gave an answer of a wrong length")
        return [int.from_bytes(words[at : at + 4], "little") for at in range(0, len(words), 4)]

    def write(self, address: int, words: Sequence[int]) -> int:
        """Write ``words`` to one address, one after the other; gives how many were taken before one was refused."""
        taken = 0
        for begin in range(0, len(words), MOST_WORDS):
            part = words[begin : begin + MOST_WORDS]
            answer = self._ask(Command.WRITE, address.to_bytes(2, "little") + packed(part))
            if len(answer) != 2 or answer[0] > len(part):
                raise EngineError("the board gave an answer of a wrong length")
            taken += answer[0]
            if answer[1] != Code.DONE:
                break
        return taken

    def self_test(self) -> tuple[bool, int]:
        """Run the self-test: whether it passed, and the signature that came out."""
        if self.write(Address.SELF_TEST, [0]) != 1:
            raise EngineError("the board refused to run its self-test")
        begun = time.monotonic()
        while (state := self.read(Address.SELF_TEST)) & RUNNING:
            if time.monotonic() - begun > SELF_TEST_SECONDS:
                raise EngineError("the board's self-test does not end")
        if state not in (PASSED, FAILED):
            raise EngineError(f"the board's self-test ended in no known way: {state}")
        return state == PASSED, self.read(Address.SIGNATURE)

    def _ask(self, command: Command, rest: bytes, *, echoed: bool = False) -> bytes:
        """Send a request until its answer comes; gives what the answer holds behind the command."""
        self._number = (self._number + 1) % 256
        request = framed(bytes([self._number, command]) + rest)
        for tries in range(TRIES):
            self._line.write(request)
            self.resent += tries > 0
            for answer in self._answers(len(request)):
                if answer[:2] != bytes([self._number, command | ANSWER]) or len(answer) < 4:
                    continue
                if echoed and answer[2:-2] != rest:
                    continue
                if answer[-1] == Code.MALFORMED:
                    raise EngineError("the board did not understand a request")
                return answer[2:]
        raise EngineError(
            f"the board does not answer: {TRIES} requests were sent. Is it built with ropewalk build --board, is the "
            f"rate {self._line.baudrate} baud, and is the line free of noise?"
        )

    def _answers(self, sent: int) -> Iterable[bytes]:
        """The sound frames that come before the time for an answer is over."""
        seconds = (sent + LONGEST + 2) * BITS_PER_BYTE / self._line.baudrate + SLACK
        end = time.monotonic() + seconds
        self._line.timeout = 0.01
        while time.monotonic() < end:
            if received := self._line.read(LONGEST):
                yield from self._unframer.frames(received)


def packed(words: Iterable[int]) -> bytes:
    """Words as they go over the link."""
    return b"".join(word.to_bytes(4, "little") for word in words)
