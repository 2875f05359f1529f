"""The long runs of the units: which modes there are, a short run of each kind, and that a wrong bit fails it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from ropewalk_cli import unit_trials
from ropewalk_cli.unit_modes import SLOW_MEMORY, all_modes
from ropewalk_sim.alibi.streams import Rows
from ropewalk_sim.learned.unit import LearnedUnit

ALIBI = ["alibi-relative", "alibi-absolute", "alibi-mpt", "alibi-symmetric"]
SINUSOIDAL = [
    "sinusoidal-interleaved", "sinusoidal-half-marian", "sinusoidal-half-tensor2tensor", "sinusoidal-half-fairseq",
]  # fmt: skip


def call(*arguments):
    return CliRunner().invoke(unit_trials.main, [str(argument) for argument in arguments])


def test_every_mode_of_every_unit_is_there():
    modes: dict[str, Any] = {**all_modes()}
    for number, name in enumerate(ALIBI):
        assert modes[name].design.mode == number
        for causal, mode in ((False, modes[name]), (True, modes[f"{name}-causal"])):
            rows = Rows.of(mode.change(mode.unit(Path()).corners(200, 1)).descriptors)
            assert (rows.causal == causal).all()
        mixed = modes[f"{name}-8-bit"]
        assert len(set(Rows.of(mixed.change(mixed.unit(Path()).corners(200, 1)).descriptors).causal.tolist())) == 2
    assert {modes[f"learned-{storage}"].design.storage for storage in ("block-ram", "external")} == {
        "block-ram", "external",
    }  # fmt: skip
    assert SLOW_MEMORY.latency == (1, 64) and SLOW_MEMORY.stall and SLOW_MEMORY.unreadable
    assert [modes[name].design.half for name in SINUSOIDAL] == [False, True, True, True]
    assert {mode.design.has_keep for name, mode in modes.items() if not name.startswith("alibi")} == {False, True}


def test_a_short_run_of_a_mode_of_each_unit():
    """Under cocotbext-axi; of tokens that are sound and ones that are not."""
    chosen = ["alibi-mpt-causal", "learned-external-tkeep", "sinusoidal-half-fairseq"]
    result = call(*chosen, "--engine", "icarus", "--beats", 250, "--run-beats", 150, "--json")
    assert result.exit_code == 0, result.output
    reports = json.loads(result.stdout)
    assert [report["mode"] for report in reports] == chosen
    for report in reports:
        assert report["engine"] == "icarus"
        assert (report["differing_bits"], report["fault"]) == (0, None)
        assert report["beats_out"] >= 250 and report["runs"] >= 2
        assert 0 < report["error_beats"] < report["beats_out"] < report["beats_in"]
    assert "sinusoidal-half-fairseq in icarus" in result.stderr


def test_a_wrong_bit_fails(monkeypatch):
    right = LearnedUnit.run

    def wrong(self, engine, stream, *, stalls: Any = None, progress=None):
        output = right(self, "model", stream)
        if engine == "icarus":
            assert min(stalls.data, stalls.token, stalls.output) > 0
            output.data[3, 0] ^= 1
        return output

    monkeypatch.setattr(LearnedUnit, "run", wrong)
    result = call("learned-block-ram", "--engine", "icarus", "--beats", 2000)
    assert result.exit_code == 1
    first, second = result.output.splitlines()
    assert first.startswith("learned-block-ram in icarus: ")
    assert ", 1 runs: run 0: beat 3, octet 0: data is " in first
    assert second.startswith("learned-block-ram-tkeep in icarus: ")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["alibi-cosine"], "'alibi-cosine'"), (["--engine", "abacus"], "abacus"), (["--beats", "0"], "--beats")],
)
def test_what_there_is_not_is_refused(arguments, named):
    result = call(*arguments)
    assert result.exit_code == 2
    assert named in result.output
