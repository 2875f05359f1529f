"""The simulation benchmark: every engine runs the same tokens, each bit is compared, and a difference fails it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from ropewalk_cli import bench_sim

SMALL = ["--model", "qwen2.5-0.5b", "--beats", "4000", "--slow-beats", "256"]
TOKEN_BEATS = 16 * 64 // 8
TOKEN_PAIRS = 16 * 32


def test_all_engines_in_one_run():
    result = CliRunner().invoke(bench_sim.main, [*SMALL, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["model"], document["lanes"], document["data_width"]) == ("qwen2.5-0.5b", 4, 16)
    assert document["beats_per_token"] == TOKEN_BEATS
    engines = document["engines"]
    assert [(one["engine"], one["threads"], one["tokens"]) for one in engines] == [
        ("model", 1, 31), ("amaranth", 1, 2), ("icarus", 1, 2), ("simulator", 1, 31), ("simulator", 2, 31),
    ]  # fmt: skip
    for one in engines:
        assert (one["beats"], one["pairs"]) == (one["tokens"] * TOKEN_BEATS, one["tokens"] * TOKEN_PAIRS)
        assert one["differing_bits"] == 0
        assert one["beats_per_second"] == one["beats"] / one["seconds"]
        assert one["pairs_per_second"] == one["pairs"] / one["seconds"]
        assert one["times_icarus"] == one["beats_per_second"] / engines[2]["beats_per_second"]
        assert one["processor_seconds"] >= 0
    assert engines[3]["times_icarus"] > 10


@pytest.mark.parametrize("engine", ["simulator", "icarus"])
def test_a_bit_that_differs_fails_it(engine, monkeypatch):
    """One bit of one word of one engine."""

    def spoiled(of):
        def run(*given):
            inner = of(*given)

            def changed(arrays):
                result = {name: array.copy() for name, array in inner(arrays).items()}
                if len(arrays["position"]) > 1:
                    result["k"][1, 0, 5] ^= 4
                return result

            return changed

        return run

    models = bench_sim.by_tokens
    if engine == "simulator":
        spoil = spoiled(models)
        monkeypatch.setattr(
            bench_sim,
            "by_tokens",
            lambda one: (spoil if isinstance(one, bench_sim.Simulator) else models)(one),
        )
    else:
        monkeypatch.setattr(bench_sim, "SLOW", ())
        streams = bench_sim.by_streams
        spoil = spoiled(streams)
        monkeypatch.setattr(bench_sim, "SLOW", ("icarus",))
        monkeypatch.setattr(
            bench_sim, "by_streams", lambda name, folder: (spoil if name == "icarus" else streams)(name, folder)
        )
    if engine == "simulator":
        monkeypatch.setattr(bench_sim, "SLOW", ("icarus",))
    result = CliRunner().invoke(bench_sim.main, [*SMALL, "--threads", "1", "--json"])
    assert result.exit_code == 1
    wrong = {one["engine"]: one["differing_bits"] for one in json.loads(result.stdout)["engines"]}
    assert wrong == {name: int(name == engine) for name in wrong} and len(wrong) == 3


def test_the_memory_of_a_long_stream():
    result = CliRunner().invoke(bench_sim.main, ["--model", "qwen2.5-0.5b", "--pairs", "1500000", "--json"])
    assert result.exit_code == 0, result.output
    memory = json.loads(result.stdout)["memory"]
    assert [(one["engine"], one["pairs"]) for one in memory] == [
        (engine, pairs) for engine in ("model", "simulator") for pairs in (1_000_000, 1_500_000)
    ]
    assert all(one["peak_mib"] > 10 and one["pairs_per_second"] > 0 for one in memory)


def test_the_tables(monkeypatch):
    speed = bench_sim.Speed(
        engine="icarus", threads=1, tokens=1, beats=100, pairs=400, seconds=2.0, processor_seconds=1.0, differing_bits=0
    )
    memory = bench_sim.Memory(engine="model", pairs=10**6, seconds=0.5, peak_mib=12.25)
    monkeypatch.setattr(bench_sim, "measure", lambda *given: [speed])
    shown = CliRunner().invoke(bench_sim.main, SMALL)
    assert shown.exit_code == 0 and "Icarus + cocotb" in shown.output and " 50 " in shown.output
    monkeypatch.setattr(bench_sim, "measure_memory", lambda *given: [memory])
    shown = CliRunner().invoke(bench_sim.main, ["--pairs", "1000000"])
    assert shown.exit_code == 0 and "2,000,000" in shown.output and "12.2" in shown.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--model", "no-such"], "no-such"), (["--lanes", "3"], "lanes"), (["--model", "bloom-176b"], "alibi")],
)
def test_bad_input_is_a_sentence(arguments, message):
    result = CliRunner().invoke(bench_sim.main, arguments)
    assert result.exit_code == 2
    assert message in result.stderr.lower() and "Traceback" not in result.stderr


def test_differing_bits_are_counted():
    words = {"q": np.array([[3, -1]], np.int32), "k": np.array([[0]], np.int32), "error": np.array([False])}
    other = {"q": np.array([[0, 0]], np.int32), "k": np.array([[0]], np.int32), "error": np.array([True])}
    assert bench_sim.differing_bits(words, words) == 0
    assert bench_sim.differing_bits(words, other) == 2 + 32 + 1
