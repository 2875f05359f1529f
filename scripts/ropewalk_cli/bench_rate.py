"""The rate benchmark: beats per clock of the emitted Verilog, with a new position and another slot for every token.

Neither side stalls, data are waiting before their descriptors, and the CRCs of the slots have been computed. The rate
is that of TOKENS tokens behind a first hundred, which fill the pipeline and the reorder buffers; their last beat is not
counted, the last beat of the run is. Then the latency of an idle engine is taken. Every output bit is compared with the
model. The exit code is 1 where a rate is below its formula, the latency above its bound, or a bit wrong.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import DESCRIPTION, write_design_folder
from ropewalk_sim.beats import Script, StreamInput, StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.compare import compare
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.registers import SCANNING, wait
from ropewalk_sim.stream_model import run_model

from .console import progress, show_table, table
from .rate_cases import BY_FORMULA, FULL_RATE, LATENCY, RateCase

TOKENS = 1_000
FILL_TOKENS = 100
"""Tokens before those that count. Rows are made ahead: that lead is used up by then, where rows are the limit."""

MOST_CLOCKS = 48
"""The bound of the latency of an idle engine in interleaved order with 4 lanes."""

MOST_CLOCKS_OF_SHARED = MOST_CLOCKS + 8
"""The same where a pair takes several clocks."""

SCANNED = wait("load_state", SCANNING, 0)


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What one engine did.

    ``orders`` are those of the elements in slot 0, in and out. ``expected`` follows from the heads, the lanes, the
    pairs and the clocks of a pair alone: ``tokens * max(beats per token, pairs * clocks per pair)`` clocks. ``clocks``
    is how many it were, ``differing_bits`` how many bits of the output the model has otherwise.
    """

    name: str
    lanes: int
    rows_from: str
    orders: str
    slots: int
    beats_per_token: int
    pairs: int
    clocks_per_pair: int
    tokens: int
    expected: float
    measured: float
    clocks: int
    differing_bits: int

    @property
    def holds(self) -> bool:
        """Whether it is as stated, to the clock."""
        most = self.tokens * max(self.beats_per_token, self.pairs * self.clocks_per_pair)
        return self.clocks <= most and not self.differing_bits


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Clocks from the one in which the descriptor is taken to the one in which the first rotated beat is offered."""

    name: str
    lanes: int
    stated: int
    measured: int
    bound: int

    @property
    def holds(self) -> bool:
        """Whether it is what the design states, and no more than the bound."""
        return self.measured == self.stated <= self.bound


def measure_rate(case: RateCase, tokens: int) -> Rate:
    """The rate of ``case`` over ``tokens`` tokens in the steady state."""
    design = case.design()
    stream = tokens_of(design, FILL_TOKENS + tokens)
    outputs, _ = run_engine(design, [first_tokens(design, stream, FILL_TOKENS), stream])
    filled, ended = (output.last_output_clock for output in outputs)
    if filled is None or ended is None:
        raise RuntimeError(f"{case.name} gave no beats")
    head_dim, pairs = design.geometry.head_dim, max(shape.rotary_dim // 2 for shape in design.shapes)
    beats = sum(design.heads) * head_dim // (2 * design.lanes)
    clocks = ended - filled
    return Rate(
        name=case.name,
        lanes=design.lanes,
        rows_from=design.source,
        orders=f"{design.order(0).input_pairing} to {design.order(0).output_pairing}",
        slots=len(design.variants),
        beats_per_token=beats,
        pairs=pairs,
        clocks_per_pair=design.clocks_per_pair,
        tokens=tokens,
        expected=min(1.0, beats / (pairs * design.clocks_per_pair)),
        measured=(outputs[1].beats - outputs[0].beats) / clocks,
        clocks=clocks,
        differing_bits=compare(design, run_model(design, stream), outputs[1], stream).differing_bits,
    )


def measure_latency(case: RateCase) -> Latency:
    """The latency of ``case``, whose heads begin with their slice in interleaved order: its first beat is rotated."""
    design = case.design()
    if design.order(0).first or not design.order(0).natural:
        raise ValueError(f"the first beat of {case.name} is not the first rotated one")
    (output,), facts = run_engine(design, [tokens_of(design, 1)])
    if output.first_output_clock is None or output.token_waits is None:
        raise RuntimeError(f"{case.name} gave no beats")
    # The descriptor is offered from clock 0 on, and taken when it has waited.
    return Latency(
        name=case.name,
        lanes=design.lanes,
        stated=facts["latency"],
        measured=output.first_output_clock - output.token_waits,
        bound=MOST_CLOCKS if design.clocks_per_pair == 1 else MOST_CLOCKS_OF_SHARED,
    )


def tokens_of(design: Design, tokens: int) -> StreamInput:
    """Tokens that go round the slots, each at another position than the one before, on every axis."""
    source = np.random.default_rng(1)
    number = np.arange(tokens)
    limit = min(design.limits)
    words = source.integers(
        design.data.minimum, design.data.maximum + 1, (tokens, sum(design.heads), design.geometry.head_dim)
    )
    position = (number[:, None] * np.array([7, 5, 3])[: design.axes] + 1) % limit
    slot = number % len(design.variants)
    return whole_tokens(design, descriptor_words(slot, position, tag=number % 256, axes=design.axes), words)


def first_tokens(design: Design, stream: StreamInput, tokens: int) -> StreamInput:
    """The first ``tokens`` tokens of ``stream``."""
    beats = tokens * design.beats_per_token
    return StreamInput(
        descriptors=stream.descriptors[:tokens],
        data=stream.data[:beats],
        tid=stream.tid[:beats],
        last=stream.last[:beats],
    )


def run_engine(design: Design, streams: Iterable[StreamInput]) -> tuple[list[StreamOutput], dict[str, Any]]:
    """What the emitted Verilog makes of each stream, after a reset; and what its ``design.json`` says besides."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "design"
        write_design_folder(design, folder)
        engine = VerilatorEngine(folder)
        outputs = [engine.run(stream, script=Script(registers=(SCANNED,))) for stream in streams]
        return outputs, json.loads((folder / DESCRIPTION).read_text())["derived"]


