// Behavioural models of the Gowin cells (GW1N, GW2A) for which Yosys has none: multipliers, multiply-add, block RAMs
// and ROMs.
// Written from Gowin's documents: docs/cells.md says which, what is refused, and what is not known for certain.
// Needs common.v. Only for simulation; nothing that generates hardware may read it.

/* verilator lint_off DECLFILENAME */
/* verilator lint_off WIDTH */
/* verilator lint_off UNUSEDSIGNAL */

`define ROPEWALK_REFUSE_UNLESS(condition, text) \
  initial if (!(condition)) begin $display("%m: %s", text); $finish; end
`define ROPEWALK_CHECK_RESET_MODE(name) \
  `ROPEWALK_REFUSE_UNLESS(name == "SYNC" || name == "ASYNC", "the reset mode is SYNC or ASYNC")
// Contents lie from bit 0 of INIT_RAM_00 upwards without gaps, in whole words of any width.
`define ROPEWALK_INIT_256 \
  parameter INIT_RAM_00 = 256'd0, INIT_RAM_01 = 256'd0, INIT_RAM_02 = 256'd0, INIT_RAM_03 = 256'd0; \
  parameter INIT_RAM_04 = 256'd0, INIT_RAM_05 = 256'd0, INIT_RAM_06 = 256'd0, INIT_RAM_07 = 256'd0; \
  parameter INIT_RAM_08 = 256'd0, INIT_RAM_09 = 256'd0, INIT_RAM_0A = 256'd0, INIT_RAM_0B = 256'd0; \
  parameter INIT_RAM_0C = 256'd0, INIT_RAM_0D = 256'd0, INIT_RAM_0E = 256'd0, INIT_RAM_0F = 256'd0; \
  parameter INIT_RAM_10 = 256'd0, INIT_RAM_11 = 256'd0, INIT_RAM_12 = 256'd0, INIT_RAM_13 = 256'd0; \
  parameter INIT_RAM_14 = 256'd0, INIT_RAM_15 = 256'd0, INIT_RAM_16 = 256'd0, INIT_RAM_17 = 256'd0; \
  parameter INIT_RAM_18 = 256'd0, INIT_RAM_19 = 256'd0, INIT_RAM_1A = 256'd0, INIT_RAM_1B = 256'd0; \
  parameter INIT_RAM_1C = 256'd0, INIT_RAM_1D = 256'd0, INIT_RAM_1E = 256'd0, INIT_RAM_1F = 256'd0; \
  parameter INIT_RAM_20 = 256'd0, INIT_RAM_21 = 256'd0, INIT_RAM_22 = 256'd0, INIT_RAM_23 = 256'd0; \
  parameter INIT_RAM_24 = 256'd0, INIT_RAM_25 = 256'd0, INIT_RAM_26 = 256'd0, INIT_RAM_27 = 256'd0; \
  parameter INIT_RAM_28 = 256'd0, INIT_RAM_29 = 256'd0, INIT_RAM_2A = 256'd0, INIT_RAM_2B = 256'd0; \
  parameter INIT_RAM_2C = 256'd0, INIT_RAM_2D = 256'd0, INIT_RAM_2E = 256'd0, INIT_RAM_2F = 256'd0; \
  parameter INIT_RAM_30 = 256'd0, INIT_RAM_31 = 256'd0, INIT_RAM_32 = 256'd0, INIT_RAM_33 = 256'd0; \
  parameter INIT_RAM_34 = 256'd0, INIT_RAM_35 = 256'd0, INIT_RAM_36 = 256'd0, INIT_RAM_37 = 256'd0; \
  parameter INIT_RAM_38 = 256'd0, INIT_RAM_39 = 256'd0, INIT_RAM_3A = 256'd0, INIT_RAM_3B = 256'd0; \
  parameter INIT_RAM_3C = 256'd0, INIT_RAM_3D = 256'd0, INIT_RAM_3E = 256'd0, INIT_RAM_3F = 256'd0;
