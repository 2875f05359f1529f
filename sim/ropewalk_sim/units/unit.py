"""One interface to ALiBi, learned and sinusoidal units: arrays in and out, engines by name, streams to try them with.

Each unit's package implements :class:`Unit`; what it streams are its own types, and :meth:`Unit.octets` brings what
came out into the form in which engines are compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.learned import LearnedDesign
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.statistics import ErrorStatistics

from .streams import UnitOutput


class Packed(Protocol):
    """The stream of a run, the value of one LSB, whether arrays were floats, and how many of those saturated."""

    @property
    def stream(self) -> Any: ...  # noqa: D102
    @property
    def scale(self) -> float: ...  # noqa: D102
    @property
    def floats(self) -> bool: ...  # noqa: D102
    @property
    def saturated(self) -> int: ...  # noqa: D102


class Unit(Protocol):
    """A unit in a folder, ready to run. A stream has ``tokens`` (descriptors) and ``beats``."""

    @property
    def design(self) -> AlibiDesign | LearnedDesign | SinusoidalDesign:
        """What it was generated from."""
        ...

    def pack(self, arrays: Mapping[str, np.ndarray], scale: float | None = None) -> Packed:
        """The stream of INTERFACE.md's arrays; raises ``InputError`` for what it refuses."""
        ...

    def unpack(self, packed: Packed, output: Any) -> dict[str, np.ndarray]:
        """The arrays of a result; raises ``EngineError`` where it is not framed as the input was."""
        ...

    def run(self, engine: str, stream: Any, *, stalls: Stalls | None = None, progress: Progress | None = None) -> Any:
        """What comes out of one of :data:`~.engines.ENGINES`; raises ``EngineError`` if it fails."""
        ...

    def octets(self, output: Any) -> UnitOutput:
        """What came out, in octets."""
        ...

    def plain(self, beats: int, seed: int) -> Any:
        """Sound tokens at random positions below the limit, of ``beats`` beats or a few more."""
        ...

    def corners(self, beats: int, seed: int) -> Any:
        """Tokens of every kind, edges of positions and packets that do not fit among them: about ``beats`` beats."""
        ...

    def errors(self, stream: Any, output: Any) -> tuple[int, ErrorStatistics]:
        """Of sound tokens: how many have no error, and how far their elements are from the exact values, in LSB."""
        ...


def first_tokens(stream: Any, beats: int) -> Any:
    """The first tokens of a stream of sound ones, of ``beats`` beats or a few more; all that there are at most."""
    ends = np.flatnonzero(stream.last) + 1
    tokens = min(len(ends), int(np.searchsorted(ends, beats)) + 1)
    end = int(ends[tokens - 1]) if tokens else 0
    cut = {field.name: getattr(stream, field.name)[:end] for field in fields(stream) if field.name != "descriptors"}
    return replace(stream, descriptors=stream.descriptors[:tokens], **cut)


@dataclass(frozen=True)
class OctetComparison:
    """How many bits of two outputs differ, those of a missing beat included, and where the first one is, in words."""

    differing_bits: int
    first: str | None


def compare_octets(expected: UnitOutput, got: UnitOutput) -> OctetComparison:
    """Compare every bit of data, TKEEP, TID, TLAST and TUSER; octets that TKEEP leaves out do not count."""
    beats = min(expected.beats, got.beats)
    bits = abs(expected.beats - got.beats) * (9 * expected.data.shape[1] + 8 + 1 + 1)
    places: list[tuple[int, str]] = []
    for name in ("data", "keep", "tid", "last", "user"):
        want, have = (getattr(one, name)[:beats].astype(np.uint8) for one in (expected, got))
        if name == "data":
            want, have = (np.where(one.keep[:beats], part, 0) for one, part in ((expected, want), (got, have)))
        changed = want ^ have
        bits += int(np.bitwise_count(changed).sum())
        if changed.any():
            at: list[int] = np.argwhere(changed)[0].tolist()
            octet = f", octet {at[1]}" if len(at) > 1 else ""
            places.append((at[0], f"beat {at[0]}{octet}: {name} is {have[*at]} and should be {want[*at]}"))
    if places:
        return OctetComparison(bits, min(places)[1])
    if bits:
        return OctetComparison(bits, f"{got.beats} beats came out and should be {expected.beats}")
    return OctetComparison(0, None)
