"""Several engines on one stream, bit for bit against the first of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import load_design

from .beats import Script, Stalls, StreamInput, StreamOutput
from .engines import Progress, open_engine
from .errors import EngineError
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


@dataclass(frozen=True, kw_only=True)
class EngineResult:
    """One engine's output, and how it differs from the first engine's (``None`` for that one itself)."""

    output: StreamOutput
    comparison: Comparison | None


def run_engines(
    folder: Path,
    names: Sequence[str],
    stream: StreamInput,
    *,
    stalls: Stalls | None = None,
    script: Script | None = None,
    progress: Callable[[str], Progress | None] | None = None,
) -> dict[str, EngineResult]:
    """Run ``stream`` through the engines ``names`` of the design in ``folder``; the first one is the standard.

    ``progress`` is called with an engine's name when it begins, and gives what is told of its progress.

    Raises
    ------
    InputError
        If an engine is not known or the folder holds no design.
    EngineError
        If an engine cannot be built or run. A difference is not an error here, but in the results.
    """
    if not names:
        raise EngineError("there is no engine to run")
    design = load_design(folder)
    engines = {name: open_engine(name, folder) for name in names}
    results: dict[str, EngineResult] = {}
    for name, engine in engines.items():
        tell = progress(name) if progress is not None else None
        output = engine.run(stream, stalls=stalls, script=script, progress=tell)
        first = next(iter(results.values()), None)
        comparison = compare(design, first.output, output, stream) if first is not None else None
        results[name] = EngineResult(output=output, comparison=comparison)
    return results
