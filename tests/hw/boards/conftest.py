"""Small modules to be built."""

import pytest
from ropewalk.boards.unit import Unit

COUNTER = """module inner(input clk, input [15:0] step, output reg [15:0] total);
reg [15:0] held;
initial total = 0;
always @(posedge clk) begin held <= step; total <= total + held; end
endmodule
module ropewalk(input clk, input [15:0] step, input [3:0] unused, output reg [15:0] count);
wire [15:0] total;
inner accumulator(.clk(clk), .step(step), .total(total));
always @(posedge clk) count <= total;
endmodule
"""

BLINKY = """module ropewalk(input clk, reset_button, uart_rx, output uart_tx, led_pass, led_fail);
reg [9:0] count = 0;
always @(posedge clk) count <= reset_button ? 0 : count + 1;
assign uart_tx = uart_rx;
assign led_pass = count[9], led_fail = ~count[9];
endmodule
"""


@pytest.fixture
def counter():
    """A component ``accumulator`` that adds to 16 bits, between registers, and an input that nothing reads."""
    return Unit(files={"ropewalk.v": COUNTER}, clock="clk")


@pytest.fixture
def blinky():
    """A module with the ports of a board: 10 registers, and a wire from the serial input to the output."""
    return Unit(files={"ropewalk.v": BLINKY}, clock="clk")
