"""What Yosys makes of the multipliers of each family, and of their sums: blocks, with their registers in use."""

import json

import pytest
from amaranth.hdl import signed, unsigned
from ropewalk.boards.yosys import run_yosys
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.primitives import Multiplier, MultiplyAdd

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


def cells(component, family, folder) -> list[dict]:
    files = emit_top(component, {}, family=family)
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
    found = [cell for cell in cells(Multiplier(a, b), family, tmp_path) if cell["type"] not in ("GND", "VCC")]
    assert [cell["type"] for cell in found] == [kind]
    assert {found[0]["parameters"][register].lstrip("0") for register in registers} == {used}


def test_on_ice40_operands_and_product_stay_in_the_block(tmp_path):
    found = cells(Multiplier(signed(18), unsigned(14)), "ice40", tmp_path)
    (block,) = [cell for cell in found if cell["type"] == "SB_MAC16"]
    assert {name for name, value in block["parameters"].items() if "REG" in name and value.strip("0")} == {
        "A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"
    }  # fmt: skip


SUMS = {
    "ice40": (2, BLOCK["ice40"][1], ("C_REG", "D_REG")),
    "xilinx": (2, BLOCK["xilinx"][1], ("CREG",)),
}
"""The blocks of a sum of two products, the registers of each, and those of the second, for what the first gives."""


@pytest.mark.parametrize(
    ("family", "widths", "tables"),
    # The sign of a sum of 33 bits. On Xilinx a negation: a look-up table for a bit.
    [("ice40", (16, 16), 2), ("ice40", (8, 16), 0), ("xilinx", (16, 18), 34)],
    ids=str,
)
def test_a_sum_of_products_is_made_in_the_blocks(family, widths, tables, tmp_path):
    a, b = widths
    found = cells(MultiplyAdd(signed(a), unsigned(b), constant=1 << b - 2), family, tmp_path)
    kind = BLOCK[family][0]
    number, registers, held = SUMS[family]
    blocks = [cell["parameters"] for cell in found if cell["type"] == kind]
    assert len(blocks) == number
    on = [{name for name, value in block.items() if "REG" in name and value.strip("0")} for block in blocks]
    assert all(set(registers) <= names for names in on)
    assert sum(set(held) <= names for names in on) == 1
    assert sum(cell["type"].startswith(("LUT", "SB_LUT", "ALU")) for cell in found) <= tables
