"""The simulation benchmark: beats per second of the model and of every simulator, side by side, on the same tokens.

All engines are given the first tokens of one array of random words, each at a new position, the variant changing every
64 tokens. The fast ones get BEATS beats, the slow ones SLOW beats. A time is that from the caller's arrays of integers
to arrays of integers, packing and unpacking and the start of a simulator included; not what compiling takes. Processor
seconds are those of the process, its threads and its children: they say more where other work shares the machine.
Every output bit is compared with the model, and that with the model of streams. The exit code is 1 if a bit differs.
"""

import json
import os
import platform
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary, write_design_folder
from ropewalk.errors import InputError
from ropewalk.geometry import only_rotary
from ropewalk.models import read_model
from ropewalk_sim import Model, Simulator
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream import pack_run, unpack_run
from ropewalk_sim.token_engine import TokenEngine

from .console import complain, show_table, stopwatch, table

BEATS, SLOW_BEATS, LANES = 1_000_000, 2_400, 4
MODEL = "gemma-3-270m"
REFERENCE = "icarus"
SLOW = ("amaranth", REFERENCE)
NAMES = {"amaranth": "Amaranth's simulator", "icarus": "Icarus + cocotb"}
VARIANT_TOKENS = 64
"""Tokens in a row of one variant."""

BLOCK_PAIRS = 1 << 21
"""Pairs of one input of a long stream."""

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class Speed:
    """What one engine did.

    ``pairs`` are those that it rotated, ``seconds`` wall time, ``processor_seconds`` what the process, its threads and
    its children used, ``differing_bits`` how many bits were not the model's.
    """

    engine: str
    threads: int
    tokens: int
    beats: int
    pairs: int
    seconds: float
    processor_seconds: float
    differing_bits: int

    @property
    def beats_per_second(self) -> float:
        """Beats per second of wall time."""
        return self.beats / self.seconds


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A long stream: the pairs that had gone through, in how many seconds, and the most memory the process had held."""

    engine: str
    pairs: int
    seconds: float
    peak_mib: float


def random_tokens(design: Design, tokens: int, first: int = 0, seed: int = 1) -> Arrays:
    """Random words for ``tokens`` tokens from position ``first`` on, as integers of the container's size."""
    source = np.random.default_rng(seed)
    kind = np.dtype(f"i{design.container_bits // 8}")
    low, high = design.data.minimum, design.data.maximum
    shape = (tokens, sum(design.heads[:2]), design.geometry.head_dim)
    words = source.integers(low, high, shape, dtype=kind, endpoint=True)
    queries = design.heads[0]
    return {"q": words[:, :queries], "k": words[:, queries:], **where(design, tokens, first)}


def where(design: Design, tokens: int, first: int) -> Arrays:
    """The positions and variants of ``tokens`` tokens from number ``first`` on."""
    number = np.arange(first, first + tokens)
    return {
        "position": number % min(design.limits),
        "variant": number // VARIANT_TOKENS % len(design.variants),
    }