@click.command(help=__doc__)
@click.option(
    "--tokens", type=click.IntRange(1, 100_000), default=TOKENS, show_default=True,
    help="Tokens over which the rate is taken.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(tokens: int, as_json: bool) -> None:
    """Measure all cases and print them."""
    cases = [*FULL_RATE, *BY_FORMULA]
    with progress("measuring") as step:
        rates = _all(cases, lambda case: measure_rate(case, tokens), lambda done: step(done, len(cases) + len(LATENCY)))
        latencies = _all(LATENCY, measure_latency, lambda done: step(len(cases) + done, len(cases) + len(LATENCY)))
    if as_json:
        document = {
            "rates": [asdict(rate) | {"holds": rate.holds} for rate in rates],
            "latencies": [asdict(latency) | {"holds": latency.holds} for latency in latencies],
        }
        click.echo(json.dumps(document, indent=1))
    else:
        _show(rates, latencies)
    if not all(one.holds for one in (*rates, *latencies)):
        sys.exit(1)


def _all(cases: Iterable[RateCase], measure: Callable[[RateCase], Any], step: Callable[[int], None]) -> list[Any]:
    results = []
    for case in cases:
        step(len(results))
        results.append(measure(case))
    return results


def _show(rates: list[Rate], latencies: list[Latency]) -> None:
    shown = table(
        "model", "lanes", "rows from", "order", "slots", "beats per token", "pairs", "expected", "measured",
        "differing bits", "", left=("model", "rows from", "order", ""),
    )  # fmt: skip
    for rate in rates:
        shown.add_row(
            rate.name, str(rate.lanes), rate.rows_from, rate.orders, str(rate.slots), str(rate.beats_per_token),
            str(rate.pairs), f"{rate.expected:.4f}", f"{rate.measured:.4f}", str(rate.differing_bits),
            "" if rate.holds else "FAILS",
        )  # fmt: skip
    show_table(shown)
    click.echo(
        f"Rates are beats per clock over {rates[0].tokens} tokens, a new position and another slot for each, behind "
        f"{FILL_TOKENS} that fill the engine."
    )
    shown = table("model, interleaved", "lanes", "stated", "measured", "at most", "", left=("model, interleaved", ""))
    for one in latencies:
        shown.add_row(one.name, str(one.lanes), str(one.stated), str(one.measured), str(one.bound),
                      "" if one.holds else "FAILS")  # fmt: skip
    show_table(shown)
    click.echo("Latency is in clocks, from the descriptor of an idle engine to its first rotated beat.")


if __name__ == "__main__":
    main()
