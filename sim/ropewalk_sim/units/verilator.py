"""A unit's emitted Verilog, compiled into a library by Verilator: whole arrays in, whole arrays out.

The library is that of :mod:`ropewalk_sim.engines.verilator`: its clock loop knows no design.
"""

import ctypes
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines import verilator as rotary
from ropewalk_sim.engines.library import build_library, current_directory, load_library
from ropewalk_sim.engines.verilator_host import access_table, answers_of, host_of
from ropewalk_sim.errors import EngineError

from .script import UnitScript
from .streams import UnitInput, UnitOutput


class UnitVerilator:
    """The ``ropewalk.v`` in ``folder``, compiled when it is first run; later runs find it in the cache."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    @cached_property
    def _library(self) -> ctypes.CDLL:
        path = build_library(self._folder)
        library = load_library(path)
        if library.rw_run_bytes() != ctypes.sizeof(rotary._Run):
            raise EngineError(f"the compiled library in {path.parent} is not of this version; delete it")
        return library

    def run(
        self,
        stream: UnitInput,
        *,
        stalls: Stalls | None = None,
        script: UnitScript | None = None,
        progress: Progress | None = None,
    ) -> UnitOutput:
        """Run ``stream`` through the compiled Verilog.

        Raises
        ------
        EngineError
            If the unit cannot be built, hangs, or breaks the protocol; or its ports are not as wide as the stream.
        """
        stalls, script = stalls or Stalls(), script or UnitScript()
        library = self._library
        handle = library.rw_open(stalls.seed & 0x7FFFFFFF)
        try:
            self._start(handle)
            self._check(handle, library.rw_reset(handle, 2), None)
            before = None
            if script.interrupted is not None:
                first = _Bench(library, script.interrupted, stalls, UnitScript(registers=script.interrupted_registers))
                self._check(handle, library.rw_step(handle, first.pointer, script.interrupted_clocks), first)
                before = first.output(None)
                if script.reset_clocks:
                    self._check(handle, library.rw_reset(handle, script.reset_clocks), first)
            bench = _Bench(library, stream, stalls, script)
            status = rotary.RUNNING
            while status != rotary.DONE:
                status = library.rw_step(handle, bench.pointer, rotary.CHUNK_CLOCKS)
                self._check(handle, status, bench)
                if progress is not None:
                    progress(bench.run.data.taken, stream.beats)
            return bench.output(before)
        finally:
            library.rw_close(handle)

    def _start(self, handle: int) -> None:
        with current_directory(self._folder):
            status = self._library.rw_start(handle)
        self._check(handle, status, None)

    def _check(self, handle: int, status: int, bench: "_Bench | None") -> None:
        if status == rotary.BROKEN:
            raise EngineError(f"verilator: {self._library.rw_message(handle).decode(errors='replace')}")
        if status == rotary.HUNG and bench is not None:
            raise EngineError(f"verilator: nothing moved for {HANG_CLOCKS} clocks: {bench.waiting()}")
        if status in rotary._FAULTS:
            clock = bench.run.clock if bench is not None else 0
            raise EngineError(f"verilator: in clock {clock}: {rotary._FAULTS[status]}")


class _Bench:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(self, library: ctypes.CDLL, stream: UnitInput, stalls: Stalls, script: UnitScript) -> None:
        self._stream = stream
        beats = stream.beats
        words, keep_words = library.rw_data_words(), library.rw_keep_words()
        token_words = library.rw_token_words()
        octets = stream.data.shape[1]
        if not 0 <= 4 * words - octets < 4 or token_words != stream.descriptors.shape[1]:
            raise EngineError(
                f"verilator: the ports have {words} and {token_words} words, and the stream {octets} octets a beat and "
                f"{stream.descriptors.shape[1]} words a descriptor"
            )
        padded = np.zeros((beats, 4 * words), np.uint8)
        padded[:, :octets] = stream.data
        keep = np.zeros((beats, 32 * max(keep_words, 1)), bool)
        keep[:, :octets] = stream.keep[:, : keep.shape[1]]
        self._has_keep = keep_words > 0
        self._in = (
            np.ascontiguousarray(stream.descriptors, "<u4"),
            padded,
            np.ascontiguousarray(stream.tid),
            np.ascontiguousarray(stream.last).view(np.uint8),
        )
        self._keep = np.packbits(keep, axis=1, bitorder="little")
        self._out = (np.zeros((beats, 4 * words), np.uint8), *(np.zeros(beats, np.uint8) for _ in range(3)))
        self._out_keep = np.zeros_like(self._keep)
        states = np.random.SeedSequence(stalls.seed).generate_state(4, np.uint64)
        seeds = [int(state) | 1 for state in states]
        token, data, output = (int(share * 2**32) for share in (stalls.token, stalls.data, stalls.output))
        self._accesses = access_table((*script.registers, *script.meanwhile))
        self.run: Any = rotary._Run(
            *(array.ctypes.data for array in (*self._in, *self._out)),
            capacity=beats,
            output_start=script.output_start,
            output_random=seeds[2],
            output_stall=output,
            token=rotary._Source(beats=stream.tokens, random=seeds[0], stall=token),
            data=rotary._Source(beats=beats, random=seeds[1], stall=data),
            quiet_limit=QUIET_CLOCKS,
            hang_limit=HANG_CLOCKS,
            first_data_clock=-1,
            first_output_clock=-1,
            last_output_clock=-1,
            early_tokens=-1,
            host=host_of(self._accesses, len(script.registers), seeds[3], stalls.registers),
            keep=self._keep.ctypes.data,
            out_keep=self._out_keep.ctypes.data,
        )

    @property
    def pointer(self) -> int:
        """The struct's address."""
        return ctypes.addressof(self.run)

    def waiting(self) -> str:
        """Which stream waits for what, for the message of a hang."""
        run = self.run
        return (
            f"{run.token.taken} of {run.token.beats} descriptors and {run.data.taken} of {run.data.beats} data beats "
            f"were taken, {run.given} beats came out"
        )

    def output(self, before: UnitOutput | None) -> UnitOutput:
        """What came out so far."""
        run = self.run
        octets = self._stream.data.shape[1]
        data, tid, last, user = (array[: run.given] for array in self._out)
        keep = np.unpackbits(self._out_keep[: run.given], axis=1, bitorder="little")[:, :octets].astype(bool)
        return UnitOutput(
            data=data[:, :octets].copy(),
            keep=keep if self._has_keep else np.ones((run.given, octets), bool),
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
        )
