"""The rate benchmark: what it measures, a fast part of it, and that a rate below its formula fails it."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from ropewalk_cli import bench_rate
from ropewalk_cli.rate_cases import BY_FORMULA, FULL_RATE, LATENCY, RateCase

EXPECTED = {
    "Gemma 3 270M": 80 / 128,
    "Gemma 3 270M, table": 80 / 128,
    "Gemma 3 270M, 4 clocks per pair": 160 / 512,
    "Gemma 2B (MQA)": 72 / 128,
    "DeepSeek-V3 (MLA)": 1.0,
    "DeepSeek-V3, 1 query head": 16 / 32,
    "StableLM 3B, 20 of 80": 1.0,
    "StableLM 3B, 1 head, interleaved": 10 / 10,
    "Falcon 7B, 1 head": 8 / 32,
    "Qwen2.5 7B": 64 / 64,
    "Qwen2.5 7B, half of it, interleaved": 32 / 64,
}
FAST = RateCase(name="fast", model="falcon-7b", beside="falcon-40b", options={"lanes": 8}, heads=(1, 1))


def test_the_cases_are_those_of_the_models():
    seen = {}
    for case in FULL_RATE:
        design = case.design()
        assert len(design.variants) >= 2 and design.beats_per_clock == 1.0
        assert design.stream_pairings == ("half", "half")
        seen[case.name, design.lanes] = (design.heads, design.geometry.head_dim, design.axes)
    shapes = {
        "Llama 3.1 8B": ((32, 8, 0), 128, 1),
        "Llama 3.1 8B, values": ((32, 8, 8), 128, 1),
        "Gemma 3 270M": ((4, 1, 0), 256, 1),
        "Qwen2-VL 7B": ((28, 4, 0), 128, 3),
    }
    assert seen == {(name, lanes): shape for name, shape in shapes.items() for lanes in (1, 4)}
    assert {case.name: case.design().beats_per_clock for case in BY_FORMULA} == EXPECTED
    for case in LATENCY:
        assert (case.design().lanes, case.design().stream_pairings) == (4, ("interleaved", "interleaved"))


@pytest.mark.parametrize("clocks", [1, 2])
def test_a_fast_part_of_it(clocks, monkeypatch):
    """To the clock: a rate that rows limit; the latency, in interleaved order; every bit."""
    monkeypatch.setattr(bench_rate, "FULL_RATE", ())
    monkeypatch.setattr(bench_rate, "BY_FORMULA", (replace(FAST, options=FAST.options | {"clocks_per_pair": clocks}),))
    order = {"lanes": 4, "input_pairing": "interleaved", "output_pairing": "interleaved", "clocks_per_pair": clocks}
    monkeypatch.setattr(bench_rate, "LATENCY", (replace(FAST, beside=None, options=order),))
    result = CliRunner().invoke(bench_rate.main, ["--tokens", "150", "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    (rate,), (latency,) = document["rates"], document["latencies"]
    assert (rate["clocks"], rate["tokens"], rate["differing_bits"]) == (150 * 32 * clocks, 150, 0)
    assert rate["measured"] == 0.25 / clocks
    assert latency["measured"] == latency["stated"] <= 48 + 8 * (clocks > 1)


@pytest.mark.parametrize("fault", [{"clocks": 4801}, {"differing_bits": 1}, {"latency": 49}, {"latency": 38}, {}])
def test_what_is_not_as_stated_fails(fault, monkeypatch):
    rate = bench_rate.Rate(
        name="one", lanes=8, rows_from="synth", orders="half to half", slots=2, beats_per_token=8, pairs=32,
        clocks_per_pair=1, tokens=150, expected=0.25, measured=0.25, clocks=4800, differing_bits=0,
    )  # fmt: skip
    rate = replace(rate, **{name: value for name, value in fault.items() if name != "latency"})
    measured = fault.get("latency", 39)
    latency = bench_rate.Latency(name="one", lanes=4, stated=max(39, measured), measured=measured, bound=48)
    monkeypatch.setattr(bench_rate, "measure_rate", lambda case, tokens: rate)
    monkeypatch.setattr(bench_rate, "measure_latency", lambda case: latency)
    result = CliRunner().invoke(bench_rate.main, [])
    assert result.exit_code == (1 if fault else 0)
    assert ("FAILS" in result.output) == bool(fault)
    assert "0.2500" in result.output
