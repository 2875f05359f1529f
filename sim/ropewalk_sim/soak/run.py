"""Starts a soak in a simulator and checks its notes while it goes on."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.emit.folder import write_design_folder
from ropewalk_sim.engines import quiet_clocks
from ropewalk_sim.engines.cocotb_runner import CocotbVerilatorRunner, IcarusRunner, simulation
from ropewalk_sim.engines.toolchain import read_verilog, tail
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import SILENCE_CLOCKS, address_of

from .check import Checker
from .layouts import LOADED_SLOTS, RESET_HEADS, SLOTS, Layout, load_words
from .plan import LONGEST_PAUSE
from .wrapper import TOP, wrapper

SIMULATORS = {"icarus": IcarusRunner, "verilator": CocotbVerilatorRunner}
CHUNK_BEATS = 10_000
POLL_SECONDS = 0.5
SILENT_SECONDS = 1200
"""A simulator that has not written a chunk for so long is ended."""

HEADS = ("query_heads", "key_heads", "value_heads")
READ = ("identity", "status", "load_state", "tokens", "query_heads")


@dataclass
class Report:
    """What a soak saw: counts, and ``fault``, empty where all was as it should be."""

    fault: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    waits: dict[str, int] = field(default_factory=dict)
    clocks: int = 0
    stretches: int = 0


def job_of(layout: Layout, *, beats: int, seed: int, chunk_beats: int = CHUNK_BEATS) -> dict[str, Any]:
    """What the bench needs to know: ``job.json``."""
    design = layout.design
    return {
        "seed": seed, "beats": beats, "chunk_beats": chunk_beats,
        "elements": design.elements, "container_bits": design.container_bits, "data_width": design.data_width,
        "beat_bits": design.elements * design.container_bits, "beats_per_head": design.beats_per_head,
        "axes": design.axes, "token_bytes": 4 * (1 + design.axes),
        "slots": SLOTS, "loaded_slots": LOADED_SLOTS, "reset_heads": RESET_HEADS,
        "limits": [content.limit for content in layout.contents],
        "words": [load_words(layout, content) for content in layout.contents],
        # Longer than any pause, and than anything takes inside the engine.
        "quiet_clocks": quiet_clocks(design) + LONGEST_PAUSE, "silence_clocks": SILENCE_CLOCKS,
        "control": address_of("control"), "crc": address_of("geometry_crc[0]"),
        **{name: address_of(name) for name in ("load_begin", "load_data", "load_commit", "load_state")},
        "head_registers": [address_of(name) for name in HEADS],
        "offset_registers": [address_of(f"offset[{axis}]") for axis in range(design.axes)],
        "read_registers": [address_of(name) for name in READ],
    }  # fmt: skip


def soak(
    layout: Layout, simulator: str, *, beats: int, seed: int = 1, folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None, chunk_beats: int = CHUNK_BEATS,
) -> Report:  # fmt: skip
    """Run a soak until ``beats`` output beats have been seen, or something is wrong.

    Parameters
    ----------
    simulator
        ``icarus`` or ``verilator``.
    folder
        A design folder to take in place of the one that ``layout`` makes: for engines with a fault in them.

    Raises
    ------
    EngineError
        If the simulator cannot be built, fails, or is silent for long.
    """
    with tempfile.TemporaryDirectory(prefix="ropewalk-soak-") as name:
        place = Path(name)
        if folder is None:
            folder = place / "design"
            write_design_folder(layout.design, folder)
        runner = SIMULATORS[simulator](folder)
        build = runner.build(wrapper(read_verilog(folder).decode()), TOP)
        job = place / "job"
        job.mkdir()
        for rom in folder.glob("*.hex"):
            shutil.copy(rom, job)
        (job / "job.json").write_text(json.dumps(job_of(layout, beats=beats, seed=seed, chunk_beats=chunk_beats)))
        order = runner.order(build, job, seed, module="ropewalk_sim.soak.bench", top=TOP)
        checker = Checker(layout)
        log = job / "log"
        with simulation(order, job, log) as process:
            _follow(process, job, log, checker, beats, progress)
        return _report(job, log, checker)


def _follow(
    process: subprocess.Popen, job: Path, log: Path, checker: Checker, beats: int,
    progress: Callable[[int, int], None] | None,
) -> None:  # fmt: skip
    """Check chunks as they come, until the simulator ends or one is wrong."""
    silent = 0.0
    over = False
    while not over:
        over = process.poll() is not None
        chunks = sorted(job.glob("chunk-*.npz"))
        silent = 0.0 if chunks else silent + POLL_SECONDS
        for chunk in chunks:
            with np.load(chunk, allow_pickle=False) as arrays:
                checker.check(dict(arrays))
            chunk.unlink()
            if progress is not None:
                progress(min(checker.counts["output beats"], beats), beats)
            if checker.fault:
                return
        if silent > SILENT_SECONDS:
            raise EngineError(f"the simulator has written nothing for {silent:.0f} s{tail(log.read_bytes())}")
        if not over:
            try:
                process.wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                continue


def _report(job: Path, log: Path, checker: Checker) -> Report:
    done = job / "done.json"
    fault = checker.fault
    if not fault:
        if not done.is_file():
            raise EngineError(f"the simulator failed{tail(log.read_bytes())}")
        fault = json.loads(done.read_text())["fault"]
    return Report(
        fault=fault,
        counts=dict(checker.counts),
        waits=checker.waits,
        clocks=checker.clocks,
        stretches=checker.stretches,
    )
