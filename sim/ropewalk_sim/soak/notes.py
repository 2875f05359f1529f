"""What the soak's bench writes down: each beat, register access and end of a stretch, with its clock."""

from pathlib import Path
from typing import Any

import numpy as np

UNANSWERED = 4
"""The answer, in the notes, of a write that acted and whose answer a reset took away."""


class Notes:
    """Notes of a soak. A *side* is TID [7:0], TLAST [8] and, on the output, TUSER [11:9].

    ``states`` counts the clocks by the valids and readies in them (:mod:`.wrapper`). ``beats`` are the output beats so
    far, ``fresh`` those since the last dump.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.control = job["control"]
        self.heads = list(job["reset_heads"])
        self.states: dict[int, int] = {}
        self.beats = 0
        self.chunk = 0
        self.written_before = 0
        self._clear()

    def _clear(self) -> None:
        self.clocks: dict[str, list[int]] = {"token": [], "data": [], "output": []}
        self.words: dict[str, list[int]] = {"token": [], "data": [], "output": []}
        self.sides: dict[str, list[int]] = {"token": [], "data": [], "output": []}
        self.writes: list[tuple[int, int, int, int]] = []
        self.reads: list[tuple[int, int, int, int, int]] = []
        self.ends: list[tuple[int, int, int]] = []
        self.resets: list[int] = []
        self.begun = dict.fromkeys(self.clocks, 0)

    @property
    def fresh(self) -> int:
        """Output beats since the last dump."""
        return len(self.clocks["output"])

    def token(self, clock: int, word: int) -> None:
        """A descriptor was taken."""
        self.clocks["token"].append(clock)
        self.words["token"].append(word)

    def data(self, clock: int, word: int, side: int) -> None:
        """A data beat was taken."""
        self.clocks["data"].append(clock)
        self.words["data"].append(word)
        self.sides["data"].append(side)

    def output(self, clock: int, word: int, side: int) -> None:
        """An output beat was taken."""
        self.clocks["output"].append(clock)
        self.words["output"].append(word)
        self.sides["output"].append(side)
        self.beats += 1

    def write(self, clock: int, address: int, word: int, answer: int) -> None:
        """A register write acted in ``clock``, and was answered."""
        self.writes.append((clock, address, word, answer))

    def written(self, address: int, word: int) -> None:
        """A register write acted in the clock before."""
        if address in self.job["head_registers"]:
            heads = list(self.heads)
            heads[self.job["head_registers"].index(address)] = word & 255
            self.heads = heads if any(heads) else self.heads

    def end(self, clock: int, drained: bool, state: int) -> None:
        """A stretch is over; ``drained``: nothing moved any more, and valids and readies stayed as they are."""
        self.ends.append((clock, drained, state))

    def reset(self, clock: int) -> None:
        """``aresetn`` is low."""
        self.resets.append(clock)
        self.heads = list(self.job["reset_heads"])
        self.begun = {name: len(clocks) for name, clocks in self.clocks.items()}

    def since_reset(self, name: str) -> tuple[list[int], list[int]]:
        """Words and sides on a stream since the last reset; of a stream with TLAST, whole packets only."""
        first = self.begun[name]
        words, sides = self.words[name][first:], self.sides[name][first:]
        if name != "token":
            stop = next((place for place in range(len(sides), 0, -1) if sides[place - 1] >> 8 & 1), 0)
            words, sides = words[:stop], sides[:stop]
        return words, sides

    def dump(self, *, stretches: int) -> None:
        """Write a chunk and begin the next one. Only in reset, or where all is over."""
        size = self.job["token_bytes"]
        octets = b"".join(word.to_bytes(size, "little") for word in self.words["token"])
        arrays = {
            "token": np.frombuffer(octets, "<u4").reshape(-1, size // 4),
            **{f"{name}_clock": np.array(clocks, np.int64) for name, clocks in self.clocks.items()},
            **{name: np.array(self.words[name], np.uint64) for name in ("data", "output")},
            **{f"{name}_side": np.array(self.sides[name], np.int64) for name in ("data", "output")},
            "writes": np.array(self.writes, np.int64).reshape(-1, 4),
            "reads": np.array(self.reads, np.int64).reshape(-1, 5),
            "ends": np.array(self.ends, np.int64).reshape(-1, 3),
            "resets": np.array(self.resets, np.int64),
            "states": np.array(list(self.states.items()), np.int64).reshape(-1, 2),
            "stretches": np.array(stretches),
        }
        file = Path(f"chunk-{self.chunk:05}.npz")
        temporary = Path("chunk.tmp.npz")
        np.savez(temporary, allow_pickle=False, **arrays)
        temporary.rename(file)
        self.chunk += 1
        self.written_before += len(self.writes)
        self._clear()
