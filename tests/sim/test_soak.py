"""A short soak in each simulator, and what the soak says to notes and engines that are wrong."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from ropewalk.emit.folder import write_design_folder
from ropewalk_sim.soak import run
from ropewalk_sim.soak.check import Checker
from ropewalk_sim.soak.expect import frame
from ropewalk_sim.soak.layouts import LAYOUTS
from ropewalk_sim.soak.plan import CHANNELS, Stretch

Chunk = dict[str, np.ndarray]
# Each further design takes three seconds to emit, and ten for Verilator.
RUNS = [("both", "icarus"), ("interleaved-half", "icarus"), ("both", "verilator")]
BEATS = 1_500


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def folder(layout: str) -> Path:
        if layout not in made:
            made[layout] = tmp_path_factory.mktemp("soak") / "design"
            write_design_folder(LAYOUTS[layout].design, made[layout])
        return made[layout]

    return folder


class Recorder(Checker):
    """Keeps the notes that it checks."""

    kept: ClassVar[list[Chunk]] = []

    def check(self, chunk: Chunk) -> None:
        self.kept.append(chunk)
        super().check(chunk)


@pytest.fixture(scope="module")
def soaked(folder_of) -> Callable[[str, str], tuple[run.Report, list[Chunk]]]:
    """A short soak of a layout in a simulator: its report and its notes."""
    made: dict[tuple[str, str], tuple[run.Report, list[Chunk]]] = {}

    def soak(layout: str, simulator: str) -> tuple[run.Report, list[Chunk]]:
        if (layout, simulator) not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(run, "Checker", Recorder)
                patch.setattr(Recorder, "kept", [])
                folder = folder_of(layout)
                report = run.soak(LAYOUTS[layout], simulator, beats=BEATS, seed=3, folder=folder, chunk_beats=1)
                made[layout, simulator] = report, Recorder.kept
        return made[layout, simulator]

    return soak


@pytest.mark.parametrize(("layout", "simulator"), RUNS)
def test_nothing_is_wrong_for_some_thousand_beats(layout, simulator, soaked) -> None:
    report, _ = soaked(layout, simulator)
    assert report.fault == ""
    counts = report.counts
    assert counts["output beats"] >= BEATS
    assert 0 < counts["error beats"] < 0.7 * counts["output beats"]
    assert counts["slot loads"] > 2
    for name in ("token", "data", "output"):
        assert report.waits[name] > 50, name
    assert report.waits["w"] > 5


def spoiled(chunk: Chunk, how: str) -> Chunk:
    """A copy of notes in which one output beat of a token of whole heads is wrong."""
    out = dict(chunk)
    at = len(chunk["output"]) // 2
    while chunk["output"][at] in (chunk["output"][at + 1], chunk["output"][at - 1]):
        at += 1
    names = ("output", "output_side", "output_clock")
    if how == "lost":
        out |= {name: np.delete(chunk[name], at) for name in names}
    elif how == "duplicated":
        out |= {name: np.insert(chunk[name], at, chunk[name][at]) for name in names}
    elif how == "reordered":
        order = np.arange(len(chunk["output"]))
        order[[at, at + 2]] = order[[at + 2, at]]
        out["output"] = chunk["output"][order]
        out["output_side"] = chunk["output_side"][order]
    elif how == "a bit of data":
        out["output"] = chunk["output"] ^ (np.arange(len(chunk["output"])) == at).astype(np.uint64)
    elif how in ("tid", "last", "error", "kind"):
        bit = {"tid": 0, "last": 8, "error": 9, "kind": 10}[how]
        out["output_side"] = chunk["output_side"] ^ ((np.arange(len(chunk["output"])) == at) << bit)
    elif how == "answer":
        out["writes"] = chunk["writes"].copy()
        out["writes"][len(out["writes"]) // 2, 3] ^= 2
    elif how == "crc":
        out["reads"] = chunk["reads"].copy()
        out["reads"][np.flatnonzero(out["reads"][:, 1] >= 0x100)[0], 2] ^= 1
    elif how == "a token too late":
        out["token_clock"] = chunk["token_clock"] + 1_000
    elif how == "a commit less":
        commits = np.flatnonzero((chunk["writes"][:, 1] == 0x058) & (chunk["writes"][:, 3] == 0))
        out["writes"] = np.delete(chunk["writes"], commits, axis=0)
    return out


SPOILED = {
    "lost": "a beat was lost|beats were lost", "duplicated": "a beat was duplicated",
    "reordered": "beats were reordered|a beat was lost",
    "a bit of data": "differs", "tid": "differs", "last": "differs", "error": "differs", "kind": "differs",
    "answer": "was answered with", "crc": "reading 0x1", "a token too late": "before their descriptor",
    "a commit less": "reading|differs",
}  # fmt: skip


@pytest.mark.parametrize("how", SPOILED)
def test_what_is_wrong_in_the_notes_is_named(how, soaked) -> None:
    _, chunks = soaked(*RUNS[0])
    checker = Checker(LAYOUTS[RUNS[0][0]])
    longest = max(len(chunk["output"]) for chunk in chunks)
    for chunk in chunks:
        checker.check(spoiled(chunk, how) if len(chunk["output"]) == longest else chunk)
        if checker.fault:
            break
    assert re.search(SPOILED[how], checker.fault), checker.fault


def test_an_engine_with_another_word_in_its_sine_is_found(folder_of, tmp_path) -> None:
    folder = tmp_path / "design"
    folder.mkdir()
    for file in folder_of("both").iterdir():
        text = file.read_bytes()
        if file.name == "sine.hex":
            lines = text.splitlines()
            # Small positions use the first entries most.
            lines[:64] = [b"%0*x" % (len(line), int(line, 16) ^ 1 << 4 * len(line) - 8) for line in lines[:64]]
            text = b"\n".join(lines) + b"\n"
        if file.is_file():
            (folder / file.name).write_bytes(text)
    report = run.soak(LAYOUTS["both"], "icarus", beats=400, seed=3, folder=folder, chunk_beats=1)
    assert "differs" in report.fault


def test_a_stretch_is_the_same_again() -> None:
    job = run.job_of(LAYOUTS["half"], beats=1, seed=1)
    one, other, third = (Stretch(1, number, job) for number in (5, 5, 6))
    assert one.descriptors() == other.descriptors() != third.descriptors()
    assert set(one.pauses) == set(CHANNELS)


def test_framing_as_the_ports_page_says_it() -> None:
    """Tokens of three beats with tags 7 and 8: a stray, a packet too short, one too long."""
    tokens = [(0, 7, 3), (0, 8, 3), (0, 7, 3)]
    last = 256
    sides = [9, 7, 7 | last, 8, 8, 8, 1, 2 | last, 7, 7, 7 | last]
    framed = frame(sides, range(1, 12), tokens)
    assert framed.beat == [1, 2, 3, 4, 5, 8, 9, 10]
    assert framed.token == [0, 0, 1, 1, 1, 2, 2, 2]
    assert framed.last == [False, True, False, False, True, False, False, True]
    assert framed.error == [True, True, False, False, True, False, False, False]
    assert (framed.ended, framed.excess, framed.fault) == (3, False, "")
    assert "before their descriptor" in frame([7], [0], tokens).fault
