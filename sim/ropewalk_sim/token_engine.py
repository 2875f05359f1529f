"""What takes whole tokens of words and gives them back turned: the compiled simulator and the model, called alike."""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ropewalk.design import Design
from ropewalk.errors import InputError

from .engines import Progress
from .token_words import NAMES, TokenWords, token_words

PIECE_BEATS = 1 << 17
"""Beats, about, of the pieces that a run is cut into: what is in memory beside the caller's arrays."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatorResult:
    """What came out of a run.

    Parameters
    ----------
    q, k, v
        ``int32 [tokens, heads, head_dim]``, words; ``None`` for what was not given. In the model's own element order.
    error
        ``bool [tokens]``: the token came back unrotated, because its position or slot is in error.
    beats
        Beats that came out.
    clocks
        From the first beat in to the last beat out, both counted; of a run in pieces, their sum.
    seconds
        What the run took, packing and unpacking included.
    """

    q: NDArray[np.int32] | None
    k: NDArray[np.int32] | None
    v: NDArray[np.int32] | None
    error: NDArray[np.bool_]
    beats: int
    clocks: int
    seconds: float

    @property
    def beats_per_second(self) -> float:
        """Beats per second of wall time."""
        return self.beats / self.seconds


class TokenEngine(ABC):
    """Something that turns whole tokens as one design does.

    Parameters
    ----------
    design
        The design.
    threads
        How many pieces of a run, or streams, are worked on at once.

    Raises
    ------
    InputError
        If ``threads`` is not from 1 to 256.
    """

    def __init__(self, design: Design, threads: int = 1) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
            raise InputError(f"threads must be from 1 to 256, not {threads!r}")
        self._design, self._threads = design, threads

    @property
    def design(self) -> Design:
        """The design."""
        return self._design

    @abstractmethod
    def _turn(self, job: TokenWords, tokens: slice, into: Mapping[str, NDArray[Any]], progress: Progress | None) -> int:
        """Turn a stretch of the tokens of ``job``, write them into their places of ``into``, and give the clocks."""

    def _pieces(self, job: TokenWords) -> list[slice]:
        """Stretches of about the same length, as many for each thread, of about :data:`PIECE_BEATS` beats at most."""
        rounds = -(-job.tokens * job.beats_per_token // (PIECE_BEATS * self._threads))
        size = max(1, -(-job.tokens // (max(1, rounds) * self._threads)))
        return [slice(first, min(first + size, job.tokens)) for first in range(0, job.tokens, size)]

    def run(
        self,
        *,
        position: ArrayLike,
        q: ArrayLike | None = None,
        k: ArrayLike | None = None,
        v: ArrayLike | None = None,
        variant: ArrayLike | None = None,
        inverse: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> SimulatorResult:
        """Run whole tokens.

        A token's result depends on no other token, so a long run is cut, between tokens, into pieces that run in
        instances of their own, as many at once as there are threads.

        Parameters
        ----------
        position
            Integers from 0 to 2**24 - 1, ``[tokens]``, or ``[tokens, axes]``.
        q, k, v
            Integers ``[tokens, heads, head_dim]``, words of ``design.data``; each may be absent. Any number of heads to
            255, for it is written into the engine's registers; an engine without registers takes its own.
        variant
            Slot numbers 0 to 255, or names: ``[tokens]``, or one for all. Slot 0 by default.
        inverse
            Whether to turn backwards: ``[tokens]``, or one for all.
        progress
            Called now and then with the beats that were taken, and all of them. From any of the threads.

        Raises
        ------
        InputError
            If an array does not fit the design or the others.
        EngineError
            If the engine hangs, breaks the protocol, or loses a beat.
        """
        job = token_words(self._design, q=q, k=k, v=v, position=position, variant=variant, inverse=inverse)
        if self._threads == 1:
            return self._run(job, map, self._pieces(job), progress)
        with ThreadPoolExecutor(self._threads) as pool:
            return self._run(job, pool.map, self._pieces(job), progress)

    def run_many(self, inputs: Iterable[Mapping[str, Any]]) -> list[SimulatorResult]:
        """Run independent streams, as many at once as there are threads; the results in the order of ``inputs``.

        Each of ``inputs`` is the keyword arguments of one :meth:`run`.
        """
        return list(self.stream(inputs))

    def stream(self, inputs: Iterable[Mapping[str, Any]]) -> Iterator[SimulatorResult]:
        """The results of ``inputs`` one after the other, in order, in bounded memory.

        No more inputs are taken ahead than there are threads, so that a generator can feed any number of tokens.
        """
        if self._threads == 1:
            for given in inputs:
                yield self.run(**given)
            return
        waiting = deque()
        with ThreadPoolExecutor(self._threads) as pool:
            for given in inputs:
                waiting.append(pool.submit(self._run_one, given))
                if len(waiting) > self._threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _run_one(self, given: Mapping[str, Any]) -> SimulatorResult:
        arrays = dict(given)
        progress = arrays.pop("progress", None)
        job = token_words(self._design, **arrays)
        return self._run(job, map, self._pieces(job), progress)

    def _run(
        self, job: TokenWords, mapped: Callable[..., Iterable[int]], pieces: list[slice], progress: Progress | None
    ) -> SimulatorResult:
        started = perf_counter()
        into: dict[str, NDArray[Any]] = {name: np.empty(array.shape, np.int32) for name, array in job.elements.items()}
        into["error"] = np.zeros(job.tokens, np.bool_)
        beats = job.tokens * job.beats_per_token
        tell = _Sum(progress, beats)

        def run_piece(tokens: slice) -> int:
            return self._turn(job, tokens, into, tell.part(tokens))

        clocks = sum(mapped(run_piece, pieces))
        return SimulatorResult(
            **{name: into.get(name) for name in NAMES},
            error=into["error"],
            beats=beats,
            clocks=clocks,
            seconds=perf_counter() - started,
        )


class _Sum:
    """The progress of pieces, told as that of the whole."""

    def __init__(self, tell: Progress | None, beats: int) -> None:
        self._tell, self._beats = tell, beats
        self._done: dict[int, int] = {}
        self._lock = threading.Lock()

    def part(self, tokens: slice) -> Progress | None:
        """What the piece that begins there is to call."""
        if self._tell is None:
            return None
        tell = self._tell

        def told(done: int, _: int) -> None:
            with self._lock:
                self._done[tokens.start] = done
                tell(sum(self._done.values()), self._beats)

        return told
