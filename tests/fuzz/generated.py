"""The generated mode: workers judge numbered examples, and a table says what became of them."""

import multiprocessing
import os
import tempfile
import time
from multiprocessing.connection import wait
from pathlib import Path

import click
from ropewalk_cli.console import progress, show_table, table

from .worker import Tally, work

SILENCE = 120.0
"""Seconds without a word from a worker: it hangs where no signal reaches it."""


def fuzz_generated(examples: int, others: int, seed: int, first: int, workers: int, keep: Path) -> int:
    """Judge the examples and print what became of them; 1 where one is a defect, else 0."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # each thread of a pool takes address space, which is bounded here
    began = time.monotonic()
    total = Tally()
    with tempfile.TemporaryDirectory(prefix="ropewalk-fuzz-") as name, progress("fuzzing") as tell:
        context = multiprocessing.get_context("spawn")
        running = {}
        for index in range(workers):
            folder = Path(name) / f"worker-{index}"
            folder.mkdir()
            ours, theirs = context.Pipe(duplex=False)
            models, rest = (
                range(first + index, first + examples, workers),
                range(first + index, first + others, workers),
            )
            process = context.Process(target=work, args=(theirs, folder, seed, models, rest), daemon=True)
            process.start()
            theirs.close()
            running[ours] = (process, folder)
        said = began
        while running:
            ready = wait(list(running), SILENCE)
            if not ready:
                total.defects += [_lost(folder, "no answer: it hangs") for _, folder in running.values()]
                for process, _ in running.values():
                    process.kill()
                break
            for pipe in ready:
                process, folder = running[pipe]
                try:
                    told = pipe.recv()
                except EOFError:
                    process.join()
                    total.defects.append(_lost(folder, f"the process died with exit code {process.exitcode}"))
                    told = None
                if told is None:
                    del running[pipe]
                else:
                    total.add(told)
            tell(total.done, examples + others)
            if time.monotonic() - said > 30:
                said = time.monotonic()
                click.echo(f"{total.done} examples, {len(total.defects)} defects, {said - began:.0f} s", err=True)
    report(total, time.monotonic() - began)
    return _keep(total, keep)


def _lost(folder: Path, what: str) -> tuple[str, str, str, bytes]:
    """The defect of a worker that cannot tell: its newest file is the example."""
    files = [path for path in folder.iterdir() if path.is_file()]
    if not files:
        raise RuntimeError(f"a worker ended before its first example: {what}")
    newest = max(files, key=lambda path: path.stat().st_mtime_ns)
    return what, f"the last of {folder.name}", newest.name, newest.read_bytes()


def report(total: Tally, seconds: float) -> None:
    """Print the tables."""
    shown = table("kind of input", "examples", "imported", "refused", left=("kind of input",))
    for kind in dict.fromkeys(kind for kind, _ in sorted(total.kinds)):
        imported, refused = total.kinds[kind, True], total.kinds[kind, False]
        shown.add_row(kind, str(imported + refused), str(imported), str(refused))
    show_table(shown)
    heading = "refusals that begin so (without names and numbers)"
    shown = table("times", heading, left=(heading,))
    most = total.refusals.most_common(30)
    for text, times in most:
        shown.add_row(str(times), text)
    rest = total.refusals.total() - sum(times for _, times in most)
    shown.add_row(str(rest), f"({len(total.refusals) - len(most)} others)")
    show_table(shown)
    click.echo(f"{total.done} examples, {len(total.fingerprints)} of them different, in {seconds:.0f} s "
               f"({total.done / seconds:.0f} per second)")  # fmt: skip
    click.echo(f"slowest: {total.slowest[0]:.2f} s of processor time ({total.slowest[1]})")
    click.echo(
        f"most memory: {total.peak[0] / 1e6:.0f} MB, the interpreter and its libraries included ({total.peak[1]})"
    )
    click.echo(f"defects: {len(total.defects)}")


def _keep(total: Tally, keep: Path) -> int:
    """Save the files of the defects, of each kind the shortest two; 1 where there are any."""
    by_fault: dict[str, list[tuple[str, str, bytes]]] = {}
    for what, example, name, data in sorted(total.defects, key=lambda defect: len(defect[3])):
        by_fault.setdefault(what[:60], []).append((f"{what} ({example})", name, data))
    for index, found in enumerate(by_fault.values()):
        for which, (what, name, data) in enumerate(found[:2]):
            path = keep / f"{index}-{which}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            click.echo(f"defect: {what[:600]}; its file is {path}; {len(found)} such")
    return 1 if total.defects else 0
