"""The AXI4-Lite port in the emitted Verilog, driven and watched by cocotbext-axi, in every order there is."""

import json
from pathlib import Path

import pytest
from ropewalk_sim.engines.cocotb_runner import CocotbVerilatorRunner, IcarusRunner


@pytest.mark.parametrize("make", [IcarusRunner, CocotbVerilatorRunner])
def test_every_order_of_address_data_and_answer(make, design_folder, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent)
    folder = design_folder("four-lanes")
    runner = make(folder)
    runner.link_memories(tmp_path)
    runner.simulate(tmp_path, runner.order(runner.build(), tmp_path, 1, module="register_port_bench"), 1000, None)
    seen = json.loads((tmp_path / "result.json").read_text())
    assert list(seen) == ["address first", "data first", "answers wait", "back to back", "at random"]
    for counts in seen.values():
        assert (counts["writes"], counts["reads"]) == (120, 150)
        assert 30 < counts["refused"] < 90
        assert counts["at once"] > 30
    assert seen["address first"]["address alone"] >= 5 * 120
    assert seen["address first"]["data alone"] == 0
    assert seen["data first"]["data alone"] >= 5 * 120
    assert seen["data first"]["address alone"] <= 120  # the bench's master hands over the address first
    for name in ("b", "r"):
        assert seen["answers wait"][f"{name} waited"] > 200
        assert seen["back to back"][f"{name} waited"] == 0
        assert seen["at random"][f"{name} waited"] > 50
    assert min(seen["at random"][what] for what in ("address alone", "data alone", "together")) > 30
