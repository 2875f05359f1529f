"""One process of the generated mode: makes, reads and judges its share of the examples, and tells the parent."""

import os
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from . import checks, mutate
from .examples import Example, make_example
from .sandbox import Forbidden, TooSlow, Watch, limit_memory, peak_memory

TELL_EVERY = 2.0


@dataclass
class Tally:
    """What a worker saw since it last told, or all workers together."""

    done: int = 0
    kinds: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """Examples by their kind and whether they were imported."""
    refusals: Counter[str] = field(default_factory=Counter)
    fingerprints: set[int] = field(default_factory=set)
    slowest: tuple[float, str] = (0.0, "")
    """Seconds of processor time, and the example."""
    peak: tuple[int, str] = (0, "")
    """Bytes of the process at most, and the example that brought it there."""
    defects: list[tuple[str, str, str, bytes]] = field(default_factory=list)
    """What, the example, the file's name, its bytes."""

    def add(self, other: "Tally") -> None:
        """Take in what ``other`` counted."""
        self.done += other.done
        self.kinds += other.kinds
        self.refusals += other.refusals
        self.fingerprints |= other.fingerprints
        self.slowest = max(self.slowest, other.slowest)
        self.peak = max(self.peak, other.peak)
        self.defects += other.defects


def work(pipe: Connection, folder: Path, seed: int, models: range, others: range) -> None:
    """Judge the examples of both ranges; a :class:`Tally` goes through ``pipe`` every two seconds, None at the end."""
    os.chdir(folder)
    watch = Watch(folder)
    warm_up(folder)
    limit_memory()
    tally, told = Tally(), time.monotonic()
    for is_other, numbers in ((False, models), (True, others)):
        for number in numbers:
            name = f"{'other' if is_other else 'model'} {number} of seed {seed}"
            example = make_example(seed, number, is_other, folder)
            example.path.write_bytes(example.data)
            judge(example, name, watch, tally)
            if example.path.suffix not in (".json", ".gguf") or is_other:
                example.path.unlink()
            if time.monotonic() - told > TELL_EVERY:
                pipe.send(tally)
                tally, told = Tally(peak=tally.peak), time.monotonic()
    pipe.send(tally)
    pipe.send(None)


def judge(example: Example, name: str, watch: Watch, tally: Tally) -> None:
    """Read ``example`` under ``watch`` and count what became of it."""
    began = time.process_time()
    outcome, fault = "", ""
    try:
        with watch.example():
            outcome = example.check()
    except checks.Defect as defect:
        fault = str(defect)
    except MemoryError:
        fault = "it takes more than 1 GB"
    except (TooSlow, Forbidden) as broken:
        fault = f"{type(broken).__name__}: {broken}"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        fault = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: {error}"
    took = time.process_time() - began
    tally.done += 1
    tally.kinds[example.kind, outcome == checks.IMPORTED] += 1
    if outcome and outcome != checks.IMPORTED:
        tally.refusals[outcome] += 1
    tally.fingerprints.add(mutate.fingerprint(example.kind.encode() + example.data))
    if peak_memory() > tally.peak[0]:
        tally.peak = peak_memory(), f"{name}, {example.kind}"
    tally.slowest = max(tally.slowest, (took, f"{name}, {example.kind}"))
    if fault:
        tally.defects.append((fault, f"{name}, {example.kind}", example.path.name, example.data))


def warm_up(folder: Path) -> None:
    """Read some of everything once, so that what is imported on first use is there before the rules hold."""
    for is_other in (False, True):
        for number in range(60):
            example = make_example(-1, number, is_other, folder)
            example.path.write_bytes(example.data)
            try:
                example.check()
            except Exception:  # it will be met again, under the rules
                continue
            finally:
                example.path.unlink()
