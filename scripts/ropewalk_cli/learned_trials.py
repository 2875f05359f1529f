"""Long random runs of learned-table adders: ``python -m ropewalk_cli.learned_trials --beats 200000 --engine icarus``.

Both forms of the table, dimensions that end inside a beat and do not, rests on every stream, framing faults, and for a
table outside random latency to 64 clocks and beats that fail. The tests do the same with fewer beats.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from ropewalk.designs.learned import learned_design
from ropewalk.emit.learned import learned_files
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk_sim.beats import Stalls
from ropewalk_sim.learned.engines import run_engine
from ropewalk_sim.learned.memory import Memory
from ropewalk_sim.learned.scenarios import random_stream

RESTS = Stalls(seed=11, data=0.25, token=0.25, output=0.3)
CASES = (("block-ram", 24), ("block-ram", 22), ("external", 24), ("external", 22))


def trial(engine: str, storage: Any, dimension: int, beats: int, say: Callable[[str], None]) -> bool:
    """One case; whether the engine gave what the model gives."""
    geometry = LearnedGeometry(
        model_type="trial", rows=64, row_offset=2, dimension=dimension, mask="counted", masked_row=1
    )
    table = np.random.default_rng(1).normal(size=(64, dimension))
    design, words = learned_design(geometry, table, storage=storage)
    memory = Memory(latency=(1, 64), stall=0.05, unreadable=((9, 2), (30, 0)))
    stream = random_stream(design, beats // design.beats_per_token, seed=17, faults=0.1)
    expected = run_engine("model", None, design, words, stream, memory=memory)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in learned_files(design, words).items():
            (folder / file).write_text(text)
        begin = time.monotonic()
        same = run_engine(engine, folder, design, words, stream, RESTS, memory=memory).same(expected)
    verdict = "no difference" if same else "DIFFERENT"
    say(f"{engine}, {storage}, d_model {dimension}: {stream.beats} beats in, {expected.beats} out, "
        f"{int(expected.error.sum())} with an error: {verdict} ({time.monotonic() - begin:.0f} s)")  # fmt: skip
    return same


@click.command()
@click.option("--beats", default=200_000, show_default=True, type=click.IntRange(100, 10_000_000))
@click.option("--engine", default="verilator", type=click.Choice(["verilator", "icarus", "cocotb-verilator"]))
def main(beats: int, engine: str) -> None:
    """Exit code 1 if any case differs from the model."""
    same = [trial(engine, storage, dimension, beats, click.echo) for storage, dimension in CASES]
    raise SystemExit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
