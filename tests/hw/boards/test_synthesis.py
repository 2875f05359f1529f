"""Synthesis for ECP5: what is counted, and what is refused."""

from collections import Counter

import pytest
from ropewalk.boards.synthesis import synthesise
from ropewalk.boards.yosys import SynthesisError
from ropewalk.errors import BuildError


def module(body, ports="input clk, input [17:0] a, b, input e, output reg [35:0] p"):
    return {"m.v": f"module ropewalk({ports});\n{body}\nendmodule\n"}


PRODUCT = """reg [17:0] x, y; reg [35:0] q;
always @(posedge clk) begin {x} {y} q <= x * y; p <= q; end"""


def test_registers_move_into_a_multiplier():
    found = synthesise(module(PRODUCT.format(x="x <= a;", y="y <= b;")))
    assert (found.multipliers, found.registers, found.comb) == (1, 0, 0)
    cell = next(c for c in found.netlist["modules"]["ropewalk"]["cells"].values() if c["type"] == "MULT18X18D")
    for register in ("REG_INPUTA", "REG_INPUTB", "REG_PIPELINE", "REG_OUTPUT"):
        assert cell["parameters"][f"{register}_CLK"] == "CLK0"
    # The operands are the module's own inputs now.
    ports = found.netlist["modules"]["ropewalk"]["ports"]
    operands = {cell["connections"][f"{side}{bit}"][0] for side in "AB" for bit in range(18)}
    assert operands == {*ports["a"]["bits"], *ports["b"]["bits"]}
    assert [cell["connections"][f"P{bit}"][0] for bit in range(36)] == ports["p"]["bits"]


def test_a_register_with_an_enable_stays_outside():
    found = synthesise(module(PRODUCT.format(x="if (e) x <= a;", y="y <= b;")))
    assert (found.multipliers, found.registers) == (1, 18)


def test_a_result_that_something_else_reads_stays_outside():
    found = synthesise(module(PRODUCT.format(x="x <= a;", y="y <= b;") + "\nassign s = q[3];",
                              "input clk, input [17:0] a, b, output s, output reg [35:0] p"))  # fmt: skip
    # The first result is seen outside: it is the block's own register; the second cannot be.
    assert (found.multipliers, found.registers) == (1, 36)


MEMORY = """reg [13:0] place, from; reg store; reg [BITS-1:0] word, data;
(* no_rw_check *) reg [HALF-1:0] m [0:16383], n [0:16383];
always @(posedge clk) begin
  place <= to; from <= address; store <= e; word <= w; data <= {m[from], n[from]}; p <= data; s <= from[0];
  if (store) begin m[place] <= word[HALF-1:0]; n[place] <= word[BITS-1:HALF]; end
end"""


@pytest.mark.parametrize(("half", "copies"), [(64, 8), (32, 4), (20, 1)])
def test_registers_that_many_block_rams_read_are_copied(half, copies):
    """Each copy for 16 blocks: of both addresses and the write enable, where more than 48 blocks read them."""
    ports = "input clk, e, input [13:0] to, address, input [BITS-1:0] w, output reg s, output reg [BITS-1:0] p"
    files = module(MEMORY, ports)
    files["m.v"] = files["m.v"].replace("BITS", str(2 * half)).replace("HALF", str(half))
    found = synthesise(files)
    assert found.block_rams == 2 * half
    # Those of the data, of the addresses and the enable, and that whose output another register reads.
    assert found.registers == 2 * half + 1 + 29 * copies + (copies > 1)
    inside = found.netlist["modules"]["ropewalk"]
    cells = inside["cells"].values()
    registers = {cell["connections"]["Q"][0]: cell for cell in cells if cell["type"] == "TRELLIS_FF"}
    read: Counter[int] = Counter()
    for cell in cells:
        if cell["type"] == "DP16KD":
            read.update({bits[0] for bits in cell["connections"].values() if bits and bits[0] in registers})
    assert max(read.values()) == (16 if copies > 1 else 40)
    for name in ("e", "to", "address"):
        for bit in inside["ports"][name]["bits"]:
            driven = [out for out, cell in registers.items() if cell["connections"]["DI"] == [bit]]
            assert len(driven) == copies + (copies > 1 and bit == inside["ports"]["address"]["bits"][0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("always @* if (e) p[0] = a[0];", "latch|Latch"),
        (
            "wire w; assign w = a[0]; assign w = b[0]; always @(posedge clk) p <= w;",
            r"conflicting drivers for ropewalk\..*: module input [ab]\[0\]; module input [ab]\[0\]$",
        ),
        ("wire nobody; always @(posedge clk) p <= nobody;", r"Wire ropewalk\.\\nobody is used but has no driver"),
        (
            "wire one, other; assign one = other ^ a[0], other = one & b[0]; always @(posedge clk) p <= one;",
            r"found logic loop in module ropewalk: .*wire \\(one|other)",
        ),
        (
            "reg [17:0] m [0:63]; always @(posedge clk) begin if (e) m[a] <= b; if (a[7]) m[b] <= a; end\n"
            "always @* p = m[a[5:0]] ^ m[b[5:0]];",
            "RAM m of 64 x 18 bits|problems",
        ),
        ("missing one(clk);", "missing"),
    ],
)
def test_what_is_unsound_is_refused(body, message):
    with pytest.raises(SynthesisError, match=message):
        synthesise(module(body))


def test_a_run_that_takes_too_long_is_given_up():
    with pytest.raises(BuildError, match="Yosys was not done after 0.01 s"):
        synthesise(module("always @(posedge clk) p <= a;"), timeout=0.01)
