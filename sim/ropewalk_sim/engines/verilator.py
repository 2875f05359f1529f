"""The ``verilator`` engine: the emitted Verilog, compiled into a shared library that takes and returns arrays.

The clock loop is ``harness.cpp``; this file builds it (once per design, see :mod:`.cache`) and calls it through
ctypes. The ROM files are read from the design's folder whenever a run begins, so a changed word there is seen.
"""

import ctypes
import os
import shutil
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import HANG_CLOCKS, Progress, quiet_clocks
from ropewalk_sim.engines.cache import cached
from ropewalk_sim.engines.toolchain import (
    compiler,
    compiler_version,
    optimisation,
    read_verilog,
    run_tool,
    verilator_root,
    verilator_version,
)
from ropewalk_sim.engines.verilator_host import Host, access_table, answers_of, host_of
from ropewalk_sim.engines.wires import data_words, pack_words, unpack_words
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import SILENCE_CLOCKS

HARNESS = Path(__file__).with_name("harness.cpp")
REGISTER_PORT = Path(__file__).with_name("register_port.h")
CHUNK_CLOCKS = 1 << 17
"""Clocks between two looks at the keyboard and the progress: about a tenth of a second."""

VERILATE = ("--cc", "-O3", "--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal", "--top-module", "ropewalk")
# -fno-gnu-unique: or the libraries of two designs would share the static variables of their inline functions.
COMPILE = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-DVL_TIME_CONTEXT", "-DVERILATOR=1")
USER_HOOKS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_WARN")
RUNTIME = ("verilated.cpp", "verilated_threads.cpp")

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

# The current directory belongs to the whole process; the ROM files are found through it.
_directory_lock = threading.Lock()


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
        stalls, script = stalls or Stalls(), script or Script()
        library = self._library
        handle = library.rw_open(stalls.seed & 0x7FFFFFFF)
        try:
            self._start(handle)
            before = None
            if script.interrupted is not None:
                script.interrupted.check(self._design)
                first = _Bench(self._design, script.interrupted, stalls, Script(registers=script.interrupted_registers))
                self._check(handle, library.rw_reset(handle, 2), first)
                self._check(handle, library.rw_step(handle, first.pointer, script.interrupted_clocks), first)
                before = first.output(None)
            bench = _Bench(self._design, stream, stalls, script)
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
        if status in _FAULTS:
            raise EngineError(f"verilator: in clock {bench.run.clock}: {_FAULTS[status]}")

    def _message(self, handle: int) -> str:
        return self._library.rw_message(handle).decode(errors="replace")


class _Bench:
    """The arrays of one run, and the struct that shows them to the library."""

    def __init__(self, design: Design, stream: StreamInput, stalls: Stalls, script: Script) -> None:
        self._design = design
        beats, words = stream.beats, data_words(design)
        self._in = (
            np.ascontiguousarray(stream.descriptors, "<u4"),
            pack_words(design, stream.data),
            np.ascontiguousarray(stream.tid),
            np.ascontiguousarray(stream.last).view(np.uint8),
        )
        self._out = (np.zeros((beats, words), "<u4"), *(np.zeros(beats, np.uint8) for _ in range(3)))
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
            token=_Source(beats=stream.tokens, start=script.token_start, random=seeds[0], stall=token),
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

    def output(self, before: StreamOutput | None) -> StreamOutput:
        """What came out so far."""
        run = self.run
        words, tid, last, user = (array[: run.given] for array in self._out)
        return StreamOutput(
            data=unpack_words(self._design, words),
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


def build_library(folder: Path) -> Path:
    """The compiled library of the Verilog in ``folder``, from the cache or built now."""
    verilog, level = read_verilog(folder), optimisation(folder)
    tools = (verilator_version(), compiler_version(), *VERILATE, *COMPILE, *USER_HOOKS)
    include = verilator_root() / "include"
    flags = (*COMPILE, *USER_HOOKS, f"-I{include}", f"-I{include / 'vltstd'}")

    def build_runtime(target: Path) -> None:
        for name in RUNTIME:
            run_tool("g++ (Verilator's runtime)", [compiler(), "-O2", *flags, "-c", include / name, "-o",
                                                   target / f"{name}.o"])  # fmt: skip

    def build(target: Path) -> None:
        (target / "ropewalk.v").write_bytes(verilog)
        run_tool("verilator", [verilator_root() / "bin" / "verilator_bin", *VERILATE, "--prefix", "Vropewalk",
                               "--Mdir", "cpp", "ropewalk.v"], folder=target)  # fmt: skip
        runtime = cached("verilated", tools, build_runtime)
        sources = [*sorted((target / "cpp").glob("*.cpp")), HARNESS]
        unit = target / "unit.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources))
        run_tool("g++", [compiler(), level, *flags, f"-I{target / 'cpp'}", "-shared", unit,
                         *(runtime / f"{name}.o" for name in RUNTIME), "-pthread", "-Wl,-Bsymbolic", "-o",
                         target / "ropewalk.so"], folder=target)  # fmt: skip
        shutil.rmtree(target / "cpp")

    parts = (*tools, level, HARNESS.read_bytes(), REGISTER_PORT.read_bytes(), verilog)
    return cached("verilator", parts, build) / "ropewalk.so"
