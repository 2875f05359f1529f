"""The ``verilator`` engine: the emitted Verilog, compiled into a shared library that takes and returns arrays.

The clock loop is ``harness.cpp``; :mod:`.library` builds it, once per design, and this file calls it through ctypes.
"""

import ctypes
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import HANG_CLOCKS, Progress, quiet_clocks
from ropewalk_sim.engines.library import build_library, current_directory, load_library
from ropewalk_sim.engines.verilator_host import Host, access_table, answers_of, host_of
from ropewalk_sim.engines.wires import data_words, pack_words, unpack_words
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import SILENCE_CLOCKS, Access

CHUNK_CLOCKS = 1 << 17
"""Clocks between two looks at the keyboard and the progress: about a tenth of a second."""

RUNNING, DONE, HUNG, TOO_MANY, VALID_DROPPED, PAYLOAD_CHANGED, VALID_IN_RESET, BROKEN = range(8)
PORT_SILENT, PORT_UNASKED, PORT_CHANGED, POLLS_ENDLESS = range(8, 12)
_FAULTS = {
    TOO_MANY: "more beats came out than went in",
    VALID_DROPPED: "m_axis_tvalid fell before the beat was taken",
    PAYLOAD_CHANGED: "the payload of m_axis changed before the beat was taken",
    VALID_IN_RESET: "m_axis_tvalid was high in reset",
    PORT_SILENT: f"the register port did not answer for {SILENCE_CLOCKS} clocks",
    PORT_UNASKED: "the register port answered what it was not asked",
    PORT_CHANGED: "an answer of the register port changed before it was taken",
    POLLS_ENDLESS: "a register does not show what is waited for",
}


class Beats(NamedTuple):
    """Streams as the library takes and gives them: arrays that lie in memory in one piece.

    ``descriptors`` are ``uint32 [tokens, 1 + axes]``, ``words`` ``uint32 [beats, words of a beat]`` (:mod:`.wires`),
    ``tid`` and ``last`` ``uint8 [beats]``.
    """

    descriptors: np.ndarray
    words: np.ndarray
    tid: np.ndarray
    last: np.ndarray


class BeatsOut(NamedTuple):
    """What came out: ``words``, ``tid``, ``last`` and ``user`` of each beat, and the clocks as in StreamOutput."""

    words: np.ndarray
    tid: np.ndarray
    last: np.ndarray
    user: np.ndarray
    clocks: int


class _Source(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("beats", "start")),
        *((name, ctypes.c_uint64) for name in ("random", "stall")),
        *((name, ctypes.c_int64) for name in ("taken", "waits")),
        *((name, ctypes.c_int32) for name in ("offered", "padding")),
    )


class _Run(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("token_words", "data_words", "tid", "last")),
        *((name, ctypes.c_void_p) for name in ("out_words", "out_tid", "out_last", "out_user")),
        *((name, ctypes.c_int64) for name in ("capacity", "given", "output_start")),
        *((name, ctypes.c_uint64) for name in ("output_random", "output_stall")),
        ("output_waits", ctypes.c_int64),
        ("token", _Source),
        ("data", _Source),
        *((name, ctypes.c_int64) for name in ("clock", "quiet_limit", "hang_limit", "quiet", "idle")),
        *((name, ctypes.c_int64) for name in ("first_data_clock", "first_output_clock", "last_output_clock")),
        ("early_tokens", ctypes.c_int64),
        ("host", Host),
        *((name, ctypes.c_void_p) for name in ("keep", "out_keep")),
    )


