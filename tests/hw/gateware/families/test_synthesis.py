"""What Yosys makes of the multipliers of each family: one block, with its registers in use, and nothing beside it."""

import json

import pytest
from amaranth.hdl import signed, unsigned
from ropewalk.boards.yosys import run_yosys
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.primitives import Multiplier

SYNTHESIS = {
    "ecp5": "synth_ecp5",
    "ice40": "synth_ice40",
    "gowin": "synth_gowin -noiopads",
    "xilinx": "synth_xilinx -noiopad -noclkbuf",
}

BLOCK = {
    "ecp5": ("MULT18X18D", [f"REG_{name}_CLK" for name in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")], "CLK0"),
    "ice40": ("SB_MAC16", ["A_REG", "B_REG", "TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1",
                           "PIPELINE_16x16_MULT_REG2"], "1"),
    "gowin": ("MULT18X18", ["AREG", "BREG", "PIPE_REG", "OUT_REG"], "1"),
    "xilinx": ("DSP48E1", ["AREG", "BREG", "MREG", "PREG"], "1"),
}  # fmt: skip
"""The cell, the parameters of its registers, and their value where they are in use."""


def cells(shapes, family, folder) -> list[dict]:
    files = emit_top(Multiplier(*shapes), {}, family=family)
    (folder / "ropewalk.v").write_text(files["ropewalk.v"])
    run_yosys(folder, {}, f"read_verilog ropewalk.v\n{SYNTHESIS[family]} -top ropewalk\nwrite_json netlist.json\n")
    netlist = json.loads((folder / "netlist.json").read_text())
    return list(netlist["modules"]["ropewalk"]["cells"].values())


NARROW = [(signed(16), unsigned(16)), (unsigned(16), unsigned(16)), (unsigned(6), unsigned(16))]
WIDE = [(signed(17), unsigned(18)), (signed(18), unsigned(14))]
CASES = [(family, *shapes) for family in SYNTHESIS for shapes in (NARROW if family == "ice40" else NARROW + WIDE)]


@pytest.mark.parametrize(("family", "a", "b"), CASES, ids=str)
def test_a_multiplier_is_one_block(family, a, b, tmp_path):
    kind, registers, used = BLOCK[family]
    found = [cell for cell in cells((a, b), family, tmp_path) if cell["type"] not in ("GND", "VCC")]
    assert [cell["type"] for cell in found] == [kind]
    assert {found[0]["parameters"][register].lstrip("0") for register in registers} == {used}


def test_on_ice40_operands_and_product_stay_in_the_block(tmp_path):
    found = cells((signed(18), unsigned(14)), "ice40", tmp_path)
    (block,) = [cell for cell in found if cell["type"] == "SB_MAC16"]
    assert {name for name, value in block["parameters"].items() if "REG" in name and value.strip("0")} == {
        "A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"
    }  # fmt: skip
