"""Compares the notes of a soak with what had to come out."""

from bisect import bisect_right
from collections import Counter

import numpy as np

from .expect import Batch, Framed, frame
from .history import History, Settings
from .layouts import Layout
from .wrapper import STATE, waits

MOST_AHEAD = 4
"""An engine takes so many descriptors with no data present, and may take more."""

Boundary = tuple[int, str]


class Checker:
    """Checks chunk after chunk of one soak.

    ``fault`` says what was wrong first, and is empty while nothing was; ``counts`` is what was seen.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.history = History(layout)
        self.beats_per_head = layout.design.beats_per_head
        self.counts: Counter[str] = Counter()
        self.clocks = 0
        self.waits: dict[str, int] = {}
        self.stretches = 0
        self.fault = ""

    def check(self, chunk: dict[str, np.ndarray]) -> None:
        """Check the notes of a chunk (:meth:`.notes.Notes.dump`), which ends in reset."""
        self._count(chunk["states"])
        self.stretches = int(chunk["stretches"])
        settings, boundaries = self._replay(chunk)
        batch = Batch(self.layout, chunk["data"])
        stretches = self._stretches(chunk, settings, boundaries, batch)
        expected, user, there = batch.solve()
        place = 0
        for (clock, kind), seen, framed, first in stretches:
            mine = slice(place, place + len(framed.beat))
            place = mine.stop
            out = np.flatnonzero(there[mine])
            side = (
                (chunk["data_side"][np.array(framed.beat, np.int64) + first] & 255)
                | np.array(framed.last, np.int64) << 8
                | (user[mine] | np.array(framed.error, np.int64)) << 9
            )
            wanted = expected[mine][out], side[out]
            got = chunk["output"][seen], chunk["output_side"][seen]
            clocks = chunk["output_clock"][seen]
            drained = self._drained(chunk, clock)
            self._compare(wanted, got, clocks, f"{kind} in clock {clock}", complete=drained)
            self.counts[f"ended by {kind}"] += 1
            self.counts["of them after all had come out"] += drained
            self.counts["beats in flight at a reset or flush"] += len(out) - len(got[0])
            if self.fault:
                return
        self.counts["output beats"] += len(chunk["output"])
        self.counts["error beats"] += int(np.count_nonzero(chunk["output_side"] >> 9 & 1))
        self.counts["data beats"] += len(chunk["data"])
        self.counts["tokens"] += len(chunk["token"])
        self.counts["register writes"] += len(chunk["writes"])
        self.counts["register reads"] += len(chunk["reads"])
        self.counts["slot loads"], self.counts["refused writes"] = self.history.commits, self.history.refused
        self.fault = self.fault or self.history.fault

    def _count(self, states: np.ndarray) -> None:
        """Count the clocks in which an interface waited: valid and not ready."""
        self.clocks = int(states[:, 1].sum())
        for name in STATE:
            waiting = waits(states[:, 0], name)
            self.waits[name] = int(states[waiting, 1].sum())

    def _replay(self, chunk: dict[str, np.ndarray]) -> tuple[tuple[list[Settings], list[int]], list[Boundary]]:
        """The settings over time (with the clock from behind which they hold), and where streams were emptied."""
        history = self.history
        before = self.counts["register writes"]
        moments: list[tuple[int, int, tuple[int, ...]]] = [(int(clock), 1, ()) for clock in chunk["resets"]]
        moments += [(int(write[0]), 0, tuple(write[1:].tolist())) for write in chunk["writes"]]
        reads = iter([*chunk["reads"].tolist(), None])
        following = next(reads)
        settings, since = [history.settings], [-1]
        boundaries: list[Boundary] = []
        for clock, _, write in sorted(moments, key=lambda moment: moment[:2]):
            # A read is behind the writes that were answered when it was begun, and before a reset of a later clock.
            while following is not None and following[0] <= before and following[4] < clock:
                history.read(*following[1:4])
                following = next(reads)
            if write:
                address, word, answer = write
                kind = history.write(address, word, answer)
                before += 1
            else:
                history.reset()
                kind = "aresetn"
            if kind:
                boundaries.append((clock, kind))
            if history.settings is not settings[-1]:
                settings.append(history.settings)
                since.append(clock)
            if history.fault and not self.fault:
                self.fault = f"in clock {clock}: {history.fault}"
        return (settings, since), boundaries

    def _stretches(
        self,
        chunk: dict[str, np.ndarray],
        settings: tuple[list[Settings], list[int]],
        boundaries: list[Boundary],
        batch: Batch,
    ) -> list[tuple[Boundary, slice, Framed, int]]:
        """Frame each stretch and add its tokens to the batch: its end, output beats, framing, and first input beat."""
        token_clock, data_clock, output_clock = (chunk[f"{name}_clock"] for name in ("token", "data", "output"))
        heads = [sum(one.heads) * self.beats_per_head for one in settings[0]]
        if not boundaries or boundaries[-1][1] != "aresetn":
            boundaries.append((1 << 60, "a fault"))
        made = []
        token = data = output = 0
        for clock, kind in boundaries:
            stop = int(np.searchsorted(token_clock, clock, "right")), int(np.searchsorted(data_clock, clock, "right"))
            tokens, beats = slice(token, stop[0]), slice(data, stop[1])
            token, data = stop
            # A flush lets the beat on offer out: up to the first input of the next stretch.
            until = clock
            if kind == "flush":
                until = int(data_clock[data]) if data < len(data_clock) else 1 << 60
            seen = slice(output, int(np.searchsorted(output_clock, until, "right")))
            output = seen.stop
            late = int(np.count_nonzero(output_clock[seen] > clock))
            if late > 1:
                self.fault = self.fault or f"{late} beats came out after the flush in clock {clock}"
            # A write in one clock holds from the next on.
            when = token_clock[tokens].tolist()
            held = [bisect_right(settings[1], one - 1) - 1 for one in when]
            words = chunk["token"][tokens]
            tags = (words[:, 0] >> 16 & 255).tolist()
            asked = [(one, tag, heads[at]) for one, tag, at in zip(when, tags, held, strict=True)]
            framed = frame(chunk["data_side"][beats].tolist(), data_clock[beats].tolist(), asked)
            if framed.fault:
                self.fault = self.fault or framed.fault
            cuts = np.searchsorted(np.array(framed.token, np.int64), np.arange(len(asked) + 1)).tolist()
            beat_numbers = np.array(framed.beat, np.int64) + beats.start
            for number in range(len(asked)):
                mine = beat_numbers[cuts[number] : cuts[number + 1]]
                batch.add(settings[0][held[number]], words[number], mine, ended=number < framed.ended)
            self._left(chunk, clock, framed, len(asked))
            self.counts["beats dropped by framing"] += beats.stop - beats.start - len(framed.beat)
            self.counts["tokens with a framing error"] += len({
                number for number, wrong in zip(framed.token, framed.error, strict=True) if wrong
            })  # fmt: skip
            made.append(((clock, kind), seen, framed, beats.start))
        return made

    def _drained(self, chunk: dict[str, np.ndarray], clock: int) -> bool:
        """Whether nothing moved any more before the end in ``clock``."""
        ends = chunk["ends"]
        place = int(np.searchsorted(ends[:, 0], clock, "right")) - 1
        return place >= 0 and bool(ends[place, 1])

    def _left(self, chunk: dict[str, np.ndarray], clock: int, framed: Framed, tokens: int) -> None:
        """Where all is quiet, an engine may leave data alone only for want of a descriptor, and the other way round."""
        ends = chunk["ends"]
        place = int(np.searchsorted(ends[:, 0], clock, "right")) - 1
        if place < 0 or not ends[place, 1]:
            return
        state = int(ends[place, 2])
        token, data = (waits(state, name) for name in ("token", "data"))
        if data and (framed.ended < tokens or framed.excess):
            self.fault = self.fault or f"in clock {clock} data wait, and {tokens - framed.ended} tokens for them"
        if token and tokens - framed.ended < MOST_AHEAD:
            self.fault = self.fault or f"in clock {clock} a descriptor waits behind {tokens - framed.ended} tokens"
        self.counts["drained with data waiting"] += bool(data)
        self.counts["drained with a descriptor waiting"] += bool(token)

    def _compare(
        self,
        wanted: tuple[np.ndarray, np.ndarray],
        got: tuple[np.ndarray, np.ndarray],
        clocks: np.ndarray,
        where: str,
        *,
        complete: bool,
    ) -> None:
        """Beats and sides that had to come and that came. They may be cut short where the end came first."""
        both = min(len(wanted[0]), len(got[0]))
        wrong = np.flatnonzero((wanted[0][:both] != got[0][:both]) | (wanted[1][:both] != got[1][:both]))
        if len(wrong) and not self.fault:
            at = int(wrong[0])
            kind = "differs"
            if at + 1 < len(wanted[0]) and _same(got, at, wanted, at + 1):
                kind = "is the next one: a beat was lost"
            elif at and _same(got, at, wanted, at - 1):
                kind = "is the one before: a beat was duplicated"
            elif any(_same(got, at, wanted, other) for other in range(len(wanted[0]))):
                kind = "is another one: beats were reordered"
            self.fault = (
                f"beat {at} of the stretch that ended by {where}, taken in clock {clocks[at]}, {kind}: "
                f"data {got[0][at]:#x} and not {wanted[0][at]:#x}, side {got[1][at]:#x} and not {wanted[1][at]:#x}"
            )
        elif len(got[0]) > len(wanted[0]):
            self.fault = self.fault or f"{len(got[0]) - both} beats too many in the stretch that ended by {where}"
        elif complete and len(got[0]) < len(wanted[0]):
            self.fault = self.fault or f"{len(wanted[0]) - both} beats were lost in the stretch that ended by {where}"


def _same(one: tuple[np.ndarray, np.ndarray], here: int, other: tuple[np.ndarray, np.ndarray], there: int) -> bool:
    return bool(one[0][here] == other[0][there] and one[1][here] == other[1][there])
