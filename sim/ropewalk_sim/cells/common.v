// What the cell models of several families share. Plain Verilog-2005, no delays, no unknown values of its own.

/* verilator lint_off DECLFILENAME */
/* verilator lint_off WIDTH */
/* verilator lint_off UNUSEDSIGNAL */

// A register that a parameter switches on. Reset has priority over the clock enable; it starts at 0.
module ropewalk_register #(
    parameter WIDTH = 1,
    parameter PRESENT = 1,      // 0: a wire
    parameter ASYNC_RESET = 0
) (
    input clk, enable, reset,
    input [WIDTH-1:0] d,
    output [WIDTH-1:0] q
);
  generate
    if (PRESENT) begin : present
      reg [WIDTH-1:0] held = 0;
      wire clear = ASYNC_RESET ? reset : 1'b0;
      assign q = held;
      always @(posedge clk or posedge clear)
        if (clear) held <= 0;
        else if (reset) held <= 0;
        else if (enable) held <= d;
    end else begin : absent
      assign q = d;
    end
  endgenerate
endmodule

// Stops at the first clock where a control pin is not connected: an open pin is not 0 on the part, for the place and
// route tools leave it at their own default. (Not seen in Verilator, which has no open pins.)
module ropewalk_connected #(
    parameter PINS = 1
) (
    input clk,
    input [PINS-1:0] pins
);
`ifndef VERILATOR
  reg checked = 0;
  integer i;
  always @(posedge clk)
    if (!checked) begin
      checked <= 1;
      for (i = 0; i < PINS; i = i + 1)
        if (pins[i] === 1'bz) begin
          $display("%m: pin %0d of those listed here is not connected", i);
          $finish;
        end
    end
`endif
endmodule

