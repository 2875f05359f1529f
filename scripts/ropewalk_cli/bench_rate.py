"""The rate benchmark: beats per clock of the emitted Verilog, with a new position and another variant for every token.

Neither side stalls. The rate is taken between the ends of a run and of one twice as long, so that the filling of the
pipeline does not count.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry import only_rotary
from ropewalk.models import read_model
from ropewalk_sim.beats import StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.compare import compare
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.stream_model import run_model

from .console import progress, show_table, table

CASES = (
    ("gemma-3-270m", {"lanes": 4}),
    ("gemma-3-270m", {"lanes": 1}),
    ("gemma-3-270m", {"lanes": 8}),
    ("gemma-3-270m", {"lanes": 4, "source": "table", "positions": 512}),
    ("qwen2.5-7b-yarn", {"lanes": 4}),
    ("qwen2.5-7b-yarn", {"lanes": 32}),
)
TOKENS = 1_000


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What one design did: beats per clock as stated and as measured, and whether every bit was right.

    ``pairs`` are those of the longest row, to which the stated rate belongs.
    """

    model: str
    lanes: int
    source: str
    beats_per_token: int
    pairs: int
    stated: float
    measured: float
    first_output_clock: int
    differing_bits: int


def measure(model: str, options: dict[str, Any], tokens: int) -> Rate:
    """The rate of one design over ``tokens`` tokens in the steady state."""
    design = Design(geometry=only_rotary(read_model(model)), **options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "design"
        write_design_folder(design, folder)
        engine = VerilatorEngine(folder)
        short, _ = _run(engine, design, tokens)
        long, bits = _run(engine, design, 2 * tokens)
    ends = short.last_output_clock, long.last_output_clock
    if ends[0] is None or ends[1] is None or long.first_output_clock is None:
        raise RuntimeError(f"{model} gave no beats")
    return Rate(
        model=model,
        lanes=design.lanes,
        source=design.source,
        beats_per_token=design.beats_per_token,
        pairs=max(shape.pairs for shape in design.shapes),
        stated=design.beats_per_clock,
        measured=(long.beats - short.beats) / (ends[1] - ends[0]),
        first_output_clock=long.first_output_clock,
        differing_bits=bits,
    )


def _run(engine: VerilatorEngine, design: Design, tokens: int) -> tuple[StreamOutput, int]:
    source = np.random.default_rng(1)
    number = np.arange(tokens)
    limit = min(design.limits)
    words = source.integers(
        design.data.minimum, design.data.maximum + 1, (tokens, sum(design.heads), design.geometry.head_dim)
    )
    descriptors = descriptor_words(number % len(design.variants), number * 7 % limit, tag=number % 256)
    stream = whole_tokens(design, descriptors, words)
    output = engine.run(stream)
    return output, compare(design, run_model(design, stream), output, stream).differing_bits


@click.command(help=__doc__)
@click.option("--tokens", default=TOKENS, show_default=True, help="Tokens over which the rate is taken.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(tokens: int, as_json: bool) -> None:
    """Measure all cases and print them."""
    rates = []
    with progress("measuring") as step:
        for number, (model, options) in enumerate(CASES):
            step(number, len(CASES))
            rates.append(measure(model, options, tokens))
    if as_json:
        click.echo(json.dumps([vars(rate) for rate in rates], indent=1))
        return
    shown = table(
        "model", "lanes", "rows from", "beats per token", "pairs", "stated", "measured", "latency", "differing bits",
        left=("model", "rows from"),
    )  # fmt: skip
    for rate in rates:
        shown.add_row(
            rate.model, str(rate.lanes), rate.source, str(rate.beats_per_token), str(rate.pairs), f"{rate.stated:.4f}",
            f"{rate.measured:.4f}", str(rate.first_output_clock), str(rate.differing_bits),
        )  # fmt: skip
    show_table(shown)
    click.echo(
        "Rates are beats per clock, a new position and another variant for every token; latency is the clock of the"
    )
    click.echo("first output beat after reset.")


if __name__ == "__main__":
    main()