def pairs_per_token(design: Design) -> int:
    """Pairs that a token rotates, in slot 0."""
    return sum(design.heads[:2]) * (design.shapes[0].rotary_dim // 2)


def first_of(arrays: Mapping[str, np.ndarray], tokens: int) -> Arrays:
    """The first ``tokens`` tokens."""
    return {name: array[:tokens] for name, array in arrays.items()}


def by_streams(name: str, folder: Path) -> Callable[[Arrays], Arrays]:
    """A run of the engine ``name``, arrays in and arrays out."""
    engine, design = ENGINES[name](folder), load_rotary(folder)

    def run(arrays: Arrays) -> Arrays:
        packed = pack_run(design, arrays)
        return unpack_run(packed, engine.run(packed.stream, script=packed.script))

    return run


def by_tokens(engine: TokenEngine) -> Callable[[Arrays], Arrays]:
    """The same of what takes whole tokens."""

    def run(arrays: Arrays) -> Arrays:
        result = engine.run(q=arrays["q"], k=arrays["k"], position=arrays["position"], variant=arrays["variant"])
        return {name: array for name in ("q", "k", "error") if (array := getattr(result, name)) is not None}

    return run


def differing_bits(result: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> int:
    """How many bits of the words and error flags differ from the first tokens of ``expected``."""
    count = 0
    for name in ("q", "k", "error"):
        found = result[name].astype(np.int32)
        count += int(np.bitwise_count((found ^ expected[name][: len(found)].astype(np.int32)).view(np.uint32)).sum())
    return count


def measure(
    design: Design, folder: Path, beats: int, slow_beats: int, threads: list[int], step: Callable[[str], None]
) -> list[Speed]:
    """The speed of every engine, the model first."""
    fast, slow = (max(1, count // design.beats_per_token) for count in (beats, slow_beats))
    arrays = random_tokens(design, max(fast, slow))
    step("the model of streams, to compare with")
    by_model = by_tokens(Model(design))
    expected = by_model(arrays)
    wrong = differing_bits(by_streams("model", folder)(first_of(arrays, slow)), expected)
    if wrong:
        raise EngineError(f"the model of tokens differs from the model of streams in {wrong} bits")
    speeds = [_speed(design, "model", 1, by_model, first_of(arrays, fast), expected, step)]
    for name in SLOW:
        speeds.append(_speed(design, name, 1, by_streams(name, folder), first_of(arrays, slow), expected, step))
    step("compiling")
    for number in threads:
        run = by_tokens(Simulator(folder, threads=number))
        speeds.append(_speed(design, "simulator", number, run, first_of(arrays, fast), expected, step))
    return speeds


def _speed(
    design: Design,
    engine: str,
    threads: int,
    run: Callable[[Arrays], Arrays],
    arrays: Arrays,
    expected: Arrays,
    step: Callable[[str], None],
) -> Speed:
    step(f"{engine}, {threads} thread{'s' if threads > 1 else ''}")
    run(first_of(arrays, 1))  # what is compiled or loaded once
    started, used = perf_counter(), processor_seconds()
    result = run(arrays)
    seconds, used = perf_counter() - started, processor_seconds() - used
    tokens = len(arrays["position"])
    return Speed(
        engine=engine,
        threads=threads,
        tokens=tokens,
        beats=tokens * design.beats_per_token,
        pairs=tokens * pairs_per_token(design),
        seconds=seconds,
        processor_seconds=used,
        differing_bits=differing_bits(result, expected),
    )


def processor_seconds() -> float:
    """What this process, and every child that has ended, has used of a processor."""
    return sum(os.times()[:4])


def measure_memory(design: Design, folder: Path, most: int, step: Callable[[str], None]) -> list[Memory]:
    """Streams of up to ``most`` pairs through the model and then the simulator, with the peak at every power of ten."""
    marks = sorted({most, *(10**power for power in range(6, len(str(most))) if 10**power < most)})
    found = []
    for name, engine in (("model", Model(design)), ("simulator", Simulator(folder))):
        step(f"{most:,} pairs through the {name}")
        started, pairs, left = perf_counter(), 0, list(marks)
        for result in engine.stream(_long(design, most)):
            pairs += len(result.error) * pairs_per_token(design)
            while left and pairs >= left[0]:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                found.append(Memory(engine=name, pairs=left.pop(0), seconds=perf_counter() - started, peak_mib=peak))
    return found


def _long(design: Design, pairs: int) -> Iterator[Arrays]:
    """Inputs of ``pairs`` pairs in all: the same words at other positions, so that making them takes no time."""
    each = max(1, BLOCK_PAIRS // pairs_per_token(design))
    tokens = -(-pairs // pairs_per_token(design))
    words = random_tokens(design, each)
    for first in range(0, tokens, each):
        count = min(each, tokens - first)
        yield first_of(words, count) | where(design, count, first)


@click.command(help=__doc__)
@click.option("--model", default=MODEL, show_default=True, help="Whose engine: a preset, config.json or GGUF file.")
@click.option("--lanes", type=int, default=LANES, show_default=True, help="Pairs per clock.")
@click.option("--beats", type=click.IntRange(1, 10**9), default=BEATS, show_default=True, metavar="BEATS",
              help="Beats for the model and the compiled simulator.")  # fmt: skip
@click.option("--slow-beats", type=click.IntRange(1, 10**7), default=SLOW_BEATS, show_default=True, metavar="SLOW",
              help="Beats for Amaranth's simulator and Icarus.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 256), default=2, show_default=True,
              help="Threads of the compiled simulator, beside one.")  # fmt: skip
@click.option("--pairs", type=click.IntRange(1, 10**11), metavar="N",
              help="Instead: stream N pairs through the model and the simulator, and show the memory.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(model: str, lanes: int, beats: int, slow_beats: int, threads: int, pairs: int | None, as_json: bool) -> None:
    """Measure and print."""
    speeds: list[Speed] = []
    memory: list[Memory] = []
    try:
        design = Design(geometry=only_rotary(read_model(model)), lanes=lanes)
        with tempfile.TemporaryDirectory() as name, stopwatch("bench_sim") as step:
            folder = Path(name) / "design"
            write_design_folder(design, folder)
            if pairs is None:
                speeds = measure(design, folder, beats, slow_beats, sorted({1, threads}), step)
            else:
                memory = measure_memory(design, folder, pairs, step)
    except (InputError, ValueError) as error:
        complain(str(error))
        sys.exit(2)
    except EngineError as error:
        complain(str(error))
        sys.exit(1)
    if as_json:
        click.echo(json.dumps(_document(model, design, speeds, memory), indent=1))
    else:
        _show_speeds(model, design, speeds)
        _show_memory(memory)
    if any(speed.differing_bits for speed in speeds):
        sys.exit(1)


def _times(speed: Speed, speeds: list[Speed]) -> float:
    reference = next(one for one in speeds if one.engine == REFERENCE)
    return speed.beats_per_second / reference.beats_per_second


def _document(model: str, design: Design, speeds: list[Speed], memory: list[Memory]) -> dict[str, Any]:
    return {
        "model": model,
        "lanes": design.lanes,
        "data_width": design.data_width,
        "beats_per_token": design.beats_per_token,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "engines": [
            asdict(speed)
            | {
                "beats_per_second": speed.beats_per_second,
                "pairs_per_second": speed.pairs / speed.seconds,
                "times_icarus": _times(speed, speeds),
            }
            for speed in speeds
        ],
        "memory": [asdict(one) | {"pairs_per_second": one.pairs / one.seconds} for one in memory],
    }


def _show_speeds(model: str, design: Design, speeds: list[Speed]) -> None:
    if not speeds:
        return
    shown = table("engine", "threads", "beats", "seconds", "processor s", "beats/s", "pairs/s", "times Icarus",
                  "differing bits",
                  left=("engine",))  # fmt: skip
    for speed in speeds:
        shown.add_row(
            NAMES.get(speed.engine, speed.engine), str(speed.threads), f"{speed.beats:,}", f"{speed.seconds:.2f}",
            f"{speed.processor_seconds:.2f}", f"{speed.beats_per_second:,.0f}",
            f"{speed.pairs / speed.seconds:,.0f}", f"{_times(speed, speeds):,.1f}", str(speed.differing_bits),
        )  # fmt: skip
    show_table(shown)
    click.echo(
        f"{model}: {design.lanes} lanes of {design.data_width} bits, {design.beats_per_token} beats a token; from "
        f"arrays of integers to arrays of integers."
    )


def _show_memory(memory: list[Memory]) -> None:
    if not memory:
        return
    shown = table("engine", "pairs", "seconds", "pairs/s", "peak memory, MiB", left=("engine",))
    for one in memory:
        shown.add_row(one.engine, f"{one.pairs:,}", f"{one.seconds:.2f}", f"{one.pairs / one.seconds:,.0f}",
                      f"{one.peak_mib:.1f}")  # fmt: skip
    show_table(shown)
    click.echo("Peak memory is that of the whole process since it began.")


if __name__ == "__main__":
    main()