class VerilatorEngine:
    """The Verilog of ``folder``, compiled. See :class:`ropewalk_sim.engines.Engine`.

    The first run of a design compiles it, which takes some seconds; later ones, in other processes too, find it in
    the cache.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)
        self._design = load_rotary(self._folder)

    @property
    def design(self) -> Design:
        """The design in the folder."""
        return self._design

    def compile(self) -> None:
        """Compile the Verilog now, unless that was done before. Raises what the first run would."""
        self._library  # noqa: B018

    @cached_property
    def _library(self) -> ctypes.CDLL:
        library = load_library(build_library(self._folder))
        found = (library.rw_data_words(), library.rw_token_words(), library.rw_run_bytes())
        wanted = (data_words(self._design), 1 + self._design.axes, ctypes.sizeof(_Run))
        if found != wanted:
            raise EngineError(
                f"the ports of {self._folder / 'ropewalk.v'} are not those of its design.json: words of data, words of "
                f"a descriptor, bytes of a run: {found}, not {wanted}"
            )
        return library

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the compiled Verilog."""
        stream.check(self._design)
        library, stalls, script = self._library, stalls or Stalls(), script or Script()
        handle = library.rw_open(stalls.seed & 0x7FFFFFFF)
        try:
            self._start(handle)
            before = None
            if script.interrupted is not None:
                script.interrupted.check(self._design)
                registers = Script(registers=script.interrupted_registers)
                first = _Bench(self._design, packed(self._design, script.interrupted), stalls, registers)
                self._check(handle, library.rw_reset(handle, 2), first)
                self._check(handle, library.rw_step(handle, first.pointer, script.interrupted_clocks), first)
                before = first.output(None)
            bench = _Bench(self._design, packed(self._design, stream), stalls, script)
            if script.reset_clocks:
                self._check(handle, library.rw_reset(handle, script.reset_clocks), bench)
            self._finish(handle, bench, progress)
            return bench.output(before)
        finally:
            library.rw_close(handle)

    def run_beats(
        self, beats: Beats, *, registers: Sequence[Access] = (), progress: Progress | None = None
    ) -> BeatsOut:
        """Run streams that are packed already, without stalls, in an instance of their own.

        ``registers`` are carried out first. Several threads may run beats at once: the interpreter is not held.

        Raises
        ------
        EngineError
            As :meth:`run` does.
        """
        library = self._library
        bench = _Bench(self._design, beats, Stalls(), Script(registers=tuple(registers)))
        handle = library.rw_open(0)
        try:
            self._start(handle)
            self._check(handle, library.rw_reset(handle, Script().reset_clocks), bench)
            self._finish(handle, bench, progress)
            return bench.beats_out()
        finally:
            library.rw_close(handle)

    def _finish(self, handle: int, bench: "_Bench", progress: Progress | None) -> None:
        status = RUNNING
        while status != DONE:
            status = self._library.rw_step(handle, bench.pointer, CHUNK_CLOCKS)
            self._check(handle, status, bench)
            if progress is not None:
                progress(bench.run.data.taken, bench.run.data.beats)

    def _start(self, handle: int) -> None:
        with current_directory(self._folder):
            status = self._library.rw_start(handle)
        if status == BROKEN:
            raise EngineError(f"verilator: {self._folder}: {self._message(handle)}")

    def _check(self, handle: int, status: int, bench: "_Bench") -> None:
        if status == BROKEN:
            raise EngineError(f"verilator: {self._message(handle)}")
        if status == HUNG:
            raise EngineError(f"verilator: nothing moved for {HANG_CLOCKS} clocks: {bench.waiting()}")
        if status in _FAULTS:
            raise EngineError(f"verilator: in clock {bench.run.clock}: {_FAULTS[status]}")

    def _message(self, handle: int) -> str:
        return self._library.rw_message(handle).decode(errors="replace")


def packed(design: Design, stream: StreamInput) -> Beats:
    """A stream as the library takes it."""
    return Beats(
        np.ascontiguousarray(stream.descriptors, "<u4"),
        pack_words(design, stream.data),
        np.ascontiguousarray(stream.tid),
        np.ascontiguousarray(stream.last).view(np.uint8),
    )


class _Bench:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(self, design: Design, given: Beats, stalls: Stalls, script: Script) -> None:
        self._design, self._in = design, given
        tokens, beats = len(given.descriptors), len(given.words)
        self._out = (np.zeros((beats, data_words(design)), "<u4"), *(np.zeros(beats, np.uint8) for _ in range(3)))
        states = np.random.SeedSequence(stalls.seed).generate_state(4, np.uint64)
        self._accesses = access_table((*script.registers, *script.meanwhile))
        seeds = [int(state) | 1 for state in states]
        token, data, output = (int(share * 2**32) for share in (stalls.token, stalls.data, stalls.output))
        self.run = _Run(
            *(array.ctypes.data for array in (*self._in, *self._out)),
            capacity=beats,
            output_start=script.output_start,
            output_random=seeds[2],
            output_stall=output,
            token=_Source(beats=tokens, start=script.token_start, random=seeds[0], stall=token),
            data=_Source(beats=beats, start=script.data_start, random=seeds[1], stall=data),
            quiet_limit=quiet_clocks(design),
            hang_limit=HANG_CLOCKS,
            first_data_clock=-1,
            first_output_clock=-1,
            last_output_clock=-1,
            early_tokens=-1,
            host=host_of(self._accesses, len(script.registers), seeds[3], stalls.registers),
        )

    @property
    def pointer(self) -> Any:
        """The struct's address."""
        return ctypes.addressof(self.run)

    def waiting(self) -> str:
        """Which stream waits for what, for the message of a hang."""
        run = self.run
        parts = []
        for name, source in (("s_axis_token", run.token), ("s_axis", run.data)):
            if source.taken < source.beats:
                parts.append(f"{name} waits for ready with {source.taken} of {source.beats} beats taken")
            else:
                parts.append(f"all {source.beats} beats of {name} were taken")
        return f"{'; '.join(parts)}; {run.given} beats came out"

    @property
    def _clocks(self) -> int:
        run = self.run
        return run.last_output_clock - run.first_data_clock + 1 if run.given else 0

    def beats_out(self) -> BeatsOut:
        """What came out so far, not copied."""
        words, tid, last, user = (array[: self.run.given] for array in self._out)
        return BeatsOut(words, tid, last, user, self._clocks)

    def output(self, before: StreamOutput | None) -> StreamOutput:
        """What came out so far."""
        run = self.run
        words, tid, last, user = (array[: run.given] for array in self._out)
        return StreamOutput(
            data=unpack_words(self._design, words),
            tid=tid.copy(),
            last=last.astype(bool),
            user=user.copy(),
            clocks=self._clocks,
            first_output_clock=run.first_output_clock if run.given else None,
            last_output_clock=run.last_output_clock if run.given else None,
            early_tokens=max(run.early_tokens, 0),
            data_waits=run.data.waits,
            token_waits=run.token.waits,
            output_waits=run.output_waits,
            before=before,
            answers=answers_of(self._accesses, run.host.done),
        )
