"""What must come out for the descriptors and beats that an engine took, each token with settings of its own.

The framing is followed beat by beat, as ``docs/ports.md`` says it; the elements, and what a token's own errors do, come
from :func:`ropewalk_sim.stream_model.run_model`, which is given all tokens of equal settings at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from ropewalk.design import Design
from ropewalk_sim.beats import StreamInput
from ropewalk_sim.stream_model import run_model
from ropewalk_sim.units.streams import from_octets, to_octets

from .history import Settings
from .layouts import Content, Layout

EMPTY = 255
"""A slot that no engine has."""

Key = tuple[Content, bool, tuple[int, int, int]]


@dataclass
class Framed:
    """A stretch's beats that go out, in order, one entry each.

    ``beat`` is the input beat, ``token`` the token, ``last`` TLAST, ``error`` the framing error. ``ended`` counts the
    tokens that are over; ``excess`` says whether the beats of a long packet are still being dropped, ``fault`` what
    the engine took that it must not take yet.
    """

    beat: list[int] = field(default_factory=list)
    token: list[int] = field(default_factory=list)
    last: list[bool] = field(default_factory=list)
    error: list[bool] = field(default_factory=list)
    ended: int = 0
    excess: bool = False
    fault: str = ""


def frame(sides: Sequence[int], clocks: Sequence[int], tokens: Sequence[tuple[int, int, int]]) -> Framed:
    """Follow beats with these sides (TID, TLAST) and clocks through ``tokens``: clock, tag and beats of each."""
    made = Framed()
    came = 0
    mismatched = False
    for number, side in enumerate(sides):
        last = bool(side >> 8 & 1)
        if made.excess:
            made.excess = not last
            continue
        if made.ended >= len(tokens) or tokens[made.ended][0] >= clocks[number]:
            made.fault = f"data were taken in clock {clocks[number]}, before their descriptor"
            return made
        _, tag, beats = tokens[made.ended]
        if side & 255 != tag:
            mismatched = True
            continue
        came += 1
        full = came == beats
        made.beat.append(number)
        made.token.append(made.ended)
        made.last.append(last or full)
        made.error.append(mismatched or last != full)
        if last or full:
            made.excess = not last
            made.ended += 1
            came, mismatched = 0, False
    return made


class Batch:
    """Collects tokens of any stretches, and turns those of equal settings together.

    A place is where in :meth:`solve`'s arrays an output beat is; places go up with each beat of each token.
    """

    def __init__(self, layout: Layout, words: np.ndarray) -> None:
        """``words`` are the input beats, ``uint64 [beats]``, that :meth:`add` speaks of."""
        self.layout = layout
        self.words = words
        self.count = 0
        self._groups: dict[tuple[Key, int], list[tuple[np.ndarray, np.ndarray, int]]] = {}
        self._open = 0

    def add(self, settings: Settings, words: np.ndarray, beats: np.ndarray, *, ended: bool) -> None:
        """A token: its descriptor's words, and the input beats that go out; ``ended`` if TLAST is among them."""
        if not len(beats):
            return
        slot = int(words[0] & 255)
        content = settings.slots[slot] if slot < len(settings.slots) else None
        # A token without a slot goes in the order of slot 0.
        first = settings.slots[0]
        assert first is not None
        own = words.copy()
        own[0] = words[0] & ~np.uint32(255) | np.uint32(EMPTY if content is None else 0)
        for axis, offset in enumerate(settings.offsets):
            position = int(words[1 + axis]) + offset
            own[1 + axis] = position if 0 <= position < 1 << 32 else (1 << 32) - 1
        # One that has not ended is the last of its stretch, and alone in its group: some of it may be held back.
        self._open += not ended
        key = (content or first, content is None, settings.heads), 0 if ended else self._open
        self._groups.setdefault(key, []).append((own, beats, self.count))
        self.count += len(beats)

    def solve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``uint64 [count]`` output beats, ``int64 [count]`` TUSER, ``bool [count]`` whether the beat comes out."""
        data = np.zeros(self.count, np.uint64)
        user = np.zeros(self.count, np.int64)
        there = np.zeros(self.count, bool)
        for ((content, _, heads), still_open), tokens in self._groups.items():
            turned = heads[0] + heads[1]
            # Registers allow what no design has: no query or no key heads. Such tokens are given heads in front.
            ahead = max(0, 2 - turned)
            design = _design(self.layout, content, (turned + ahead - 1, 1, heads[2]))
            filler = np.full(ahead * design.beats_per_head, -1, np.int64)
            source = np.concatenate([part for _, beats, _ in tokens for part in (filler, beats)])
            sizes = np.array([len(filler) + len(beats) for _, beats, _ in tokens])
            last = np.zeros(len(source), bool)
            if not still_open:
                last[np.cumsum(sizes) - 1] = True
            descriptors = np.stack([own for own, _, _ in tokens])
            words = np.where(source < 0, np.uint64(0), self.words[source])
            stream = StreamInput(
                descriptors=descriptors, data=unpack(design, words),
                tid=np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), sizes), last=last,
            )  # fmt: skip
            output = run_model(design, stream)
            real = source[: output.beats] >= 0
            kinds = np.repeat(np.arange(3), np.array(heads) * design.beats_per_head)
            places = np.concatenate([np.arange(place, place + len(beats)) for _, beats, place in tokens])
            kind = np.concatenate([kinds[: len(beats)] for _, beats, _ in tokens])
            places, kind = places[: np.count_nonzero(real)], kind[: np.count_nonzero(real)]
            data[places] = pack(design, output.data[real])
            user[places] = (output.user[real] & 1) | kind << 1
            there[places] = True
        return data, user, there


@lru_cache(maxsize=512)
def _design(layout: Layout, content: Content, heads: tuple[int, int, int]) -> Design:
    return layout.design_of([content], heads)


def unpack(design: Design, words: np.ndarray) -> np.ndarray:
    """Elements ``int64 [beats, 2 * lanes]`` of beats ``uint64 [beats]``."""
    octets = np.ascontiguousarray(words, "<u8").view(np.uint8).reshape(-1, 8)
    return from_octets(octets[:, : design.elements * design.container_bits // 8], design.container_bits)


def pack(design: Design, data: np.ndarray) -> np.ndarray:
    """Beats ``uint64 [beats]`` of elements ``int64 [beats, 2 * lanes]``."""
    octets = to_octets(data, design.container_bits)
    return np.pad(octets, ((0, 0), (0, 8 - octets.shape[1]))).reshape(-1).view("<u8")
