"""The guided mode: one process of Atheris per target (libFuzzer ends its process), and what they report."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from ropewalk_cli.console import show_table, table

TARGETS = ("json", "gguf")


def fuzz_guided(minutes: float, seed: int, keep: Path, targets: tuple[str, ...] = TARGETS) -> int:
    """Fuzz each of ``targets`` for its share of ``minutes``; 1 where one found a defect, else 0."""
    keep.mkdir(parents=True, exist_ok=True)
    headings = "inputs", "per second", "kept for new branches", "edges and counters", "imported", "MB at most"
    shown = table("target", *headings, left=("target",))
    failed = 0
    for target in targets:
        with tempfile.TemporaryDirectory(prefix="ropewalk-fuzz-") as folder:
            command = [sys.executable, "-W", "error", "-m", "fuzz.guided_target", target, folder]
            options = [
                f"-max_total_time={round(minutes * 60 / len(targets))}",
                f"-seed={seed}",
                "-max_len=65536",
                "-timeout=20",
                "-rss_limit_mb=1024",
                "-print_final_stats=1",
                f"-artifact_prefix={keep.resolve()}/{target}-",
            ]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            said = []
            with subprocess.Popen(
                command + options, stderr=subprocess.PIPE, text=True, errors="replace", env=environment
            ) as process:
                assert process.stderr is not None
                for line in process.stderr:
                    said.append(line)
                    if "NEW" not in line and "REDUCE" not in line:
                        click.echo(f"{target}: {line.rstrip()}", err=True)
            text = "".join(said)
            statistics = dict(re.findall(r"stat::(\w+):\s+(\d+)", text))
            coverage = re.findall(r"cov: (\d+) ft: (\d+)", text)
            counted = re.findall(r"^imported: (\d+ of \d+)", text, re.MULTILINE)
            shown.add_row(
                target,
                statistics.get("number_of_executed_units", "?"),
                statistics.get("average_exec_per_sec", "?"),
                statistics.get("new_units_added", "?"),
                f"{coverage[0][0]} to {coverage[-1][0]}, {coverage[0][1]} to {coverage[-1][1]}" if coverage else "?",
                counted[-1] if counted else "?",
                statistics.get("peak_rss_mb", "?"),
            )
            if process.returncode != 0 or "number_of_executed_units" not in statistics:
                failed = 1
                click.echo(
                    f"defect: {target} ended with exit code {process.returncode}; see {keep}/{target}-*", err=True
                )
    show_table(shown)
    click.echo(f"defects: {'some' if failed else 'none'}")
    return failed
