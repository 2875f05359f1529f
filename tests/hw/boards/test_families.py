"""What Yosys makes of small modules for each family, and how that is counted."""

import re
import subprocess
import sys

import pytest
from ropewalk.boards.families import ECP5, GW1N, GW2A, ICE40, XILINX
from ropewalk.boards.memories import BLOCK, DISTRIBUTED, LOGIC
from ropewalk.boards.synthesis import netlist_verilog, synthesise
from ropewalk.boards.yosys import SynthesisError
from ropewalk.design import Design
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.slot_places import SlotPlaces
from ropewalk.geometry.rotary import RotaryGeometry, Variant

FAMILIES = {"ecp5": ECP5, "ice40": ICE40, "gw1n": GW1N, "gw2a": GW2A, "xilinx": XILINX}


def module(body, ports):
    return {"ropewalk.v": f"module ropewalk({ports});\n{body}\nendmodule\n"}


PRODUCT = module(
    "reg signed [15:0] x, y; always @(posedge clk) begin x <= a; y <= b; p <= x * y; end",
    "input clk, input signed [15:0] a, b, output reg signed [31:0] p",
)
ROM = module(
    "(* rom_style = \"block\" *) reg [15:0] rom [0:255]; integer i;\n"
    "initial for (i = 0; i < 256; i = i + 1) rom[i] = i * 257;\n"
    "always @(posedge clk) q <= rom[a];",
    "input clk, input [7:0] a, output reg [15:0] q",
)  # fmt: skip
QUEUE = module(
    "reg [7:0] ram [0:15]; always @(posedge clk) if (e) ram[w] <= d; assign q = ram[r];",
    "input clk, e, input [3:0] w, r, input [7:0] d, output [7:0] q",
)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_product_of_16_bits_takes_one_multiplier(family):
    found = synthesise(PRODUCT, family=family)
    assert (found.multipliers, found.block_rams, found.luts, found.carries) == (1, 0, 0, 0)
    # What does not move into the block by itself: Yosys moves registers on iCE40 and Xilinx, we on ECP5.
    assert found.registers == (64 if family in (GW1N, GW2A) else 0)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_rom_of_4_kbit_takes_one_block(family):
    found = synthesise(ROM, family=family)
    assert found.block_rams == (0.5 if family is XILINX else 1)
    (memory,) = found.memories
    assert (memory.words, memory.width, memory.kind) == (256, 16, BLOCK)


@pytest.mark.parametrize("family", [ECP5, GW1N], ids=["ecp5", "gw1n"])
def test_a_queue_lies_in_look_up_tables(family):
    found = synthesise(QUEUE, family=family)
    (memory,) = found.memories
    assert (memory.kind, found.registers, found.block_rams) == (DISTRIBUTED, 0, 0)
    assert found.distributed_rams == 2
    assert found.comb > found.luts


def test_a_small_queue_may_become_registers_only_where_there_is_nothing_else():
    assert synthesise(QUEUE, family=ICE40).registers == 16 * 8
    # As the slot store asks for it: Yosys by itself refuses that where a part has no such RAM.
    asked = {"ropewalk.v": QUEUE["ropewalk.v"].replace("reg [7:0]", '(* ram_style = "distributed" *) reg [7:0]')}
    assert synthesise(asked, family=ICE40).registers == 16 * 8
    large = {name: text.replace("[3:0]", "[7:0]").replace("0:15", "0:255") for name, text in QUEUE.items()}
    with pytest.raises(SynthesisError, match="the RAM ram of 256 x 8 bits has become registers or logic"):
        synthesise(large, family=ICE40)


@pytest.mark.parametrize("family", [ICE40, GW1N], ids=["ice40", "gw1n"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @* if (e) p = a[0];", "latch|Latch"),
        ("wire w; assign w = a[0]; assign w = b[0]; always @(posedge clk) p <= w;", "onflict|problems"),
    ],
)
def test_what_is_unsound_is_refused_for_other_families_too(family, body, message):
    with pytest.raises(SynthesisError, match=message):
        synthesise(module(body, "input clk, e, input [1:0] a, b, output reg p"), family=family)


TWICE = "reg [15:0] x, y; reg [31:0] q; always @(posedge clk) begin {} p <= q; end"


@pytest.mark.parametrize(
    ("registers", "message"),
    [
        # Yosys would make the result a constant here, and only warn.
        ("x <= a; y <= b; q <= x * y;", "Driver-driver conflict for .*p.*; generate it with --family ice40"),
        ("q <= a * b;", r"Yosys crashed \(signal 11\).*; generate it with --family ice40"),
    ],
)
def test_what_yosys_gets_wrong_about_two_product_registers_is_refused(registers, message):
    ports = "input clk, input [15:0] a, b, output reg [31:0] p"
    with pytest.raises(SynthesisError, match=message):
        synthesise(module(TWICE.format(registers), ports), family=ICE40)


BENCH = """
`timescale 1ns/1ps
module bench;
  reg clk = 0;
  reg signed [15:0] a = 0, b = 0;
  wire signed [31:0] p;
  reg signed [31:0] one, two;
  integer seed = 1, number;
  ropewalk dut(.clk(clk), .a(a), .b(b), .p(p));
  always #5 clk = ~clk;
  initial begin
    for (number = 0; number < 1000; number = number + 1) begin
      @(negedge clk);
      if (number > 3 && p !== two) begin $display("differs at %0d: %0d, %0d", number, p, two); $finish; end
      two = one; a = $random(seed); b = $random(seed); one = a * b;
    end
    $display("equal");
    $finish;
  end
endmodule
"""


def test_the_netlist_simulates_as_its_verilog_says(tmp_path):
    """For iCE40, of which Yosys has the models of the cells."""
    verilog = netlist_verilog(synthesise(PRODUCT, family=ICE40))
    assert re.search(r"^module ropewalk\(", verilog, re.MULTILINE)
    assert "SB_MAC16" in verilog
    (tmp_path / "netlist.v").write_text(verilog)
    (tmp_path / "bench.v").write_text(BENCH)
    models = subprocess.run(
        [sys.executable, "-c", "import pyosys; print(pyosys.__path__[0])"], capture_output=True, text=True, check=True
    ).stdout.strip()
    command = ["iverilog", "-g2012", "-DNO_ICE40_DEFAULT_ASSIGNMENTS", "-o", "bench", "bench.v", "netlist.v"]
    subprocess.run([*command, f"{models}/share/ice40/cells_sim.v"], cwd=tmp_path, check=True)
    done = subprocess.run(["vvp", "bench"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "equal"


@pytest.mark.parametrize(("family", "kind"), [(ECP5, DISTRIBUTED), (GW1N, DISTRIBUTED), (ICE40, LOGIC)])
def test_where_slots_lie_is_held_by_what_the_part_has(family, kind):
    """An iCE40 has no RAM that is read in the same clock, and Yosys refuses one that asks for it."""
    shape = {"head_dim": 16, "rotary_dim": 16, "rotary_start": 0, "query_heads": 1, "key_heads": 1}
    variant = Variant(name="one", inverse_frequency=(0.5,) * 8, amplitude=1.0, max_position=100)
    geometry = RotaryGeometry(
        model_type="test",
        **shape,
        pairing="interleaved",
        output_pairing="interleaved",
        layers=None,
        variants=(variant,),
    )
    name = {ECP5: "ecp5", GW1N: "gowin", ICE40: "ice40"}[family]
    found = synthesise(emit_top(SlotPlaces(Design(geometry=geometry, lanes=1)), {}, family=name), family=family)
    assert {memory.name: memory.kind for memory in found.memories}["looked_up"] == kind