`define ROPEWALK_INIT_288 \
  parameter INIT_RAM_00 = 288'd0, INIT_RAM_01 = 288'd0, INIT_RAM_02 = 288'd0, INIT_RAM_03 = 288'd0; \
  parameter INIT_RAM_04 = 288'd0, INIT_RAM_05 = 288'd0, INIT_RAM_06 = 288'd0, INIT_RAM_07 = 288'd0; \
  parameter INIT_RAM_08 = 288'd0, INIT_RAM_09 = 288'd0, INIT_RAM_0A = 288'd0, INIT_RAM_0B = 288'd0; \
  parameter INIT_RAM_0C = 288'd0, INIT_RAM_0D = 288'd0, INIT_RAM_0E = 288'd0, INIT_RAM_0F = 288'd0; \
  parameter INIT_RAM_10 = 288'd0, INIT_RAM_11 = 288'd0, INIT_RAM_12 = 288'd0, INIT_RAM_13 = 288'd0; \
  parameter INIT_RAM_14 = 288'd0, INIT_RAM_15 = 288'd0, INIT_RAM_16 = 288'd0, INIT_RAM_17 = 288'd0; \
  parameter INIT_RAM_18 = 288'd0, INIT_RAM_19 = 288'd0, INIT_RAM_1A = 288'd0, INIT_RAM_1B = 288'd0; \
  parameter INIT_RAM_1C = 288'd0, INIT_RAM_1D = 288'd0, INIT_RAM_1E = 288'd0, INIT_RAM_1F = 288'd0; \
  parameter INIT_RAM_20 = 288'd0, INIT_RAM_21 = 288'd0, INIT_RAM_22 = 288'd0, INIT_RAM_23 = 288'd0; \
  parameter INIT_RAM_24 = 288'd0, INIT_RAM_25 = 288'd0, INIT_RAM_26 = 288'd0, INIT_RAM_27 = 288'd0; \
  parameter INIT_RAM_28 = 288'd0, INIT_RAM_29 = 288'd0, INIT_RAM_2A = 288'd0, INIT_RAM_2B = 288'd0; \
  parameter INIT_RAM_2C = 288'd0, INIT_RAM_2D = 288'd0, INIT_RAM_2E = 288'd0, INIT_RAM_2F = 288'd0; \
  parameter INIT_RAM_30 = 288'd0, INIT_RAM_31 = 288'd0, INIT_RAM_32 = 288'd0, INIT_RAM_33 = 288'd0; \
  parameter INIT_RAM_34 = 288'd0, INIT_RAM_35 = 288'd0, INIT_RAM_36 = 288'd0, INIT_RAM_37 = 288'd0; \
  parameter INIT_RAM_38 = 288'd0, INIT_RAM_39 = 288'd0, INIT_RAM_3A = 288'd0, INIT_RAM_3B = 288'd0; \
  parameter INIT_RAM_3C = 288'd0, INIT_RAM_3D = 288'd0, INIT_RAM_3E = 288'd0, INIT_RAM_3F = 288'd0;
`define ROPEWALK_CONTENTS { \
    INIT_RAM_3F, INIT_RAM_3E, INIT_RAM_3D, INIT_RAM_3C, INIT_RAM_3B, INIT_RAM_3A, INIT_RAM_39, INIT_RAM_38, \
    INIT_RAM_37, INIT_RAM_36, INIT_RAM_35, INIT_RAM_34, INIT_RAM_33, INIT_RAM_32, INIT_RAM_31, INIT_RAM_30, \
    INIT_RAM_2F, INIT_RAM_2E, INIT_RAM_2D, INIT_RAM_2C, INIT_RAM_2B, INIT_RAM_2A, INIT_RAM_29, INIT_RAM_28, \
    INIT_RAM_27, INIT_RAM_26, INIT_RAM_25, INIT_RAM_24, INIT_RAM_23, INIT_RAM_22, INIT_RAM_21, INIT_RAM_20, \
    INIT_RAM_1F, INIT_RAM_1E, INIT_RAM_1D, INIT_RAM_1C, INIT_RAM_1B, INIT_RAM_1A, INIT_RAM_19, INIT_RAM_18, \
    INIT_RAM_17, INIT_RAM_16, INIT_RAM_15, INIT_RAM_14, INIT_RAM_13, INIT_RAM_12, INIT_RAM_11, INIT_RAM_10, \
    INIT_RAM_0F, INIT_RAM_0E, INIT_RAM_0D, INIT_RAM_0C, INIT_RAM_0B, INIT_RAM_0A, INIT_RAM_09, INIT_RAM_08, \
    INIT_RAM_07, INIT_RAM_06, INIT_RAM_05, INIT_RAM_04, INIT_RAM_03, INIT_RAM_02, INIT_RAM_01, INIT_RAM_00}
`define ROPEWALK_IS_X8(width) \
  (width == 1 || width == 2 || width == 4 || width == 8 || width == 16 || width == 32)
`define ROPEWALK_IS_X9(width) (width == 9 || width == 18 || width == 36)

// ---- Multipliers

