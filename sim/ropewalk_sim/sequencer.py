"""The sequencer as a model: commands in, token descriptors out, in every bit what the hardware gives.

``docs/ports.md``, "Sequencer", says what a command means.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

SET, DECODE, SAME_TAG = 1, 2, 4
"""Options of a command: bits of word 0 [31:24]."""

MOST_TOKENS = 1 << 24
"""Descriptors that one call makes at most: the model holds them in memory, the hardware does not."""

_END = (1 << 32) - 1


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command: a run of tokens at successive positions.

    Parameters
    ----------
    slot, flags, tag
        As in the descriptors; ``tag`` is that of the first token. Bytes.
    start
        The first position, 0 to ``2**32 - 1``; ``None`` goes on where the command before ended.
    count
        How many tokens, 0 to ``2**32 - 1``. Not looked at with ``decode``.
    decode
        One token.
    same_tag
        All tokens have the tag of the first; otherwise it counts up, modulo 256.

    Raises
    ------
    ValueError
        If a number does not fit its field.
    """

    slot: int = 0
    flags: int = 0
    tag: int = 0
    start: int | None = None
    count: int = 0
    decode: bool = False
    same_tag: bool = False

    def __post_init__(self) -> None:
        for name in ("slot", "flags", "tag"):
            if not 0 <= getattr(self, name) <= 255:
                raise ValueError(f"{name} must be from 0 to 255, not {getattr(self, name)!r}")
        for name in ("start", "count"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= _END:
                raise ValueError(f"{name} must be from 0 to 2**32 - 1, not {value!r}")

    @property
    def tokens(self) -> int:
        """Descriptors that the command makes."""
        return 1 if self.decode else self.count


def command_words(commands: Iterable[Command]) -> np.ndarray:
    """``uint32 [commands, 4]``: the commands as they stand on the port, word 0 lowest."""
    words = [
        (
            one.slot
            | one.flags << 8
            | one.tag << 16
            | (SET * (one.start is not None) | DECODE * one.decode | SAME_TAG * one.same_tag) << 24,
            one.start or 0,
            one.count,
            0,
        )
        for one in commands
    ]
    return np.array(words, np.uint32).reshape(-1, 4)


def sequence(commands: Iterable[Command], *, axes: int = 1, counter: int = 0) -> tuple[np.ndarray, int]:
    """The descriptors that the commands make, from a counter that stands at ``counter`` (0 after reset).

    Returns
    -------
    ``uint32 [tokens, 1 + axes]``, and where the counter stands afterwards, 0 to ``2**32``: the position of the next
    token, or ``2**32`` where the last position there is has been given; it is given again then.

    Raises
    ------
    ValueError
        If there are more than :data:`MOST_TOKENS` tokens.
    """
    parts = [np.empty((0, 1 + axes), np.uint32)]
    made = 0
    for one in commands:
        if one.start is not None:
            counter = one.start
        made += one.tokens
        if made > MOST_TOKENS:
            raise ValueError(f"the commands make more than {MOST_TOKENS} descriptors")
        place = np.arange(one.tokens, dtype=np.int64)
        tag = np.full_like(place, one.tag) if one.same_tag else one.tag + place & 0xFF
        part = np.empty((one.tokens, 1 + axes), np.uint32)
        part[:, 0] = one.slot | one.flags << 8 | tag << 16
        part[:, 1:] = np.minimum(counter + place, _END)[:, None]
        parts.append(part)
        counter = min(counter + one.tokens, _END + 1)
    return np.concatenate(parts), counter
