"""Fixtures that run cell models: as they should be used, and as they should be refused."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .bench import Job, Row, icarus, read_seen, write_bench


@pytest.fixture(params=["2005", "2012"])
def run_jobs(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Sequence[Job]], list[list[Row]]]:
    """Runs jobs in one simulation and returns what came out of each, row by row."""

    def run(jobs: Sequence[Job]) -> list[list[Row]]:
        assert not icarus(tmp_path, write_bench(tmp_path, jobs), request.param)
        seen = read_seen(tmp_path, jobs)
        assert [len(rows) for rows in seen] == [len(job.rows) for job in jobs]
        return seen

    return run


@pytest.fixture
def refusal(tmp_path: Path) -> Callable[[Job], tuple[str, int]]:
    """Runs a job that its model refuses; returns what the model printed and how many rows were simulated."""

    def run(job: Job) -> tuple[str, int]:
        printed = icarus(tmp_path, write_bench(tmp_path, [job]), "2005", "-Wno-portbind")  # open pins warn
        text = re.sub(r"\S*Icarus\S*|^.*\$finish called.*$", "", printed, flags=re.M)
        seen = tmp_path / "seen_0.hex"
        return text, len(seen.read_text().split()) if seen.exists() else 0

    return run
