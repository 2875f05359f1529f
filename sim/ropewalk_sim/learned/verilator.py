"""The emitted Verilog of a learned-table adder, compiled into a library that takes and returns arrays.

The clock loop is ``harness.cpp`` in this folder. ``rows.hex`` is read from the design's folder whenever a run begins,
by the Verilog or, where the table is outside, into the memory beside it: a changed word there is seen.
"""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.emit.learned import load_learned, read_table
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.library import compiled, current_directory
from ropewalk_sim.engines.toolchain import (
    optimisation,
    read_verilog,
)
from ropewalk_sim.engines.verilator_host import Host, access_table, answers_of, host_of
from ropewalk_sim.errors import EngineError

from .memory import memory_image
from .stream import LearnedInput, LearnedOutput, Session
from .wires import beat_elements, beat_octets, keep_elements, keep_octets

HARNESS = Path(__file__).with_name("harness.cpp")
CHUNK_CLOCKS = 1 << 17
RUNNING, DONE = 0, 1
_FAULTS = {
    2: f"nothing moved for {HANG_CLOCKS} clocks",
    3: "more beats came out than went in",
    4: "m_axis_tvalid fell before the beat was taken",
    5: "the payload of m_axis changed before the beat was taken",
    6: "m_axis_tvalid was high in reset",
    8: "the register port did not answer",
    9: "the register port answered what it was not asked",
    10: "an answer of the register port changed before it was taken",
    11: "a register does not show what is waited for",
    12: "the read master asked for a burst that AXI4 does not allow",
    13: "a read was changed or withdrawn before it was taken",
}
_BROKEN = 7


class _Source(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("beats", "start", "taken", "waits")),
        *((name, ctypes.c_uint64) for name in ("random", "stall")),
        ("offered", ctypes.c_int64),
    )


class _Run(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("token_words", "data_words", "keep_words", "tid", "last")),
        *((name, ctypes.c_void_p) for name in ("out_words", "out_keep", "out_tid", "out_last", "out_error")),
        *((name, ctypes.c_int64) for name in ("capacity", "given", "output_start")),
        *((name, ctypes.c_uint64) for name in ("output_random", "output_stall")),
        ("token", _Source),
        ("data", _Source),
        *((name, ctypes.c_int64) for name in ("clock", "quiet_limit", "hang_limit", "quiet", "idle")),
        *((name, ctypes.c_int64) for name in ("first_data", "first_output", "last_output", "early")),
        ("host", Host),
        *((name, ctypes.c_void_p) for name in ("image", "image_error")),
        *((name, ctypes.c_uint64) for name in ("image_base", "image_bytes")),
        ("bursts", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("burst_capacity", "burst_count", "latency_low", "latency_high")),
        *((name, ctypes.c_uint64) for name in ("memory_random", "memory_stall")),
    )


def run_verilator(
    folder: Path,
    stream: LearnedInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
    progress: Progress | None = None,
) -> LearnedOutput:
    """Run ``stream`` through the Verilog in ``folder``, compiled by Verilator (some seconds for a design's first run).

    Raises
    ------
    EngineError
        If it cannot be compiled, hangs, or breaks the protocol of a stream, of AXI4-Lite or of AXI4.
    """
    design = load_learned(folder)
    words = read_table(design, folder)
    stream.check(design)
    library = _load(build_library(design, folder), design)
    stalls = stalls or Stalls()
    bench = _Arrays(design, words, stream, stalls, session or Session())
    handle = library.rl_open(stalls.seed & 0x7FFFFFFF)
    try:
        with current_directory(folder):
            status = library.rl_start(handle)
        while status == RUNNING:
            status = library.rl_step(handle, ctypes.addressof(bench.run), CHUNK_CLOCKS)
            if progress is not None:
                progress(bench.run.data.taken, stream.beats)
        if status == _BROKEN:
            raise EngineError(f"verilator: {folder}: {library.rl_message(handle).decode(errors='replace')}")
        if status != DONE:
            data = bench.run.data
            taken = f"{data.taken} of {data.beats} beats were taken"
            raise EngineError(f"verilator: in clock {bench.run.clock}: {_FAULTS[status]}; {taken}")
        return bench.output()
    finally:
        library.rl_close(handle)


