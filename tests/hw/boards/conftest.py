"""Small modules to be built."""

import pytest
from amaranth.hdl import ClockDomain, ClockSignal, Module, Signal
from amaranth.lib.wiring import In, Out
from ropewalk.boards.pll import Pll
from ropewalk.boards.registry import PORTS
from ropewalk.boards.unit import Unit
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.component import Component

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


class Blinky(Component):
    """A board's top: a counter on the clock that a PLL makes."""

    def __init__(self, board):
        self._board = board
        directions = {port: Out if port in ("uart_tx", "led_pass", "led_fail") else In for port in PORTS}
        super().__init__({port: flow(1) for port, flow in directions.items()})

    def elaborate(self, platform):
        m = Module()
        board = self._board
        m.submodules.pll = pll = Pll(board.device.family, board.clock_mhz, board.target_mhz)
        m.domains.sync = ClockDomain(reset_less=True)
        count = Signal(12)
        m.d.comb += [pll.pin.eq(self.clk), ClockSignal().eq(pll.clock)]
        m.d.sync += count.eq(count + 1)
        m.d.comb += [
            self.uart_tx.eq(self.uart_rx),
            self.led_pass.eq(count[-1] & pll.locked),
            self.led_fail.eq(self.reset_button),
        ]
        return m


@pytest.fixture
def counter():
    """A component ``accumulator`` that adds to 16 bits, between registers, and an input that nothing reads."""
    return Unit(files={"ropewalk.v": COUNTER}, clock="clk")


@pytest.fixture
def blinky():
    """Makes a top module for a board: a counter on its own clock, and a wire from the serial input to the output."""

    def make(board):
        return Unit(files=emit_top(Blinky(board), {}), clock="clk")

    return make
