"""Long runs of the ALiBi unit against its model: ``python -m ropewalk_cli.alibi_trials [--beats N] [--engine NAME]``.

For each mode and shape: rows of every kind, then rows whose packets do not fit, with stalls on every stream, until so
many beats have been compared. What the tests do in a minute with thousands of beats, this does with as many as asked.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.emit.alibi import alibi_files
from ropewalk.geometry.alibi import MODES, AlibiGeometry, alibi_slopes
from ropewalk_sim.alibi.engines import open_alibi_engine
from ropewalk_sim.alibi.faulty_rows import faulty_rows
from ropewalk_sim.alibi.random_rows import random_rows
from ropewalk_sim.alibi.registers import write
from ropewalk_sim.alibi.streams import run_model
from ropewalk_sim.beats import Script, Stalls

SHAPES: tuple[dict[str, Any], ...] = (
    {"lanes": 4},
    {"lanes": 1, "data_width": 8, "fraction_bits": 3},
    {"lanes": 8, "data_width": 32},
)
ROWS = 4000


@click.command()
@click.option("--beats", default=200_000, show_default=True, help="Beats to compare, for each mode and shape.")
@click.option("--engine", default="verilator", show_default=True, help="verilator, icarus, cocotb-verilator, amaranth.")
@click.option("--rows", default=ROWS, show_default=True, help="Rows of a run.")
def main(beats: int, engine: str, rows: int) -> None:
    """Compare the unit with its model."""
    geometry = AlibiGeometry(model_type="trials", heads=40, slopes=alibi_slopes(40), mode="relative")
    failed = False
    for shape in SHAPES:
        design = AlibiDesign(geometry=geometry, **shape)
        with tempfile.TemporaryDirectory() as name:
            for file, text in alibi_files(design).items():
                (Path(name) / file).write_text(text)
            run = open_alibi_engine(engine, design, Path(name))
            for number, mode in enumerate(MODES):
                compared = differing = seed = 0
                begun = time.monotonic()
                while compared < beats:
                    seed += 1
                    make = faulty_rows if seed % 4 == 0 else random_rows
                    stream = make(design, rows, seed=1000 * number + seed)
                    stalls = Stalls(
                        seed=seed, data=0.3 * (seed % 2), token=0.3 * (seed % 3 == 0), output=0.15 * (seed % 4)
                    )
                    out = run(stream, stalls=stalls, script=Script(registers=(write("mode", number),)))
                    compared += out.beats
                    differing += not out.same_beats(run_model(design, stream, mode=number))
                failed |= differing > 0
                click.echo(
                    f"{shape} {mode}: {compared} beats in {seed} runs, {differing} of them differ "
                    f"({time.monotonic() - begun:.0f} s)"
                )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
