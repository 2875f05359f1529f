"""Two engines' outputs for one stream, bit for bit: how many bits differ, and where the first of them are."""

from dataclasses import dataclass, field

import numpy as np
from ropewalk.design import Design

from .beats import StreamInput, StreamOutput
from .framing import frame

MAX_PLACES = 5
"""How many differing places a report names."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One place where two outputs differ.

    ``what`` is ``data``, ``tid``, ``last`` or ``user``; ``element`` is the place in the beat, for ``data`` only.
    ``token`` is the number of the token, ``None`` where framing faults leave it open.
    """

    what: str
    token: int | None
    beat: int
    element: int | None
    expected: int
    got: int

    def __str__(self) -> str:
        where = "" if self.token is None else f"token {self.token}, "
        element = "" if self.element is None else f", element {self.element}"
        return f"{where}beat {self.beat}{element}: {self.what} is {self.got} and should be {self.expected}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How one output differs from the expected one.

    ``differing_bits`` counts the bits of the containers and of TID, TLAST and TUSER that differ, and every bit of
    a beat that is missing or too many. ``places`` are the first few.
    """

    beats_expected: int
    beats: int
    differing_bits: int
    places: tuple[Difference, ...] = field(default=())

    def __str__(self) -> str:
        if not self.differing_bits:
            return f"{self.beats} beats, every bit as expected"
        lines = [f"{self.differing_bits} differing bits"]
        if self.beats != self.beats_expected:
            lines.append(f"{self.beats} beats came out and should be {self.beats_expected}")
        return "\n  ".join([*lines, *map(str, self.places)])


def compare(design: Design, expected: StreamOutput, got: StreamOutput, stream: StreamInput | None = None) -> Comparison:
    """Compare ``got`` with ``expected``; ``stream``, where given, lets the report name tokens."""
    beats = min(expected.beats, got.beats)
    pairs = {
        "data": (expected.data, got.data, design.container_bits),
        "tid": (expected.tid, got.tid, 8),
        "last": (expected.last, got.last, 1),
        "user": (expected.user, got.user, 3),
    }
    missing = abs(expected.beats - got.beats)
    bits = missing * (design.elements * design.container_bits + 8 + 1 + 3)
    found: list[tuple[int, int | None, str, int, int]] = []
    for what, (want, have, width) in pairs.items():
        want, have = want[:beats].astype(np.int64), have[:beats].astype(np.int64)
        changed = (want ^ have) & ((1 << width) - 1)
        bits += int(np.bitwise_count(changed).sum())
        for place in np.argwhere(changed)[:MAX_PLACES]:
            beat, element = int(place[0]), int(place[1]) if len(place) > 1 else None
            at = tuple(place)
            found.append((beat, element, what, int(want[at]), int(have[at])))
    found.sort(key=lambda one: one[0])
    tokens = None
    if found and stream is not None:
        tokens = frame(design, stream).token
    places = tuple(
        Difference(
            what=what,
            token=None if tokens is None else int(tokens[beat]),
            beat=beat,
            element=element,
            expected=want,
            got=have,
        )
        for beat, element, what, want, have in found[:MAX_PLACES]
    )
    return Comparison(beats_expected=expected.beats, beats=got.beats, differing_bits=bits, places=places)