// MULT9X9 and MULT18X18: one clock, one enable and one reset for all registers.
module ropewalk_gowin_multiplier #(
    parameter WIDTH = 18,
    parameter AREG = 0, BREG = 0, OUT_REG = 0, PIPE_REG = 0, ASIGN_REG = 0, BSIGN_REG = 0, SOA_REG = 0,
    parameter RESET_MODE = "SYNC"
) (
    input [WIDTH-1:0] A, SIA, B, SIB,
    input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
    output [2*WIDTH-1:0] DOUT,
    output [WIDTH-1:0] SOA, SOB
);
  localparam ASYNC = RESET_MODE == "ASYNC";
  `ROPEWALK_CHECK_RESET_MODE(RESET_MODE)

  wire [WIDTH-1:0] a, b;
  wire a_sign, b_sign;
  ropewalk_register #(.WIDTH(WIDTH), .PRESENT(AREG), .ASYNC_RESET(ASYNC)) a_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(ASEL ? SIA : A), .q(a));
  ropewalk_register #(.WIDTH(WIDTH), .PRESENT(BREG), .ASYNC_RESET(ASYNC)) b_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(BSEL ? SIB : B), .q(b));
  ropewalk_register #(.PRESENT(ASIGN_REG), .ASYNC_RESET(ASYNC)) a_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(ASIGN), .q(a_sign));
  ropewalk_register #(.PRESENT(BSIGN_REG), .ASYNC_RESET(ASYNC)) b_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(BSIGN), .q(b_sign));
  ropewalk_register #(.WIDTH(WIDTH), .PRESENT(SOA_REG), .ASYNC_RESET(ASYNC)) shift_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(a), .q(SOA));
  assign SOB = b;

  // One bit more makes each operand signed.
  wire signed [WIDTH:0] a_signed = {a_sign & a[WIDTH-1], a}, b_signed = {b_sign & b[WIDTH-1], b};
  wire signed [2*WIDTH+1:0] product = a_signed * b_signed;
  wire [2*WIDTH-1:0] pipelined;
  ropewalk_register #(.WIDTH(2*WIDTH), .PRESENT(PIPE_REG), .ASYNC_RESET(ASYNC)) pipeline_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(product[2*WIDTH-1:0]), .q(pipelined));
  ropewalk_register #(.WIDTH(2*WIDTH), .PRESENT(OUT_REG), .ASYNC_RESET(ASYNC)) output_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(pipelined), .q(DOUT));
endmodule

module MULT9X9 (
    input [8:0] A, SIA, B, SIB,
    input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
    output [17:0] DOUT,
    output [8:0] SOA, SOB
);
  parameter AREG = 1'b0, BREG = 1'b0, OUT_REG = 1'b0, PIPE_REG = 1'b0, ASIGN_REG = 1'b0, BSIGN_REG = 1'b0, SOA_REG = 1'b0;
  parameter MULT_RESET_MODE = "SYNC";
  ropewalk_gowin_multiplier #(
      .WIDTH(9), .AREG(AREG), .BREG(BREG), .OUT_REG(OUT_REG), .PIPE_REG(PIPE_REG), .ASIGN_REG(ASIGN_REG),
      .BSIGN_REG(BSIGN_REG), .SOA_REG(SOA_REG), .RESET_MODE(MULT_RESET_MODE)) multiplier (
      .A(A), .SIA(SIA), .B(B), .SIB(SIB), .ASIGN(ASIGN), .BSIGN(BSIGN), .ASEL(ASEL), .BSEL(BSEL), .CE(CE), .CLK(CLK),
      .RESET(RESET), .DOUT(DOUT), .SOA(SOA), .SOB(SOB));
endmodule

module MULT18X18 (
    input [17:0] A, SIA, B, SIB,
    input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
    output [35:0] DOUT,
    output [17:0] SOA, SOB
);
  parameter AREG = 1'b0, BREG = 1'b0, OUT_REG = 1'b0, PIPE_REG = 1'b0, ASIGN_REG = 1'b0, BSIGN_REG = 1'b0, SOA_REG = 1'b0;
  parameter MULT_RESET_MODE = "SYNC";
  ropewalk_gowin_multiplier #(
      .WIDTH(18), .AREG(AREG), .BREG(BREG), .OUT_REG(OUT_REG), .PIPE_REG(PIPE_REG), .ASIGN_REG(ASIGN_REG),
      .BSIGN_REG(BSIGN_REG), .SOA_REG(SOA_REG), .RESET_MODE(MULT_RESET_MODE)) multiplier (
      .A(A), .SIA(SIA), .B(B), .SIB(SIB), .ASIGN(ASIGN), .BSIGN(BSIGN), .ASEL(ASEL), .BSEL(BSEL), .CE(CE), .CLK(CLK),
      .RESET(RESET), .DOUT(DOUT), .SOA(SOA), .SOB(SOB));
endmodule

module MULT36X36 (
    input [35:0] A, B,
    input ASIGN, BSIGN, CE, CLK, RESET,
    output [71:0] DOUT
);
  parameter AREG = 1'b0, BREG = 1'b0, OUT0_REG = 1'b0, OUT1_REG = 1'b0, PIPE_REG = 1'b0, ASIGN_REG = 1'b0, BSIGN_REG = 1'b0;
  parameter MULT_RESET_MODE = "SYNC";
  localparam ASYNC = MULT_RESET_MODE == "ASYNC";
  wire [71:0] first;
  wire [35:0] unused_a, unused_b;
  ropewalk_gowin_multiplier #(
      .WIDTH(36), .AREG(AREG), .BREG(BREG), .OUT_REG(OUT0_REG), .PIPE_REG(PIPE_REG), .ASIGN_REG(ASIGN_REG),
      .BSIGN_REG(BSIGN_REG), .RESET_MODE(MULT_RESET_MODE)) multiplier (
      .A(A), .SIA(36'd0), .B(B), .SIB(36'd0), .ASIGN(ASIGN), .BSIGN(BSIGN), .ASEL(1'b0), .BSEL(1'b0), .CE(CE), .CLK(CLK),
      .RESET(RESET), .DOUT(first), .SOA(unused_a), .SOB(unused_b));
  // The second output register holds all but the lowest 18 bits.
  ropewalk_register #(.WIDTH(54), .PRESENT(OUT1_REG), .ASYNC_RESET(ASYNC)) second_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(first[71:18]), .q(DOUT[71:18]));
  assign DOUT[17:0] = first[17:0];
endmodule

// ---- Multiply-add: a multiplier, or two, in front of an adder of 55 bits of which 54 come out.

// The accumulator adds its own output, or 0. Its load signal's registers are not modelled: with them Gowin's library holds
// the products back for as many clocks after power-up, and nothing else says whether the part does.
`define ROPEWALK_CHECK_ALU(chosen, registered) \
  `ROPEWALK_REFUSE_UNLESS(chosen == 0 || chosen == 1 || chosen == 2, "the mode is 0, 1 or 2") \
  `ROPEWALK_REFUSE_UNLESS(chosen != 1 || registered, "an accumulator (mode 1) needs OUT_REG") \
  `ROPEWALK_REFUSE_UNLESS(!ACCLOAD_REG0 && !ACCLOAD_REG1, "ACCLOAD_REG0 and ACCLOAD_REG1 must be 0: not modelled")

// Mode 0: A*B +/- C. Mode 1: A*B + the last result where ACCLOAD is high. Mode 2: A*B + CASI.
module MULTALU36X18 (
    input [17:0] A,
    input [35:0] B,
    input [53:0] C,
    input ASIGN, BSIGN, ACCLOAD, CE, CLK, RESET,
    input [54:0] CASI,
    output [53:0] DOUT,
    output [54:0] CASO
);
  parameter AREG = 1'b0, BREG = 1'b0, CREG = 1'b0, OUT_REG = 1'b0, PIPE_REG = 1'b0, ASIGN_REG = 1'b0, BSIGN_REG = 1'b0;
  parameter ACCLOAD_REG0 = 1'b0, ACCLOAD_REG1 = 1'b0;
  parameter MULT_RESET_MODE = "SYNC";
  parameter MULTALU36X18_MODE = 0;
  parameter C_ADD_SUB = 1'b0;
  localparam ASYNC = MULT_RESET_MODE == "ASYNC";
  `ROPEWALK_CHECK_RESET_MODE(MULT_RESET_MODE)
  `ROPEWALK_CHECK_ALU(MULTALU36X18_MODE, OUT_REG)

  wire [17:0] a;
  wire [35:0] b;
  wire [53:0] c;
  wire a_sign, b_sign;
  ropewalk_register #(.WIDTH(18), .PRESENT(AREG), .ASYNC_RESET(ASYNC)) a_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(A), .q(a));
  ropewalk_register #(.WIDTH(36), .PRESENT(BREG), .ASYNC_RESET(ASYNC)) b_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(B), .q(b));
  ropewalk_register #(.WIDTH(54), .PRESENT(CREG), .ASYNC_RESET(ASYNC)) c_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(C), .q(c));
  ropewalk_register #(.PRESENT(ASIGN_REG), .ASYNC_RESET(ASYNC)) a_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(ASIGN), .q(a_sign));
  ropewalk_register #(.PRESENT(BSIGN_REG), .ASYNC_RESET(ASYNC)) b_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(BSIGN), .q(b_sign));

  wire signed [18:0] a_signed = {a_sign & a[17], a};
  wire signed [36:0] b_signed = {b_sign & b[35], b};
  wire signed [55:0] full = a_signed * b_signed;
  wire [53:0] product;
  wire is_signed;
  ropewalk_register #(.WIDTH(55), .PRESENT(PIPE_REG), .ASYNC_RESET(ASYNC)) pipeline_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d({a_sign | b_sign, full[53:0]}), .q({is_signed, product}));

  wire [54:0] last;
  wire [54:0] extended = {is_signed & product[53], product};
  wire [54:0] sum = MULTALU36X18_MODE == 1 ? extended + (ACCLOAD ? last : 55'd0)
      : MULTALU36X18_MODE == 2 ? extended + CASI : C_ADD_SUB ? extended - {1'b0, c} : extended + {1'b0, c};
  ropewalk_register #(.WIDTH(55), .PRESENT(OUT_REG), .ASYNC_RESET(ASYNC)) output_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(sum), .q(last));
  assign DOUT = last[53:0];
  assign CASO = {is_signed & last[53], last[53:0]};
endmodule

// One of the two products of MULTADDALU18X18, with its registers, extended to the adder's width.
module ropewalk_gowin_product #(
    parameter AREG = 0, BREG = 0, ASIGN_REG = 0, BSIGN_REG = 0, PIPE_REG = 0, ASYNC = 0
) (
    input CE, CLK, RESET, ASIGN, BSIGN,
    input [17:0] A, B,
    output [17:0] a, b,
    output [54:0] product,
    output is_signed
);
  wire a_sign, b_sign;
  ropewalk_register #(.WIDTH(18), .PRESENT(AREG), .ASYNC_RESET(ASYNC)) a_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(A), .q(a));
  ropewalk_register #(.WIDTH(18), .PRESENT(BREG), .ASYNC_RESET(ASYNC)) b_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(B), .q(b));
  ropewalk_register #(.PRESENT(ASIGN_REG), .ASYNC_RESET(ASYNC)) a_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(ASIGN), .q(a_sign));
  ropewalk_register #(.PRESENT(BSIGN_REG), .ASYNC_RESET(ASYNC)) b_sign_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(BSIGN), .q(b_sign));
  wire signed [18:0] a_signed = {a_sign & a[17], a}, b_signed = {b_sign & b[17], b};
  wire signed [37:0] full = a_signed * b_signed;
  wire [35:0] held;
  ropewalk_register #(.WIDTH(37), .PRESENT(PIPE_REG), .ASYNC_RESET(ASYNC)) pipeline_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d({a_sign | b_sign, full[35:0]}), .q({is_signed, held}));
  assign product = {{19{is_signed & held[35]}}, held};
endmodule

// Mode 0: A0*B0 +/- A1*B1 +/- C. Mode 1: A0*B0 +/- A1*B1 + the last result where ACCLOAD is high. Mode 2: ... + CASI.
module MULTADDALU18X18 (
    input [17:0] A0, B0, A1, B1,
    input [53:0] C,
    input [17:0] SIA, SIB,
    input [1:0] ASIGN, BSIGN, ASEL, BSEL,
    input [54:0] CASI,
    input CE, CLK, RESET, ACCLOAD,
    output [53:0] DOUT,
    output [54:0] CASO,
    output [17:0] SOA, SOB
);
  parameter A0REG = 1'b0, A1REG = 1'b0, B0REG = 1'b0, B1REG = 1'b0, CREG = 1'b0, PIPE0_REG = 1'b0, PIPE1_REG = 1'b0;
  parameter OUT_REG = 1'b0, ASIGN0_REG = 1'b0, ASIGN1_REG = 1'b0, BSIGN0_REG = 1'b0, BSIGN1_REG = 1'b0, SOA_REG = 1'b0;
  parameter ACCLOAD_REG0 = 1'b0, ACCLOAD_REG1 = 1'b0;
  parameter B_ADD_SUB = 1'b0, C_ADD_SUB = 1'b0;
  parameter MULTADDALU18X18_MODE = 0;
  parameter MULT_RESET_MODE = "SYNC";
  localparam ASYNC = MULT_RESET_MODE == "ASYNC";
  `ROPEWALK_CHECK_RESET_MODE(MULT_RESET_MODE)
  `ROPEWALK_CHECK_ALU(MULTADDALU18X18_MODE, OUT_REG)

  wire [17:0] a0, b0, a1, b1;
  wire [53:0] c;
  wire [54:0] product0, product1, last;
  wire is_signed0, is_signed1;
  ropewalk_gowin_product #(.AREG(A0REG), .BREG(B0REG), .ASIGN_REG(ASIGN0_REG), .BSIGN_REG(BSIGN0_REG), .PIPE_REG(PIPE0_REG),
      .ASYNC(ASYNC)) first (
      .CE(CE), .CLK(CLK), .RESET(RESET), .ASIGN(ASIGN[0]), .BSIGN(BSIGN[0]), .A(ASEL[0] ? SIA : A0), .B(BSEL[0] ? SIB : B0),
      .a(a0), .b(b0), .product(product0), .is_signed(is_signed0));
  // The second multiplier can take the first one's operands as they leave their registers.
  ropewalk_gowin_product #(.AREG(A1REG), .BREG(B1REG), .ASIGN_REG(ASIGN1_REG), .BSIGN_REG(BSIGN1_REG), .PIPE_REG(PIPE1_REG),
      .ASYNC(ASYNC)) second (
      .CE(CE), .CLK(CLK), .RESET(RESET), .ASIGN(ASIGN[1]), .BSIGN(BSIGN[1]), .A(ASEL[1] ? a0 : A1), .B(BSEL[1] ? b0 : B1),
      .a(a1), .b(b1), .product(product1), .is_signed(is_signed1));
  ropewalk_register #(.WIDTH(18), .PRESENT(SOA_REG), .ASYNC_RESET(ASYNC)) shift_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(a1), .q(SOA));
  assign SOB = b1;
  ropewalk_register #(.WIDTH(54), .PRESENT(CREG), .ASYNC_RESET(ASYNC)) c_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(C), .q(c));

  wire [54:0] products = B_ADD_SUB ? product0 - product1 : product0 + product1;
  wire [54:0] sum = MULTADDALU18X18_MODE == 1 ? products + (ACCLOAD ? last : 55'd0)
      : MULTADDALU18X18_MODE == 2 ? products + CASI : C_ADD_SUB ? products - {1'b0, c} : products + {1'b0, c};
  ropewalk_register #(.WIDTH(55), .PRESENT(OUT_REG), .ASYNC_RESET(ASYNC)) output_register (
      .clk(CLK), .enable(CE), .reset(RESET), .d(sum), .q(last));
  assign DOUT = last[53:0];
  assign CASO = {(is_signed0 | is_signed1) & last[53], last[53:0]};
endmodule

// ---- Block RAMs. READ_MODE 0 is the latch alone, 1 the output register behind it. BLK_SEL gates both reads and writes.

`define ROPEWALK_CHECK_RAM(is_width_a, is_width_b) \
  `ROPEWALK_REFUSE_UNLESS(is_width_a && is_width_b, "the width is not one of this cell's") \
  `ROPEWALK_CHECK_RESET_MODE(RESET_MODE)
