"""Verilator takes each model as a top of its own, with all its warnings on."""

import re

import pytest
from ropewalk_sim.cells import HERE, OWN_FILES
from ropewalk_sim.engines.toolchain import run_tool, verilator_root

MODULES = [
    (family, module)
    for family in ("ecp5", "gowin")
    for module in re.findall(r"^module (?!ropewalk)(\w+)", (HERE / f"{family}.v").read_text(), re.M)
]


@pytest.mark.parametrize(("family", "module"), MODULES)
def test_a_model_alone(family, module):
    program = verilator_root() / "bin" / "verilator_bin"
    files = [HERE / name for name in OWN_FILES[family]]
    run_tool("Verilator", [program, "--lint-only", "-Wall", "--top-module", module, *files])


def test_every_model_is_among_them():
    ecp5 = {"MULT18X18D", "DP16KD", "PDPW16KD"}
    gowin = {"MULT9X9", "MULT18X18", "MULT36X36", "MULTALU36X18", "MULTADDALU18X18"}
    gowin |= {"SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"}
    assert set(MODULES) == {("ecp5", module) for module in ecp5} | {("gowin", module) for module in gowin}