class _Arrays:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(
        self, design: LearnedDesign, words: Words, stream: LearnedInput, stalls: Stalls, session: Session
    ) -> None:
        self.design = design
        beats = stream.beats
        data = _words(beat_octets(design, stream.data))
        keep = _words(keep_octets(design, stream.keep))
        self._in = (
            np.ascontiguousarray(stream.descriptors, "<u4"), data, keep, np.ascontiguousarray(stream.tid),
            np.ascontiguousarray(stream.last).view(np.uint8),
        )  # fmt: skip
        self._out = (np.zeros_like(data), np.zeros_like(keep), *(np.zeros(beats, np.uint8) for _ in range(3)))
        states = [int(state) | 1 for state in np.random.SeedSequence(stalls.seed).generate_state(5, np.uint64)]
        memory = session.memory
        self._image, self._errors = memory_image(design, words, memory)
        self._bursts = np.zeros((1 << 16, 3), np.uint64)
        self._accesses = access_table((*session.registers, *session.meanwhile))
        self.run = _Run(
            *(array.ctypes.data for array in (*self._in, *self._out)),
            capacity=beats,
            output_start=session.output_start,
            output_random=states[0],
            output_stall=int(stalls.output * 2**32),
            token=_Source(beats=stream.tokens, random=states[1], stall=int(stalls.token * 2**32)),
            data=_Source(beats=beats, start=session.data_start, random=states[2], stall=int(stalls.data * 2**32)),
            quiet_limit=QUIET_CLOCKS,
            hang_limit=HANG_CLOCKS,
            first_data=-1,
            first_output=-1,
            last_output=-1,
            early=-1,
            host=host_of(self._accesses, len(session.registers), states[3], stalls.registers),
            image=self._image.ctypes.data,
            image_error=self._errors.ctypes.data,
            image_base=memory.base,
            image_bytes=len(self._image),
            bursts=self._bursts.ctypes.data,
            burst_capacity=len(self._bursts),
            latency_low=memory.latency[0],
            latency_high=memory.latency[1],
            memory_random=states[4],
            memory_stall=int(memory.stall * 2**32),
        )

    def output(self) -> LearnedOutput:
        run = self.run
        words, keep, tid, last, error = (array[: run.given] for array in self._out)
        size = self.design.lanes * self.design.container_bits // 8
        octets = np.ascontiguousarray(words).view(np.uint8).reshape(run.given, 4 * words.shape[1])[:, :size]
        seen = run.given > 0
        return LearnedOutput(
            data=beat_elements(self.design, octets),
            tid=tid.copy(),
            last=last.astype(bool),
            error=error.astype(bool),
            keep=keep_elements(
                self.design, np.ascontiguousarray(keep).view(np.uint8).reshape(run.given, 4 * keep.shape[1])
            ),
            first_data_clock=run.first_data if seen else None,
            first_output_clock=run.first_output if seen else None,
            last_output_clock=run.last_output if seen else None,
            data_waits=run.data.waits,
            early_tokens=max(run.early, 0),
            answers=answers_of(self._accesses, run.host.done),
            bursts=tuple((int(one[0]), int(one[1]), int(one[2])) for one in self._bursts[: run.burst_count]),
        )


def _words(octets: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 4)))).view("<u4")


def _load(path: Path, design: LearnedDesign) -> Any:
    library = ctypes.CDLL(str(path))
    library.rl_open.restype = ctypes.c_void_p
    library.rl_message.restype = ctypes.c_char_p
    for name in ("rl_close", "rl_message", "rl_start"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.rl_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    octets = design.lanes * design.container_bits // 8
    found = (library.rl_data_words(), library.rl_keep_words(), library.rl_run_bytes())
    wanted = (-(-octets // 4), -(-octets // 32) if design.has_keep else 1, ctypes.sizeof(_Run))
    if found != wanted:
        raise EngineError(f"the ports of the Verilog are not those of its design.json: {found}, not {wanted}")
    return library


def build_library(design: LearnedDesign, folder: Path) -> Path:
    """The compiled library of the Verilog in ``folder``, from the cache or built now."""
    ports = [*(["-DROPEWALK_KEEP"] if design.has_keep else [])]
    ports += ["-DROPEWALK_AXI"] if design.storage == "external" else []
    return compiled(
        "verilator-learned",
        HARNESS,
        read_verilog(folder),
        top="ropewalk",
        level=optimisation(folder),
        defines=tuple(ports),
    )
