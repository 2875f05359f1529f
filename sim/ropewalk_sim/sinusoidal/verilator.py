"""The emitted Verilog of a sinusoidal adder, compiled into a shared library that takes and returns arrays.

The clock loop is the rotary engine's, ``engines/harness.cpp``; ROM files are read from the folder whenever a run begins.
"""

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS
from ropewalk_sim.engines.verilator import (
    BROKEN,
    CHUNK_CLOCKS,
    DONE,
    FAULTS,
    HUNG,
    RUNNING,
    Run,
    Source,
    build_library,
    declare,
    directory_lock,
)
from ropewalk_sim.engines.verilator_host import access_table, answers_of, host_of
from ropewalk_sim.errors import EngineError

from .stream import Session, SinusoidalInput, SinusoidalOutput
from .wires import beat_octets, keep_octets, output_arrays


def run_verilator(
    folder: Path,
    design: SinusoidalDesign,
    stream: SinusoidalInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
) -> SinusoidalOutput:
    """Run ``stream`` through the compiled Verilog of ``folder``, which was made for ``design``.

    Of the output's ``clocks`` there are the first and the last only.

    Raises
    ------
    EngineError
        If the Verilog cannot be compiled, hangs, or breaks the protocol.
    """
    stream.check(design)
    library = ctypes.CDLL(str(build_library(folder)))
    declare(library)
    found = library.rw_data_words(), library.rw_token_words(), library.rw_keep_words(), library.rw_run_bytes()
    if found != (_words(_octets(design)), 2, _words(_keep_octets(design)), ctypes.sizeof(Run)):
        raise EngineError(f"the ports of {folder / 'ropewalk.v'} are not those of the design: {found}")
    stalls, session = stalls or Stalls(), session or Session()
    handle = library.rw_open(stalls.seed & 0x7FFFFFFF)
    try:
        if _start(library, handle, folder) == BROKEN or library.rw_reset(handle, 2) != RUNNING:
            raise EngineError(f"verilator: {library.rw_message(handle).decode(errors='replace')}")
        bench = _Bench(design, stream, stalls, session)
        status = RUNNING
        while status != DONE:
            status = library.rw_step(handle, ctypes.addressof(bench.run), CHUNK_CLOCKS)
            if status == HUNG:
                raise EngineError(f"verilator: nothing moved for {HANG_CLOCKS} clocks, {bench.run.given} beats came out")
            if status in FAULTS or status == BROKEN:
                message = library.rw_message(handle).decode(errors="replace")
                raise EngineError(f"verilator: in clock {bench.run.clock}: {FAULTS.get(status, message)}")
        return bench.output()
    finally:
        library.rw_close(handle)


def _start(library: Any, handle: int, folder: Path) -> int:
    """The first evaluation, in ``folder``: it reads the ROM files. The current directory is the whole process's."""
    with directory_lock:
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(folder)
            return library.rw_start(handle)
        finally:
            os.fchdir(here)
            os.close(here)


def _octets(design: SinusoidalDesign) -> int:
    return design.elements * design.container_bits // 8


def _keep_octets(design: SinusoidalDesign) -> int:
    return -(-_octets(design) // 8) if design.has_keep else 0


def _words(octets: int) -> int:
    return -(-octets // 4)


def _padded(octets: np.ndarray) -> np.ndarray:
    """``uint32 [beats, words]`` from ``uint8 [beats, octets]``."""
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 4)))).view("<u4")


class _Bench:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(self, design: SinusoidalDesign, stream: SinusoidalInput, stalls: Stalls, session: Session) -> None:
        self._design = design
        beats = stream.beats
        self._in = (
            np.ascontiguousarray(stream.descriptors, "<u4"),
            _padded(beat_octets(design, stream.data)),
            np.ascontiguousarray(stream.tid),
            np.ascontiguousarray(stream.last).view(np.uint8),
        )
        self._keep = _padded(keep_octets(design, stream.keep)) if design.has_keep else np.zeros((beats, 1), "<u4")
        self._out = (np.zeros_like(self._in[1]), *(np.zeros(beats, np.uint8) for _ in range(3)))
        self._out_keep = np.zeros_like(self._keep)
        seeds = [int(state) | 1 for state in np.random.SeedSequence(stalls.seed).generate_state(4, np.uint64)]
        token, data, output = (int(share * 2**32) for share in (stalls.token, stalls.data, stalls.output))
        self._accesses = access_table((*session.registers, *session.meanwhile))
        self.run = Run(
            *(array.ctypes.data for array in (*self._in, *self._out)),
            capacity=beats,
            output_start=session.output_start,
            output_random=seeds[2],
            output_stall=output,
            token=Source(beats=stream.tokens, random=seeds[0], stall=token),
            data=Source(beats=beats, start=session.data_start, random=seeds[1], stall=data),
            quiet_limit=QUIET_CLOCKS + design.groups,
            hang_limit=HANG_CLOCKS,
            first_data_clock=-1,
            first_output_clock=-1,
            last_output_clock=-1,
            early_tokens=-1,
            host=host_of(self._accesses, len(session.registers), seeds[3], stalls.registers),
            keep_words=self._keep.ctypes.data,
            out_keep_words=self._out_keep.ctypes.data,
        )

    def output(self) -> SinusoidalOutput:
        """What came out."""
        run = self.run
        words, tid, last, user = (array[: run.given] for array in self._out)
        octets = np.ascontiguousarray(words, "<u4").view(np.uint8)[:, : _octets(self._design)]
        keep = np.ascontiguousarray(self._out_keep[: run.given], "<u4").view(np.uint8)
        return output_arrays(
            self._design,
            octets,
            keep,
            tid,
            user,
            last,
            clocks=np.array([run.first_output_clock, run.last_output_clock]),
            early_tokens=max(run.early_tokens, 0),
            answers=answers_of(self._accesses, run.host.done),
        )