`define ROPEWALK_CHECK_WRITE_MODE(chosen) \
  `ROPEWALK_REFUSE_UNLESS(chosen == 0 || chosen == 1 || chosen == 2, "the write mode is 0, 1 or 2")

module SP (
    output [31:0] DO,
    input [31:0] DI,
    input [2:0] BLKSEL,
    input [13:0] AD,
    input WRE, CLK, CE, OCE, RESET
);
  parameter READ_MODE = 1'b0;
  parameter WRITE_MODE = 2'b00;
  parameter BIT_WIDTH = 32;
  parameter BLK_SEL = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_256
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X8(BIT_WIDTH), 1)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE)
  wire [71:0] q;
  assign DO = q[35:0];
  ropewalk_block_ram #(
      .BYTE(8), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH), .WIDTH_B(8), .WRITE_MODE_A(WRITE_MODE),
      .REGISTERED_A(READ_MODE), .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({1'b0, CLK}), .enable({1'b0, CE && BLKSEL == BLK_SEL}), .write({1'b0, WRE}), .register_enable({1'b0, OCE}),
      .reset({1'b0, RESET}), .address({14'd0, AD}), .data({40'd0, DI}), .q(q));
endmodule

module SPX9 (
    output [35:0] DO,
    input [35:0] DI,
    input [2:0] BLKSEL,
    input [13:0] AD,
    input WRE, CLK, CE, OCE, RESET
);
  parameter READ_MODE = 1'b0;
  parameter WRITE_MODE = 2'b00;
  parameter BIT_WIDTH = 36;
  parameter BLK_SEL = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_288
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X9(BIT_WIDTH), 1)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE)
  wire [71:0] q;
  assign DO = q[35:0];
  ropewalk_block_ram #(
      .BYTE(9), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH), .WIDTH_B(9), .WRITE_MODE_A(WRITE_MODE),
      .REGISTERED_A(READ_MODE), .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({1'b0, CLK}), .enable({1'b0, CE && BLKSEL == BLK_SEL}), .write({1'b0, WRE}), .register_enable({1'b0, OCE}),
      .reset({1'b0, RESET}), .address({14'd0, AD}), .data({36'd0, DI}), .q(q));
endmodule

module SDPB (
    output [31:0] DO,
    input [31:0] DI,
    input [2:0] BLKSELA, BLKSELB,
    input [13:0] ADA, ADB,
    input CLKA, CLKB, CEA, CEB, OCE, RESETA, RESETB
);
  parameter READ_MODE = 1'b0;
  parameter BIT_WIDTH_0 = 32, BIT_WIDTH_1 = 32;
  parameter BLK_SEL_0 = 3'b000, BLK_SEL_1 = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_256
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X8(BIT_WIDTH_0), `ROPEWALK_IS_X8(BIT_WIDTH_1))
  wire [71:0] q;
  assign DO = q[71:36];
  ropewalk_block_ram #(
      .BYTE(8), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH_0), .WIDTH_B(BIT_WIDTH_1),
      .REGISTERED_B(READ_MODE), .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({CLKB, CLKA}), .enable({CEB && BLKSELB == BLK_SEL_1, CEA && BLKSELA == BLK_SEL_0}), .write(2'b01),
      .register_enable({OCE, 1'b0}), .reset({RESETB, RESETA}), .address({ADB, ADA}), .data({36'd0, 4'd0, DI}), .q(q));
endmodule

module SDPX9B (
    output [35:0] DO,
    input [35:0] DI,
    input [2:0] BLKSELA, BLKSELB,
    input [13:0] ADA, ADB,
    input CLKA, CLKB, CEA, CEB, OCE, RESETA, RESETB
);
  parameter READ_MODE = 1'b0;
  parameter BIT_WIDTH_0 = 36, BIT_WIDTH_1 = 36;
  parameter BLK_SEL_0 = 3'b000, BLK_SEL_1 = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_288
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X9(BIT_WIDTH_0), `ROPEWALK_IS_X9(BIT_WIDTH_1))
  wire [71:0] q;
  assign DO = q[71:36];
  ropewalk_block_ram #(
      .BYTE(9), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH_0), .WIDTH_B(BIT_WIDTH_1),
      .REGISTERED_B(READ_MODE), .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({CLKB, CLKA}), .enable({CEB && BLKSELB == BLK_SEL_1, CEA && BLKSELA == BLK_SEL_0}), .write(2'b01),
      .register_enable({OCE, 1'b0}), .reset({RESETB, RESETA}), .address({ADB, ADA}), .data({36'd0, DI}), .q(q));