// A block RAM with two ports: 512 quads of four bytes, a byte being 8 or 9 bits.
//
// An address is 14 bits, as both vendors count: [13:5] chooses the quad, [4:3] the byte in it, [2:0] the bit in it. A
// word of two or four bytes ignores [1:0] or [3:0] as an address; when it is written they are its byte enables. Words
// narrower than a byte use 8 of its bits.
//
// A read is loaded into the port's latch at the clock; an output register can follow. Contents, latch and register are
// defined from time 0 on. What the parts leave undefined comes out as the complement of what is stored, so that a
// design that needs it fails: the bits that the other port writes in the same clock, and, unless UNWRITTEN_SHOWN, the
// bytes of a write-through that were not enabled. Two ports that write one byte in the same clock stop the simulation.
// "The same clock" is the same time, and the other port's clock still high: simulators that never advance their time
// are served by the second half.
module ropewalk_block_ram #(
    parameter BYTE = 9,
    parameter WIDTH_A = 18, WIDTH_B = 18,            // 1, 2, 4, or 1, 2, 4 bytes
    parameter WRITE_MODE_A = 0, WRITE_MODE_B = 0,    // what a write puts into the latch: 0 nothing, 1 new, 2 old word
    parameter REGISTERED_A = 0, REGISTERED_B = 0,
    parameter ASYNC_RESET = 0,                       // of latches and registers, for both ports
    parameter RESET_BLOCKS_WRITES = 0,               // a synchronous one
    parameter REGISTER_RESET_NEEDS_ENABLE = 0,       // a synchronous one
    parameter UNWRITTEN_SHOWN = 1,
    parameter PAIR_STRIDE = 2 * BYTE,                // bits of INIT from one pair of bytes to the next
    parameter INIT = 0
) (
    // Port A is bit 0, or the low part; port B the high.
    input [1:0] clk, enable, write, register_enable, reset,
    input [27:0] address,
    input [71:0] data,
    output [71:0] q
);
  localparam QUAD = 4 * BYTE, NOTE = 74 + QUAD;

  /* verilator lint_off MULTIDRIVEN */
  /* verilator lint_off BLKSEQ */
  reg [BYTE-1:0] memory [0:2047];
  // A read and a write of one clock meet in whichever process comes second, and so do two writes. Each port leaves a
  // note of its last write and its last read: {in this clock, time, quad, bits}, and of a read its number, by which the
  // writer says which read it spoils. A note is assigned at once, and what the latches see has one process that changes
  // it, because Verilator splits processes and orders the parts as it likes.
  reg [NOTE-1:0] wrote [0:1];
  reg [NOTE+31:0] loaded [0:1];
  reg [QUAD-1:0] spoilt [0:1];                       // bits of the latches to complement, known when loaded
  reg [QUAD-1:0] spoilt_later [0:1];                 // and found by the other port
  reg [31:0] spoilt_load [0:1];
  integer i;
  reg [1024*PAIR_STRIDE-1:0] contents;               // Icarus takes long to select from a constant of this size
  initial begin
    contents = INIT;
    for (i = 0; i < 2048; i = i + 1) memory[i] = contents[(i / 2) * PAIR_STRIDE + (i % 2) * BYTE +: BYTE];
    for (i = 0; i < 2; i = i + 1) begin
      wrote[i] = 0;
      loaded[i] = 0;
      spoilt_load[i] = 0;
    end
  end

  function [3:0] bytes_of(input [QUAD-1:0] bits);
    bytes_of = {|bits[3*BYTE +: BYTE], |bits[2*BYTE +: BYTE], |bits[BYTE +: BYTE], |bits[0 +: BYTE]};
  endfunction

  genvar p;
  generate
    for (p = 0; p < 2; p = p + 1) begin : port
      localparam OTHER = 1 - p;
      localparam WIDTH = p ? WIDTH_B : WIDTH_A;
      localparam WRITE_MODE = p ? WRITE_MODE_B : WRITE_MODE_A;
      localparam BYTES = WIDTH / BYTE;               // 0: narrower than a byte

      wire [13:0] a = address[14*p +: 14];
      wire [8:0] quad = a[13:5];
      wire [5:0] offset = BYTES == 4 ? 0 : BYTES == 2 ? 2 * BYTE * a[4] : BYTES == 1 ? BYTE * a[4:3]
          : BYTE * a[4:3] + a[2:0] / WIDTH * WIDTH;
      wire [3:0] byte_enable = BYTES == 4 ? a[3:0] : BYTES == 2 ? {a[1:0], a[1:0]} : 4'b1111;
      wire [QUAD-1:0] word = {QUAD{1'b1}} >> (QUAD - WIDTH) << offset;
      wire [QUAD-1:0] written = word & {
          {BYTE{byte_enable[3]}}, {BYTE{byte_enable[2]}}, {BYTE{byte_enable[1]}}, {BYTE{byte_enable[0]}}};
      wire [QUAD-1:0] incoming = data[36*p +: QUAD] << offset;
      wire [3:0] bytes = bytes_of(written);

      wire writes = enable[p] & write[p] & ~(RESET_BLOCKS_WRITES && !ASYNC_RESET && reset[p]);
      always @(posedge clk[p])
        if (writes) begin
          if (bytes[0]) memory[{quad, 2'd0}] <= memory[{quad, 2'd0}] & ~written[0 +: BYTE]
              | incoming[0 +: BYTE] & written[0 +: BYTE];
          if (bytes[1]) memory[{quad, 2'd1}] <= memory[{quad, 2'd1}] & ~written[BYTE +: BYTE]
              | incoming[BYTE +: BYTE] & written[BYTE +: BYTE];
          if (bytes[2]) memory[{quad, 2'd2}] <= memory[{quad, 2'd2}] & ~written[2*BYTE +: BYTE]
              | incoming[2*BYTE +: BYTE] & written[2*BYTE +: BYTE];
          if (bytes[3]) memory[{quad, 2'd3}] <= memory[{quad, 2'd3}] & ~written[3*BYTE +: BYTE]
              | incoming[3*BYTE +: BYTE] & written[3*BYTE +: BYTE];
          wrote[p] = {1'b1, $time, quad, written};
          if (wrote[OTHER][NOTE-1:QUAD] == wrote[p][NOTE-1:QUAD] && |(bytes & bytes_of(wrote[OTHER][QUAD-1:0]))) begin
            $display("%m: both ports write the same byte in the same clock (quad %0d)", quad);
            $finish;
          end
          if (loaded[OTHER][NOTE+31:QUAD+32] == wrote[p][NOTE-1:QUAD]) begin
            spoilt_later[OTHER] <= loaded[OTHER][QUAD+31:32] & written;
            spoilt_load[OTHER] <= loaded[OTHER][31:0];
          end
        end

      reg [QUAD-1:0] latch;
      reg [5:0] latched_offset;
      reg [31:0] latched_load;
      initial begin
        latch = 0;
        latched_offset = 0;
        latched_load = 0;
        spoilt[p] = 0;
        spoilt_later[p] = 0;
      end
      wire clear = ASYNC_RESET ? reset[p] : 1'b0;
      wire through = write[p] && WRITE_MODE == 1;
      always @(posedge clk[p] or posedge clear)
        if (clear || reset[p]) begin
          loaded[p] = {{NOTE{1'b0}}, loaded[p][31:0] + 32'd1};
          latch <= 0;
          latched_load <= loaded[p][31:0];
          spoilt[p] <= 0;
        end else if (enable[p] && (!write[p] || WRITE_MODE != 0)) begin
          loaded[p] = {1'b1, $time, quad, word & ~(through ? written : {QUAD{1'b0}}), loaded[p][31:0] + 32'd1};
          latch <= {memory[{quad, 2'd3}], memory[{quad, 2'd2}], memory[{quad, 2'd1}], memory[{quad, 2'd0}]}
              & ~(through ? written : {QUAD{1'b0}}) | (through ? incoming & written : {QUAD{1'b0}});
          latched_offset <= offset;
          latched_load <= loaded[p][31:0];
          spoilt[p] <= through && !UNWRITTEN_SHOWN ? loaded[p][QUAD+31:32]
              : wrote[OTHER][NOTE-1:QUAD] == loaded[p][NOTE+31:QUAD+32] ? loaded[p][QUAD+31:32] & wrote[OTHER][QUAD-1:0]
              : {QUAD{1'b0}};
        end

      always @(negedge clk[p]) begin
        wrote[p][NOTE-1] = 0;
        loaded[p][NOTE+31] = 0;
      end

      wire [QUAD-1:0] unknown = spoilt[p] | (latched_load == spoilt_load[p] ? spoilt_later[p] : {QUAD{1'b0}});
      wire [35:0] shown = (latch ^ unknown) >> latched_offset & {QUAD{1'b1}} >> (QUAD - WIDTH);
      ropewalk_register #(.WIDTH(36), .PRESENT(p ? REGISTERED_B : REGISTERED_A), .ASYNC_RESET(ASYNC_RESET)) register (
          .clk(clk[p]), .enable(register_enable[p]),
          .reset(reset[p] & (register_enable[p] | ASYNC_RESET | !REGISTER_RESET_NEEDS_ENABLE)),
          .d(shown), .q(q[36*p +: 36]));
    end
  endgenerate
  /* verilator lint_on BLKSEQ */
  /* verilator lint_on MULTIDRIVEN */
endmodule

/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on WIDTH */
/* verilator lint_on DECLFILENAME */
