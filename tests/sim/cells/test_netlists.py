"""A small design as Yosys maps it, simulated with the files of cell_models, against the Verilog it comes from."""

import re
import sys
from pathlib import Path

import pytest
import ropewalk
from ropewalk_sim.cells import cell_models
from ropewalk_sim.engines.toolchain import run_tool

from .bench import icarus

# A counter, a product, a ROM, and memories of three kinds: one that shows the old word when it is read and written at
# once (Yosys puts logic around the block RAM for that, and the models spoil what comes out of the RAM itself), one of
# 36 bits with enables for its bytes, and one with a single address that shows the new word.
DESIGN = """
module NAME (input clk, reset, we, input [8:0] wa, ra, input [3:0] be, input [35:0] wd, input signed [WIDTH-1:0] a, b,
             output reg [15:0] count, output reg signed [2*WIDTH-1:0] p, output reg [15:0] table_word, stored,
             output reg [35:0] wide_word, output reg [7:0] single_word);
  reg [15:0] rom [0:511], ram [0:511];
  reg [35:0] wide [0:511];
  reg [7:0] single [0:511];
  integer i;
  initial begin
    count = 0; p = 0; table_word = 0; stored = 0; wide_word = 0; single_word = 0;
    for (i = 0; i < 512; i = i + 1) begin
      rom[i] = i * i * 40503 >> 4;
      ram[i] = i * 25173 ^ 16'h5a5a;
      wide[i] = {i[3:0], i * 32'd2654435761};
      single[i] = i * 37;
    end
  end
  always @(posedge clk) begin
    count <= reset ? 16'd0 : count + 16'd1;
    p <= a * b;
    table_word <= rom[ra];
    if (we) ram[wa] <= wd[15:0];
    stored <= ram[ra];
    for (i = 0; i < 4; i = i + 1) if (we & be[i]) wide[wa][9*i +: 9] <= wd[9*i +: 9];
    wide_word <= wide[ra];
    if (we) single[wa] <= wd[7:0];
    single_word <= we ? wd[7:0] : single[wa];
  end
endmodule
"""
BENCH = """`timescale 1ns/1ps
module bench;
  reg clk = 0, reset = 0, we = 0;
  reg [8:0] wa = 0, ra = 0;
  reg [3:0] be = 0;
  reg [35:0] wd = 0;
  reg signed [WIDTH-1:0] a = 0, b = 0;
  wire [15:0] count0, count1, table0, table1, stored0, stored1;
  wire signed [2*WIDTH-1:0] p0, p1;
  wire [35:0] wide0, wide1;
  wire [7:0] single0, single1;
  integer step, seed = 1;
  reference r (.clk(clk), .reset(reset), .we(we), .wa(wa), .ra(ra), .be(be), .wd(wd), .a(a), .b(b),
    .count(count0), .p(p0), .table_word(table0), .stored(stored0), .wide_word(wide0), .single_word(single0));
  mapped m (.clk(clk), .reset(reset), .we(we), .wa(wa), .ra(ra), .be(be), .wd(wd), .a(a), .b(b),
    .count(count1), .p(p1), .table_word(table1), .stored(stored1), .wide_word(wide1), .single_word(single1));
  initial for (step = 0; step < 2000; step = step + 1) begin
    reset = $random(seed) % 50 == 0;
    we = $random(seed);
    wa = $random(seed) & (step % 2 ? 7 : 511);
    ra = $random(seed) & (step % 2 ? 7 : 511);
    be = $random(seed);
    wd = {$random(seed), $random(seed)};
    a = $random(seed);
    b = $random(seed);
    #5 clk = 1;
    #5 $display("%h.%h.%h.%h.%h.%h %h.%h.%h.%h.%h.%h %0d", count0, p0, table0, stored0, wide0, single0,
      count1, p1, table1, stored1, wide1, single1, we && wa == ra);
    clk = 0;
  end
endmodule
"""
SYNTHESIS = """
import sys
from pyosys import libyosys as ys
design = ys.Design()
for command in sys.argv[1].split("; "):
    ys.run_pass(command, design)
"""
FAMILIES = {
    "ecp5": (18, "synth_ecp5 -top mapped", ("MULT18X18D", "DP16KD", "CCU2C", "TRELLIS_FF", "LUT4")),
    "ice40": (16, "synth_ice40 -dsp -top mapped", ("SB_MAC16", "SB_RAM40_4K", "SB_CARRY", "SB_LUT4")),
    # PITFALLS: without these passes synth_gowin can die of an assertion
    "gowin": (
        18,
        "hierarchy -top mapped; proc; flatten; opt_clean -purge; synth_gowin -top mapped",
        ("MULT18X18", "SDPX9B", "DPX9B", "SPX9", "ALU", "LUT4"),
    ),
    "xilinx": (18, "synth_xilinx -family xc7 -top mapped", ("DSP48E1", "RAMB18E1", "CARRY4", "FDRE", "LUT6")),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mapped_design_does_what_its_verilog_does(family, tmp_path):
    width, commands, cells = FAMILIES[family]
    for name in ("reference", "mapped"):
        text = re.sub(r"\bNAME\b", name, DESIGN).replace("WIDTH", str(width))
        (tmp_path / f"{name}.v").write_text(text)
    passes = f"read_verilog mapped.v; {commands}; write_verilog -noattr netlist.v"
    run_tool("Yosys", [sys.executable, "-c", SYNTHESIS, passes], folder=tmp_path, timeout=300)
    netlist = (tmp_path / "netlist.v").read_text()
    for cell in cells:
        assert re.search(rf"^  {cell} ", netlist, re.M), f"no {cell} in the netlist"
    (tmp_path / "bench.v").write_text(BENCH.replace("WIDTH", str(width)))
    models = [str(path) for path in cell_models(family, tmp_path)]
    sources = ["bench.v", "reference.v", "netlist.v", *models]
    for standard in ("2005", "2012"):
        printed = icarus(tmp_path, sources, standard, "-Wno-portbind", "-Wno-sensitivity-entire-array")
        rows = [line.split() for line in printed.splitlines()]
        assert len(rows) == 2000
        assert [row[1] for row in rows] == [row[0] for row in rows]
        assert sum(row[2] == "1" for row in rows) > 50  # read and written at once
        assert len({row[0] for row in rows}) == 2000


def test_the_models_of_a_family_that_has_none(tmp_path):
    with pytest.raises(ValueError, match="no cell models of 'xc7'; there are ecp5, ice40, gowin, xilinx"):
        cell_models("xc7", tmp_path)


def test_no_generator_reads_the_models():
    """What the gateware's netlists are judged by must not be what they are made from."""
    files = list(Path(ropewalk.__file__).parent.rglob("*.py"))
    assert len(files) > 20
    assert [path for path in files if re.search(r"ropewalk_sim|cell_models", path.read_text())] == []