endmodule

module DPB (
    output [15:0] DOA, DOB,
    input [15:0] DIA, DIB,
    input [2:0] BLKSELA, BLKSELB,
    input [13:0] ADA, ADB,
    input WREA, WREB, CLKA, CLKB, CEA, CEB, OCEA, OCEB, RESETA, RESETB
);
  parameter READ_MODE0 = 1'b0, READ_MODE1 = 1'b0;
  parameter WRITE_MODE0 = 2'b00, WRITE_MODE1 = 2'b00;
  parameter BIT_WIDTH_0 = 16, BIT_WIDTH_1 = 16;
  parameter BLK_SEL_0 = 3'b000, BLK_SEL_1 = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_256
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X8(BIT_WIDTH_0) && BIT_WIDTH_0 <= 16,
      `ROPEWALK_IS_X8(BIT_WIDTH_1) && BIT_WIDTH_1 <= 16)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE0)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE1)
  wire [71:0] q;
  assign DOA = q[35:0];
  assign DOB = q[71:36];
  ropewalk_block_ram #(
      .BYTE(8), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH_0), .WIDTH_B(BIT_WIDTH_1), .WRITE_MODE_A(WRITE_MODE0),
      .WRITE_MODE_B(WRITE_MODE1), .REGISTERED_A(READ_MODE0), .REGISTERED_B(READ_MODE1),
      .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({CLKB, CLKA}), .enable({CEB && BLKSELB == BLK_SEL_1, CEA && BLKSELA == BLK_SEL_0}), .write({WREB, WREA}),
      .register_enable({OCEB, OCEA}), .reset({RESETB, RESETA}), .address({ADB, ADA}),
      .data({20'd0, DIB, 20'd0, DIA}), .q(q));
endmodule

module DPX9B (
    output [17:0] DOA, DOB,
    input [17:0] DIA, DIB,
    input [2:0] BLKSELA, BLKSELB,
    input [13:0] ADA, ADB,
    input WREA, WREB, CLKA, CLKB, CEA, CEB, OCEA, OCEB, RESETA, RESETB
);
  parameter READ_MODE0 = 1'b0, READ_MODE1 = 1'b0;
  parameter WRITE_MODE0 = 2'b00, WRITE_MODE1 = 2'b00;
  parameter BIT_WIDTH_0 = 18, BIT_WIDTH_1 = 18;
  parameter BLK_SEL_0 = 3'b000, BLK_SEL_1 = 3'b000;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_288
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X9(BIT_WIDTH_0) && BIT_WIDTH_0 <= 18,
      `ROPEWALK_IS_X9(BIT_WIDTH_1) && BIT_WIDTH_1 <= 18)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE0)
  `ROPEWALK_CHECK_WRITE_MODE(WRITE_MODE1)
  wire [71:0] q;
  assign DOA = q[35:0];
  assign DOB = q[71:36];
  ropewalk_block_ram #(
      .BYTE(9), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH_0), .WIDTH_B(BIT_WIDTH_1), .WRITE_MODE_A(WRITE_MODE0),
      .WRITE_MODE_B(WRITE_MODE1), .REGISTERED_A(READ_MODE0), .REGISTERED_B(READ_MODE1),
      .ASYNC_RESET(RESET_MODE == "ASYNC")) ram (
      .clk({CLKB, CLKA}), .enable({CEB && BLKSELB == BLK_SEL_1, CEA && BLKSELA == BLK_SEL_0}), .write({WREB, WREA}),
      .register_enable({OCEB, OCEA}), .reset({RESETB, RESETA}), .address({ADB, ADA}),
      .data({18'd0, DIB, 18'd0, DIA}), .q(q));
endmodule

module pROM (
    output [31:0] DO,
    input [13:0] AD,
    input CLK, CE, OCE, RESET
);
  parameter READ_MODE = 1'b0;
  parameter BIT_WIDTH = 32;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_256
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X8(BIT_WIDTH), 1)
  wire [71:0] q;
  assign DO = q[35:0];
  ropewalk_block_ram #(
      .BYTE(8), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH), .WIDTH_B(8), .REGISTERED_A(READ_MODE),
      .ASYNC_RESET(RESET_MODE == "ASYNC")) rom (
      .clk({1'b0, CLK}), .enable({1'b0, CE}), .write(2'b00), .register_enable({1'b0, OCE}), .reset({1'b0, RESET}),
      .address({14'd0, AD}), .data(72'd0), .q(q));
endmodule

module pROMX9 (
    output [35:0] DO,
    input [13:0] AD,
    input CLK, CE, OCE, RESET
);
  parameter READ_MODE = 1'b0;
  parameter BIT_WIDTH = 36;
  parameter RESET_MODE = "SYNC";
  `ROPEWALK_INIT_288
  `ROPEWALK_CHECK_RAM(`ROPEWALK_IS_X9(BIT_WIDTH), 1)
  wire [71:0] q;
  assign DO = q[35:0];
  ropewalk_block_ram #(
      .BYTE(9), .INIT(`ROPEWALK_CONTENTS), .WIDTH_A(BIT_WIDTH), .WIDTH_B(9), .REGISTERED_A(READ_MODE),
      .ASYNC_RESET(RESET_MODE == "ASYNC")) rom (
      .clk({1'b0, CLK}), .enable({1'b0, CE}), .write(2'b00), .register_enable({1'b0, OCE}), .reset({1'b0, RESET}),
      .address({14'd0, AD}), .data(72'd0), .q(q));
endmodule
`undef ROPEWALK_REFUSE_UNLESS
`undef ROPEWALK_CHECK_RESET_MODE
`undef ROPEWALK_INIT_256
`undef ROPEWALK_INIT_288
`undef ROPEWALK_CONTENTS
`undef ROPEWALK_IS_X8
`undef ROPEWALK_IS_X9
`undef ROPEWALK_CHECK_ALU
`undef ROPEWALK_CHECK_RAM
`undef ROPEWALK_CHECK_WRITE_MODE
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on WIDTH */
/* verilator lint_on DECLFILENAME */
