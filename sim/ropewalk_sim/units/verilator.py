"""An emitted top, compiled into a library by Verilator: whole arrays in, whole arrays out.

:mod:`ropewalk_sim.engines.verilator_build` makes the library; this file calls it through ctypes. The memory files are
read from the folder whenever a run begins, so a changed word there is seen.
"""

import ctypes
import os
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.verilator_build import build_library
from ropewalk_sim.engines.verilator_host import access_table, answers_of, host_of
from ropewalk_sim.errors import EngineError

from .read_memory import ReadMemory
from .streams import UnitInput, UnitOutput
from .verilator_memory import BurstLog, reads_of
from .verilator_run import BROKEN, DONE, FAULTS, HUNG, RUNNING, Run, Source
from .waiting import what_waits

CHUNK_CLOCKS = 1 << 17
"""Clocks between two looks at the keyboard and the progress: about a tenth of a second."""

# The current directory belongs to the whole process; the memory files are found through it.
_directory_lock = threading.Lock()


class UnitVerilator:
    """The ``ropewalk.v`` in ``folder``, compiled when it is first run.

    That takes some seconds; later runs, in other processes too, find it in the cache.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    @cached_property
    def _library(self) -> ctypes.CDLL:
        path = build_library(self._folder)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise EngineError(f"the compiled library cannot be loaded ({error}); delete {path.parent}") from None
        library.rw_open.restype = ctypes.c_void_p
        library.rw_message.restype = ctypes.c_char_p
        for name in ("rw_close", "rw_message", "rw_start"):
            getattr(library, name).argtypes = [ctypes.c_void_p]
        library.rw_reset.argtypes = [ctypes.c_void_p, ctypes.c_int64]
        library.rw_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
        if library.rw_run_bytes() != ctypes.sizeof(Run):
            raise EngineError(f"the compiled library in {path.parent} is not of this version; delete it")
        return library

    def run(
        self,
        stream: UnitInput,
        *,
        stalls: Stalls | None = None,
        script: Script[UnitInput] | None = None,
        progress: Progress | None = None,
        memory: ReadMemory | None = None,
        quiet_clocks: int = QUIET_CLOCKS,
    ) -> UnitOutput:
        """Run ``stream`` through the compiled Verilog; ``memory`` is what its read master finds, where it has one.

        A run ends ``quiet_clocks`` after the last beat.

        Raises
        ------
        EngineError
            If the top cannot be built, hangs, or breaks the protocol; or its ports are not as wide as the stream.
        """
        stalls, script = stalls or Stalls(), script or Script()
        library = self._library
        self._check_ports(stream)
        handle = library.rw_open(stalls.seed & 0x7FFFFFFF)
        try:
            self._start(handle)
            before = None
            if script.interrupted is not None:
                own = Script[UnitInput](registers=script.interrupted_registers)
                first = _Bench(library, script.interrupted, stalls, own, memory, quiet_clocks)
                self._check(handle, library.rw_reset(handle, 2), first)
                self._check(handle, library.rw_step(handle, first.pointer, script.interrupted_clocks), first)
                before = first.output(None)
            bench = _Bench(library, stream, stalls, script, memory, quiet_clocks)
            if script.reset_clocks:
                self._check(handle, library.rw_reset(handle, script.reset_clocks), bench)
            status = RUNNING
            while status != DONE:
                status = library.rw_step(handle, bench.pointer, CHUNK_CLOCKS)
                self._check(handle, status, bench)
                if progress is not None:
                    progress(bench.run.data.taken, stream.beats)
            return bench.output(before)
        finally:
            library.rw_close(handle)

    def _check_ports(self, stream: UnitInput) -> None:
        words, token_words = self._library.rw_data_words(), self._library.rw_token_words()
        octets = stream.data.shape[1]
        if not 0 <= 4 * words - octets < 4 or token_words != stream.descriptors.shape[1]:
            raise EngineError(
                f"the ports of {self._folder / 'ropewalk.v'} are not those of its design.json: they have {words} words "
                f"of data and {token_words} of a descriptor, and the stream {octets} octets a beat and "
                f"{stream.descriptors.shape[1]} words a descriptor"
            )

    def _start(self, handle: int) -> None:
        with _directory_lock:
            here = os.open(".", os.O_RDONLY)
            try:
                os.chdir(self._folder)
                status = self._library.rw_start(handle)
            finally:
                os.fchdir(here)
                os.close(here)
        if status == BROKEN:
            raise EngineError(f"verilator: {self._folder}: {self._message(handle)}")

    def _check(self, handle: int, status: int, bench: "_Bench") -> None:
        if status == BROKEN:
            raise EngineError(f"verilator: {self._message(handle)}")
        if status == HUNG:
            raise EngineError(f"verilator: nothing moved for {HANG_CLOCKS} clocks: {bench.waiting()}")
        if status in FAULTS:
            raise EngineError(f"verilator: in clock {bench.run.clock}: {FAULTS[status]}")

    def _message(self, handle: int) -> str:
        return self._library.rw_message(handle).decode(errors="replace")


class _Bench:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(
        self,
        library: ctypes.CDLL,
        stream: UnitInput,
        stalls: Stalls,
        script: Script[UnitInput],
        memory: ReadMemory | None,
        quiet_clocks: int,
    ) -> None:
        beats, self._octets = stream.data.shape
        words, keep_words = library.rw_data_words(), library.rw_keep_words()
        self._in = (
            np.ascontiguousarray(stream.descriptors, "<u4"),
            _wide(stream.data, 4 * words),
            np.ascontiguousarray(stream.tid),
            np.ascontiguousarray(stream.last).view(np.uint8),
        )
        self._out = (np.zeros((beats, 4 * words), np.uint8), *(np.zeros(beats, np.uint8) for _ in range(3)))
        self._keep = self._out_keep = np.zeros((0, 0), np.uint8)
        if keep_words:
            self._keep = _wide(np.packbits(stream.keep, axis=1, bitorder="little"), 4 * keep_words)
            self._out_keep = np.zeros_like(self._keep)
        states = np.random.SeedSequence(stalls.seed).generate_state(5, np.uint64)
        seeds = [int(state) | 1 for state in states]
        token, data, output = (int(share * 2**32) for share in (stalls.token, stalls.data, stalls.output))
        self._accesses = access_table((*script.registers, *script.meanwhile))
        self._bursts = BurstLog()
        self.run: Any = Run(
            *(array.ctypes.data for array in (*self._in, *self._out)),
            capacity=beats,
            output_start=script.output_start,
            output_random=seeds[2],
            output_stall=output,
            token=Source(beats=stream.tokens, start=script.token_start, random=seeds[0], stall=token),
            data=Source(beats=beats, start=script.data_start, random=seeds[1], stall=data),
            quiet_limit=quiet_clocks,
            hang_limit=HANG_CLOCKS,
            first_data_clock=-1,
            first_output_clock=-1,
            last_output_clock=-1,
            early_tokens=-1,
            host=host_of(self._accesses, len(script.registers), seeds[3], stalls.registers),
            keep=self._keep.ctypes.data,
            out_keep=self._out_keep.ctypes.data,
            reads=reads_of(memory, self._bursts, seeds[4]),
        )

    @property
    def pointer(self) -> int:
        """The struct's address."""
        return ctypes.addressof(self.run)

    def waiting(self) -> str:
        """Which stream waits for what, for the message of a hang."""
        run = self.run
        return what_waits((run.token.taken, run.token.beats), (run.data.taken, run.data.beats), run.given)

    def output(self, before: UnitOutput | None) -> UnitOutput:
        """What came out so far."""
        run, octets = self.run, self._octets
        data, tid, last, user = (array[: run.given] for array in self._out)
        keep = np.broadcast_to(True, (run.given, octets))
        if self._out_keep.size:
            keep = np.unpackbits(self._out_keep[: run.given], axis=1, bitorder="little")[:, :octets].astype(bool)
        return UnitOutput(
            data=np.ascontiguousarray(data[:, :octets]),
            keep=keep,
            tid=tid.copy(),
            last=last.astype(bool),
            user=user.copy(),
            clocks=run.last_output_clock - run.first_data_clock + 1 if run.given else 0,
            first_output_clock=run.first_output_clock if run.given else None,
            last_output_clock=run.last_output_clock if run.given else None,
            early_tokens=max(run.early_tokens, 0),
            data_waits=run.data.waits,
            token_waits=run.token.waits,
            output_waits=run.output_waits,
            before=before,
            answers=answers_of(self._accesses, run.host.done),
            bursts=self._bursts.first(run.reads.count),
        )


def _wide(rows: np.ndarray, octets: int) -> np.ndarray:
    """Rows of octets, with zeros up to ``octets`` of them."""
    gap = octets - rows.shape[1]
    return np.ascontiguousarray(np.pad(rows, ((0, 0), (0, gap))) if gap else rows)
