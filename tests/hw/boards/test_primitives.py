"""Verilog that is made of a family's own primitives: a build leaves them as they are."""

import re
import subprocess

import pytest
from amaranth.hdl import signed, unsigned
from ropewalk.boards.build import build
from ropewalk.boards.parts import part_of
from ropewalk.boards.unit import Unit
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.primitives import Multiplier
from ropewalk_sim.cells import cell_models

MULTIPLIED = """
module bench;
  reg clk = 0;
  reg signed [WIDTH-1:0] a = 0;
  reg [13:0] b = 0;
  wire signed [WIDTH+13:0] p;
  reg signed [WIDTH+13:0] one, two, three;
  integer seed = 1, number, wrong = 0;
  ropewalk dut(.clk(clk), .rst(1'b0), .a(a), .b(b), .p(p));
  always #5 clk = ~clk;
  initial begin
    for (number = 0; number < 1000; number = number + 1) begin
      @(negedge clk);
      if (number > 3 && p !== three) wrong = wrong + 1;
      three = two; two = one; a = $random(seed); b = $random(seed); one = a * $signed({1'b0, b});
    end
    $display("%0d wrong", wrong);
    $finish;
  end
endmodule
"""


@pytest.mark.parametrize(("width", "registers"), [(16, 6), (18, 3)])
def test_a_build_leaves_the_multipliers_of_ice40_their_registers(width, registers, tmp_path):
    """Yosys' -dsp, which infers multipliers, takes the registers out of those that are there (docs/families.md)."""
    files = emit_top(Multiplier(signed(width), unsigned(14)), {}, family="ice40")
    made = build(Unit(files=files, clock="clk", family="ice40"), part_of("ICE40UP5K-SG48"))
    netlist = made.files["netlist.v"].decode()
    assert made.report.dsp == 1
    kept = re.findall(r"\.(\w*REG\w*)\(1'h1\)", netlist)
    assert len(kept) == registers and {"A_REG", "B_REG", "PIPELINE_16x16_MULT_REG2"} <= set(kept)
    (tmp_path / "netlist.v").write_text(netlist)
    (tmp_path / "bench.v").write_text(MULTIPLIED.replace("WIDTH", str(width)))
    models = map(str, cell_models("ice40", tmp_path))
    sources = ["bench.v", "netlist.v", *models]
    subprocess.run(["iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", *sources], cwd=tmp_path, check=True)
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "0 wrong"
