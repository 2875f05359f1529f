// Behavioural models of the Lattice ECP5 cells for which Yosys has none: MULT18X18D, DP16KD, PDPW16KD.
// Written from Lattice's documents: docs/cells.md says which, what is refused, and what is not known for certain.
// Needs common.v. Only for simulation; nothing that generates hardware may read it.

/* verilator lint_off DECLFILENAME */
/* verilator lint_off WIDTH */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off UNUSEDPARAM */

`define ROPEWALK_REFUSE_UNLESS(condition, text) \
  initial if (!(condition)) begin $display("%m: %s", text); $finish; end
`define ROPEWALK_IS_CLOCK(name) \
  (name == "NONE" || name == "CLK0" || name == "CLK1" || name == "CLK2" || name == "CLK3")
`define ROPEWALK_IS_ENABLE(name) (name == "CE0" || name == "CE1" || name == "CE2" || name == "CE3")
`define ROPEWALK_IS_RESET(name) (name == "RST0" || name == "RST1" || name == "RST2" || name == "RST3")

// One register of the multiplier: which clock, enable and reset it takes is text, whose last two bits are the number.
module ropewalk_ecp5_dsp_register #(
    parameter WIDTH = 1,
    parameter CLK = "NONE", CE = "CE0", RST = "RST0", RESETMODE = "SYNC",
    parameter DIVIDERS_ENABLED = 4'b1111
) (
    input [3:0] clk, ce, rst,
    input [WIDTH-1:0] d,
    output [WIDTH-1:0] q
);
  localparam [1:0] C = CLK & 3, E = CE & 3, R = RST & 3;
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_CLOCK(CLK), "a register's clock is NONE or CLK0 to CLK3")
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_ENABLE(CE), "a register's clock enable is CE0 to CE3")
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_RESET(RST), "a register's reset is RST0 to RST3")
  `ROPEWALK_REFUSE_UNLESS(CLK == "NONE" || DIVIDERS_ENABLED[C],
      "CLKn_DIV of a clock in use must be ENABLED: the double-rate mode is not modelled")
  generate
    if (CLK != "NONE") begin : present
      ropewalk_connected #(.PINS(2)) controls (.clk(clk[C]), .pins({rst[R], ce[E]}));
    end
  endgenerate
  ropewalk_register #(.WIDTH(WIDTH), .PRESENT(CLK != "NONE"), .ASYNC_RESET(RESETMODE == "ASYNC")) register (
      .clk(clk[C]), .enable(ce[E]), .reset(rst[R]), .d(d), .q(q));
endmodule

module MULT18X18D (
    input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0, B17, B16, B15, B14, B13,
    B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0, C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6,
    C5, C4, C3, C2, C1, C0, SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK3, CLK2, CLK1, CLK0, CE3, CE2, CE1, CE0, RST3,
    RST2, RST1, RST0, SRIA17, SRIA16, SRIA15, SRIA14, SRIA13, SRIA12, SRIA11, SRIA10, SRIA9, SRIA8, SRIA7, SRIA6,
    SRIA5, SRIA4, SRIA3, SRIA2, SRIA1, SRIA0, SRIB17, SRIB16, SRIB15, SRIB14, SRIB13, SRIB12, SRIB11, SRIB10, SRIB9,
    SRIB8, SRIB7, SRIB6, SRIB5, SRIB4, SRIB3, SRIB2, SRIB1, SRIB0,
    output SROA17, SROA16, SROA15, SROA14, SROA13, SROA12, SROA11, SROA10, SROA9, SROA8, SROA7, SROA6, SROA5, SROA4,
    SROA3, SROA2, SROA1, SROA0, SROB17, SROB16, SROB15, SROB14, SROB13, SROB12, SROB11, SROB10, SROB9, SROB8, SROB7,
    SROB6, SROB5, SROB4, SROB3, SROB2, SROB1, SROB0, ROA17, ROA16, ROA15, ROA14, ROA13, ROA12, ROA11, ROA10, ROA9,
    ROA8, ROA7, ROA6, ROA5, ROA4, ROA3, ROA2, ROA1, ROA0, ROB17, ROB16, ROB15, ROB14, ROB13, ROB12, ROB11, ROB10,
    ROB9, ROB8, ROB7, ROB6, ROB5, ROB4, ROB3, ROB2, ROB1, ROB0, ROC17, ROC16, ROC15, ROC14, ROC13, ROC12, ROC11,
    ROC10, ROC9, ROC8, ROC7, ROC6, ROC5, ROC4, ROC3, ROC2, ROC1, ROC0, P35, P34, P33, P32, P31, P30, P29, P28, P27,
    P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3,
    P2, P1, P0, SIGNEDP
);
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTA_CE = "CE0", REG_INPUTA_RST = "RST0";
  parameter REG_INPUTB_CLK = "NONE", REG_INPUTB_CE = "CE0", REG_INPUTB_RST = "RST0";
  parameter REG_INPUTC_CLK = "NONE", REG_INPUTC_CE = "CE0", REG_INPUTC_RST = "RST0";
  parameter REG_PIPELINE_CLK = "NONE", REG_PIPELINE_CE = "CE0", REG_PIPELINE_RST = "RST0";
  parameter REG_OUTPUT_CLK = "NONE", REG_OUTPUT_CE = "CE0", REG_OUTPUT_RST = "RST0";
  parameter CLK0_DIV = "ENABLED", CLK1_DIV = "ENABLED", CLK2_DIV = "ENABLED", CLK3_DIV = "ENABLED";
  parameter HIGHSPEED_CLK = "NONE";
  parameter GSR = "ENABLED";
  parameter CAS_MATCH_REG = "FALSE";
  parameter SOURCEB_MODE = "B_SHIFT";
  parameter MULT_BYPASS = "DISABLED";
  parameter RESETMODE = "SYNC";

  `ROPEWALK_REFUSE_UNLESS(RESETMODE == "SYNC" || RESETMODE == "ASYNC", "RESETMODE is SYNC or ASYNC")
  `ROPEWALK_REFUSE_UNLESS(SOURCEB_MODE == "B_SHIFT" || SOURCEB_MODE == "C_SHIFT",
      "SOURCEB_MODE is B_SHIFT or C_SHIFT: B_C_DYNAMIC and HIGHSPEED are not modelled")
  `ROPEWALK_REFUSE_UNLESS(REG_INPUTC_CLK == "NONE", "REG_INPUTC_CLK must be NONE: the register of C is not modelled")
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_ENABLE(REG_INPUTC_CE), "REG_INPUTC_CE is CE0 to CE3")
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_RESET(REG_INPUTC_RST), "REG_INPUTC_RST is RST0 to RST3")
  `ROPEWALK_REFUSE_UNLESS(HIGHSPEED_CLK == "NONE", "HIGHSPEED_CLK must be NONE: the double-rate mode is not modelled")
  `ROPEWALK_REFUSE_UNLESS(CAS_MATCH_REG == "FALSE" || CAS_MATCH_REG == "TRUE", "CAS_MATCH_REG is FALSE or TRUE")
  `ROPEWALK_REFUSE_UNLESS(MULT_BYPASS == "DISABLED" || MULT_BYPASS == "ENABLED", "MULT_BYPASS is DISABLED or ENABLED")
  `ROPEWALK_REFUSE_UNLESS(GSR == "ENABLED" || GSR == "DISABLED", "GSR is ENABLED or DISABLED")
  `ROPEWALK_REFUSE_UNLESS(CLK0_DIV == "ENABLED" || CLK0_DIV == "DISABLED", "CLK0_DIV is ENABLED or DISABLED")
  `ROPEWALK_REFUSE_UNLESS(CLK1_DIV == "ENABLED" || CLK1_DIV == "DISABLED", "CLK1_DIV is ENABLED or DISABLED")
  `ROPEWALK_REFUSE_UNLESS(CLK2_DIV == "ENABLED" || CLK2_DIV == "DISABLED", "CLK2_DIV is ENABLED or DISABLED")
  `ROPEWALK_REFUSE_UNLESS(CLK3_DIV == "ENABLED" || CLK3_DIV == "DISABLED", "CLK3_DIV is ENABLED or DISABLED")
  localparam [3:0] DIVIDERS = {
      CLK3_DIV == "ENABLED", CLK2_DIV == "ENABLED", CLK1_DIV == "ENABLED", CLK0_DIV == "ENABLED"};

  wire [3:0] clk = {CLK3, CLK2, CLK1, CLK0}, ce = {CE3, CE2, CE1, CE0}, rst = {RST3, RST2, RST1, RST0};
  wire [17:0] a = {
    A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  wire [17:0] b = {
    B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  wire [17:0] c = {
    C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0};
  wire [17:0] sria = {
    SRIA17, SRIA16, SRIA15, SRIA14, SRIA13, SRIA12, SRIA11, SRIA10, SRIA9, SRIA8, SRIA7, SRIA6, SRIA5, SRIA4, SRIA3,
    SRIA2, SRIA1, SRIA0};
  wire [17:0] srib = {
    SRIB17, SRIB16, SRIB15, SRIB14, SRIB13, SRIB12, SRIB11, SRIB10, SRIB9, SRIB8, SRIB7, SRIB6, SRIB5, SRIB4, SRIB3,
    SRIB2, SRIB1, SRIB0};

  // Each sign is registered with its operand.
  wire [17:0] a_held, b_held, a_matched;
  wire signed_a, signed_b;
  ropewalk_ecp5_dsp_register #(.WIDTH(19), .CLK(REG_INPUTA_CLK), .CE(REG_INPUTA_CE), .RST(REG_INPUTA_RST),
      .RESETMODE(RESETMODE), .DIVIDERS_ENABLED(DIVIDERS)) input_a (
      .clk(clk), .ce(ce), .rst(rst), .d({SIGNEDA, SOURCEA ? sria : a}), .q({signed_a, a_held}));
  ropewalk_ecp5_dsp_register #(.WIDTH(19), .CLK(REG_INPUTB_CLK), .CE(REG_INPUTB_CE), .RST(REG_INPUTB_RST),
      .RESETMODE(RESETMODE), .DIVIDERS_ENABLED(DIVIDERS)) input_b (
      .clk(clk), .ce(ce), .rst(rst), .d({SIGNEDB, SOURCEB ? srib : SOURCEB_MODE == "C_SHIFT" ? c : b}),
      .q({signed_b, b_held}));
  // A second register between this multiplier's A and the next one's.
  ropewalk_ecp5_dsp_register #(.WIDTH(18), .CLK(CAS_MATCH_REG == "TRUE" ? REG_INPUTA_CLK : "NONE"), .CE(REG_INPUTA_CE),
      .RST(REG_INPUTA_RST), .RESETMODE(RESETMODE), .DIVIDERS_ENABLED(DIVIDERS)) match (
      .clk(clk), .ce(ce), .rst(rst), .d(a_held), .q(a_matched));

  // A 19th bit makes every operand signed; 36 bits hold each product of the four sign modes.
  wire signed [18:0] a_signed = {signed_a & a_held[17], a_held}, b_signed = {signed_b & b_held[17], b_held};
  wire signed [37:0] product = a_signed * b_signed;
  wire [35:0] pipelined, p;
  ropewalk_ecp5_dsp_register #(.WIDTH(37), .CLK(REG_PIPELINE_CLK), .CE(REG_PIPELINE_CE), .RST(REG_PIPELINE_RST),
      .RESETMODE(RESETMODE), .DIVIDERS_ENABLED(DIVIDERS)) pipeline (
      .clk(clk), .ce(ce), .rst(rst), .d({signed_a | signed_b, product[35:0]}), .q({SIGNEDP, pipelined}));
  ropewalk_ecp5_dsp_register #(.WIDTH(36), .CLK(REG_OUTPUT_CLK), .CE(REG_OUTPUT_CE), .RST(REG_OUTPUT_RST),
      .RESETMODE(RESETMODE), .DIVIDERS_ENABLED(DIVIDERS)) result (
      .clk(clk), .ce(ce), .rst(rst), .d(pipelined), .q(p));

  assign {
    P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14,
    P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = MULT_BYPASS == "ENABLED" ? 36'd0 : p;
  assign {
    SROA17, SROA16, SROA15, SROA14, SROA13, SROA12, SROA11, SROA10, SROA9, SROA8, SROA7, SROA6, SROA5, SROA4, SROA3,
    SROA2, SROA1, SROA0} = a_matched;
  assign {
    SROB17, SROB16, SROB15, SROB14, SROB13, SROB12, SROB11, SROB10, SROB9, SROB8, SROB7, SROB6, SROB5, SROB4, SROB3,
    SROB2, SROB1, SROB0} = b_held;
  assign {
    ROA17, ROA16, ROA15, ROA14, ROA13, ROA12, ROA11, ROA10, ROA9, ROA8, ROA7, ROA6, ROA5, ROA4, ROA3, ROA2, ROA1,
    ROA0} = a_held;
  assign {
    ROB17, ROB16, ROB15, ROB14, ROB13, ROB12, ROB11, ROB10, ROB9, ROB8, ROB7, ROB6, ROB5, ROB4, ROB3, ROB2, ROB1,
    ROB0} = b_held;
  assign {
    ROC17, ROC16, ROC15, ROC14, ROC13, ROC12, ROC11, ROC10, ROC9, ROC8, ROC7, ROC6, ROC5, ROC4, ROC3, ROC2, ROC1,
    ROC0} = c;
endmodule

`define ROPEWALK_INITVALS \
  parameter INITVAL_00 = 320'd0, INITVAL_01 = 320'd0, INITVAL_02 = 320'd0, INITVAL_03 = 320'd0; \
  parameter INITVAL_04 = 320'd0, INITVAL_05 = 320'd0, INITVAL_06 = 320'd0, INITVAL_07 = 320'd0; \
  parameter INITVAL_08 = 320'd0, INITVAL_09 = 320'd0, INITVAL_0A = 320'd0, INITVAL_0B = 320'd0; \
  parameter INITVAL_0C = 320'd0, INITVAL_0D = 320'd0, INITVAL_0E = 320'd0, INITVAL_0F = 320'd0; \
  parameter INITVAL_10 = 320'd0, INITVAL_11 = 320'd0, INITVAL_12 = 320'd0, INITVAL_13 = 320'd0; \
  parameter INITVAL_14 = 320'd0, INITVAL_15 = 320'd0, INITVAL_16 = 320'd0, INITVAL_17 = 320'd0; \
  parameter INITVAL_18 = 320'd0, INITVAL_19 = 320'd0, INITVAL_1A = 320'd0, INITVAL_1B = 320'd0; \
  parameter INITVAL_1C = 320'd0, INITVAL_1D = 320'd0, INITVAL_1E = 320'd0, INITVAL_1F = 320'd0; \
  parameter INITVAL_20 = 320'd0, INITVAL_21 = 320'd0, INITVAL_22 = 320'd0, INITVAL_23 = 320'd0; \
  parameter INITVAL_24 = 320'd0, INITVAL_25 = 320'd0, INITVAL_26 = 320'd0, INITVAL_27 = 320'd0; \
  parameter INITVAL_28 = 320'd0, INITVAL_29 = 320'd0, INITVAL_2A = 320'd0, INITVAL_2B = 320'd0; \
  parameter INITVAL_2C = 320'd0, INITVAL_2D = 320'd0, INITVAL_2E = 320'd0, INITVAL_2F = 320'd0; \
  parameter INITVAL_30 = 320'd0, INITVAL_31 = 320'd0, INITVAL_32 = 320'd0, INITVAL_33 = 320'd0; \
  parameter INITVAL_34 = 320'd0, INITVAL_35 = 320'd0, INITVAL_36 = 320'd0, INITVAL_37 = 320'd0; \
  parameter INITVAL_38 = 320'd0, INITVAL_39 = 320'd0, INITVAL_3A = 320'd0, INITVAL_3B = 320'd0; \
  parameter INITVAL_3C = 320'd0, INITVAL_3D = 320'd0, INITVAL_3E = 320'd0, INITVAL_3F = 320'd0; \
  parameter INIT_DATA = "STATIC"; \
  `ROPEWALK_REFUSE_UNLESS(INIT_DATA == "STATIC", "INIT_DATA must be STATIC") \
  /* 16 words of 18 bits, 20 bits apart; Lattice's own tools write them as text, 0x and 80 digits. */ \
  function [319:0] init; \
    input [655:0] value; \
    integer i; \
    begin \
      init = value[319:0]; \
      if (value[655:640] == "0x") \
        for (i = 0; i < 80; i = i + 1) \
          init[4*i +: 4] = value[8*i+6] ? value[8*i +: 4] + 4'd9 : value[8*i +: 4]; \
    end \
  endfunction \
  localparam [20479:0] CONTENTS = { \
    init(INITVAL_3F), init(INITVAL_3E), init(INITVAL_3D), init(INITVAL_3C), \
    init(INITVAL_3B), init(INITVAL_3A), init(INITVAL_39), init(INITVAL_38), \
    init(INITVAL_37), init(INITVAL_36), init(INITVAL_35), init(INITVAL_34), \
    init(INITVAL_33), init(INITVAL_32), init(INITVAL_31), init(INITVAL_30), \
    init(INITVAL_2F), init(INITVAL_2E), init(INITVAL_2D), init(INITVAL_2C), \
    init(INITVAL_2B), init(INITVAL_2A), init(INITVAL_29), init(INITVAL_28), \
    init(INITVAL_27), init(INITVAL_26), init(INITVAL_25), init(INITVAL_24), \
    init(INITVAL_23), init(INITVAL_22), init(INITVAL_21), init(INITVAL_20), \
    init(INITVAL_1F), init(INITVAL_1E), init(INITVAL_1D), init(INITVAL_1C), \
    init(INITVAL_1B), init(INITVAL_1A), init(INITVAL_19), init(INITVAL_18), \
    init(INITVAL_17), init(INITVAL_16), init(INITVAL_15), init(INITVAL_14), \
    init(INITVAL_13), init(INITVAL_12), init(INITVAL_11), init(INITVAL_10), \
    init(INITVAL_0F), init(INITVAL_0E), init(INITVAL_0D), init(INITVAL_0C), \
    init(INITVAL_0B), init(INITVAL_0A), init(INITVAL_09), init(INITVAL_08), \
    init(INITVAL_07), init(INITVAL_06), init(INITVAL_05), init(INITVAL_04), \
    init(INITVAL_03), init(INITVAL_02), init(INITVAL_01), init(INITVAL_00)};

`define ROPEWALK_IS_SELECT(name) \
  (name == "0b000" || name == "0b001" || name == "0b010" || name == "0b011" || \
  name == "0b100" || name == "0b101" || name == "0b110" || name == "0b111")
// The three digits of such a text, as a number.
`define ROPEWALK_SELECT(name) ((name >> 16 & 1) * 4 + (name >> 8 & 1) * 2 + (name & 1))
`define ROPEWALK_PASS_INITVALS \
    .INITVAL_00(INITVAL_00), .INITVAL_01(INITVAL_01), .INITVAL_02(INITVAL_02), .INITVAL_03(INITVAL_03), \
    .INITVAL_04(INITVAL_04), .INITVAL_05(INITVAL_05), .INITVAL_06(INITVAL_06), .INITVAL_07(INITVAL_07), \
    .INITVAL_08(INITVAL_08), .INITVAL_09(INITVAL_09), .INITVAL_0A(INITVAL_0A), .INITVAL_0B(INITVAL_0B), \
    .INITVAL_0C(INITVAL_0C), .INITVAL_0D(INITVAL_0D), .INITVAL_0E(INITVAL_0E), .INITVAL_0F(INITVAL_0F), \
    .INITVAL_10(INITVAL_10), .INITVAL_11(INITVAL_11), .INITVAL_12(INITVAL_12), .INITVAL_13(INITVAL_13), \
    .INITVAL_14(INITVAL_14), .INITVAL_15(INITVAL_15), .INITVAL_16(INITVAL_16), .INITVAL_17(INITVAL_17), \
    .INITVAL_18(INITVAL_18), .INITVAL_19(INITVAL_19), .INITVAL_1A(INITVAL_1A), .INITVAL_1B(INITVAL_1B), \
    .INITVAL_1C(INITVAL_1C), .INITVAL_1D(INITVAL_1D), .INITVAL_1E(INITVAL_1E), .INITVAL_1F(INITVAL_1F), \
    .INITVAL_20(INITVAL_20), .INITVAL_21(INITVAL_21), .INITVAL_22(INITVAL_22), .INITVAL_23(INITVAL_23), \
    .INITVAL_24(INITVAL_24), .INITVAL_25(INITVAL_25), .INITVAL_26(INITVAL_26), .INITVAL_27(INITVAL_27), \
    .INITVAL_28(INITVAL_28), .INITVAL_29(INITVAL_29), .INITVAL_2A(INITVAL_2A), .INITVAL_2B(INITVAL_2B), \
    .INITVAL_2C(INITVAL_2C), .INITVAL_2D(INITVAL_2D), .INITVAL_2E(INITVAL_2E), .INITVAL_2F(INITVAL_2F), \
    .INITVAL_30(INITVAL_30), .INITVAL_31(INITVAL_31), .INITVAL_32(INITVAL_32), .INITVAL_33(INITVAL_33), \
    .INITVAL_34(INITVAL_34), .INITVAL_35(INITVAL_35), .INITVAL_36(INITVAL_36), .INITVAL_37(INITVAL_37), \
    .INITVAL_38(INITVAL_38), .INITVAL_39(INITVAL_39), .INITVAL_3A(INITVAL_3A), .INITVAL_3B(INITVAL_3B), \
    .INITVAL_3C(INITVAL_3C), .INITVAL_3D(INITVAL_3D), .INITVAL_3E(INITVAL_3E), .INITVAL_3F(INITVAL_3F)

// One port's pins and parameters: nothing that place and route would change is supported but an inverted clock.
`define ROPEWALK_CHECK_PORT(side, clkmux, cemux, ocemux, wemux, rstmux, cs0, cs1, cs2, regmode, writemode, decode) \
  `ROPEWALK_REFUSE_UNLESS(clkmux == {"CLK", side} || clkmux == "INV", {"CLK", side, "MUX is CLK", side, " or INV"}) \
  `ROPEWALK_REFUSE_UNLESS(cemux == {"CE", side} && ocemux == {"OCE", side} && wemux == {"WE", side} \
      && rstmux == {"RST", side} && cs0 == {"CS", side, "0"} && cs1 == {"CS", side, "1"} \
      && cs2 == {"CS", side, "2"}, {"a MUX of a control pin of port ", side, " is not the pin's own name"}) \
  `ROPEWALK_REFUSE_UNLESS(regmode == "NOREG" || regmode == "OUTREG", {"REGMODE_", side, " is NOREG or OUTREG"}) \
  `ROPEWALK_REFUSE_UNLESS(writemode == "NORMAL" || writemode == "WRITETHROUGH" || writemode == "READBEFOREWRITE", \
      {"WRITEMODE_", side, " is NORMAL, WRITETHROUGH or READBEFOREWRITE"}) \
  `ROPEWALK_REFUSE_UNLESS(`ROPEWALK_IS_SELECT(decode), {"CSDECODE_", side, " is 0b000 to 0b111"})

module DP16KD (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2,
    DIA1, DIA0, ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0, CEA, OCEA,
    CLKA, WEA, CSA2, CSA1, CSA0, RSTA, DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7,
    DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0, ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3,
    ADB2, ADB1, ADB0, CEB, OCEB, CLKB, WEB, CSB2, CSB1, CSB0, RSTB,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2,
    DOA1, DOA0, DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
    DOB2, DOB1, DOB0
);
  parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18;
  parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG";
  parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000";
  parameter WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL";
  parameter CLKAMUX = "CLKA", CEAMUX = "CEA", OCEAMUX = "OCEA", WEAMUX = "WEA", RSTAMUX = "RSTA";
  parameter CSA0MUX = "CSA0", CSA1MUX = "CSA1", CSA2MUX = "CSA2";
  parameter CLKBMUX = "CLKB", CEBMUX = "CEB", OCEBMUX = "OCEB", WEBMUX = "WEB", RSTBMUX = "RSTB";
  parameter CSB0MUX = "CSB0", CSB1MUX = "CSB1", CSB2MUX = "CSB2";
  parameter WID = 0;
  parameter GSR = "ENABLED";
  `ROPEWALK_INITVALS

  `ROPEWALK_REFUSE_UNLESS(DATA_WIDTH_A == 1 || DATA_WIDTH_A == 2 || DATA_WIDTH_A == 4 || DATA_WIDTH_A == 9
      || DATA_WIDTH_A == 18 || DATA_WIDTH_A == 36, "DATA_WIDTH_A is 1, 2, 4, 9, 18 or 36")
  `ROPEWALK_REFUSE_UNLESS(DATA_WIDTH_B == 1 || DATA_WIDTH_B == 2 || DATA_WIDTH_B == 4 || DATA_WIDTH_B == 9
      || DATA_WIDTH_B == 18 || DATA_WIDTH_B == 36, "DATA_WIDTH_B is 1, 2, 4, 9, 18 or 36")
  `ROPEWALK_CHECK_PORT("A", CLKAMUX, CEAMUX, OCEAMUX, WEAMUX, RSTAMUX, CSA0MUX, CSA1MUX, CSA2MUX, REGMODE_A, WRITEMODE_A,
      CSDECODE_A)
  `ROPEWALK_CHECK_PORT("B", CLKBMUX, CEBMUX, OCEBMUX, WEBMUX, RSTBMUX, CSB0MUX, CSB1MUX, CSB2MUX, REGMODE_B, WRITEMODE_B,
      CSDECODE_B)
  `ROPEWALK_REFUSE_UNLESS(DATA_WIDTH_B != 36 || REGMODE_A == REGMODE_B,
      "with DATA_WIDTH_B 36, REGMODE_A and REGMODE_B must agree: they register the two halves of the word")
  `ROPEWALK_REFUSE_UNLESS(RESETMODE == "SYNC" || RESETMODE == "ASYNC" && ASYNC_RESET_RELEASE == "ASYNC",
      "RESETMODE is SYNC, or ASYNC with ASYNC_RESET_RELEASE ASYNC: the clock that a released reset lasts is not modelled")
  `ROPEWALK_REFUSE_UNLESS(GSR == "ENABLED" || GSR == "DISABLED" || GSR == "AUTO", "GSR is ENABLED, DISABLED or AUTO")

  wire clk_a = CLKA ^ (CLKAMUX == "INV"), clk_b = CLKB ^ (CLKBMUX == "INV");
  ropewalk_connected #(.PINS(7)) controls_a (.clk(clk_a), .pins({CSA2, CSA1, CSA0, RSTA, WEA, OCEA, CEA}));
  ropewalk_connected #(.PINS(7)) controls_b (.clk(clk_b), .pins({CSB2, CSB1, CSB0, RSTB, WEB, OCEB, CEB}));
  wire enable_a = CEA && {CSA2, CSA1, CSA0} == `ROPEWALK_SELECT(CSDECODE_A);
  wire enable_b = CEB && {CSB2, CSB1, CSB0} == `ROPEWALK_SELECT(CSDECODE_B);
  always @(posedge clk_b)
    if (enable_b && WEB && (DATA_WIDTH_A == 36 || DATA_WIDTH_B == 36)) begin
      $display("%m: WEB is high, but with a DATA_WIDTH of 36 port B only reads");
      $finish;
    end

  wire [17:0] dia = {
    DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1,
    DIA0};
  wire [17:0] dib = {
    DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1,
    DIB0};
  wire [13:0] ada = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
  wire [13:0] adb = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
  wire [35:0] qa, qb;
  ropewalk_block_ram #(
      .BYTE(9), .PAIR_STRIDE(20), .INIT(CONTENTS), .WIDTH_A(DATA_WIDTH_A), .WIDTH_B(DATA_WIDTH_B),
      .WRITE_MODE_A(WRITEMODE_A == "WRITETHROUGH" ? 1 : WRITEMODE_A == "READBEFOREWRITE" ? 2 : 0),
      .WRITE_MODE_B(WRITEMODE_B == "WRITETHROUGH" ? 1 : WRITEMODE_B == "READBEFOREWRITE" ? 2 : 0),
      .REGISTERED_A(REGMODE_A == "OUTREG"), .REGISTERED_B(REGMODE_B == "OUTREG"), .ASYNC_RESET(RESETMODE == "ASYNC"),
      .RESET_BLOCKS_WRITES(1), .REGISTER_RESET_NEEDS_ENABLE(1), .UNWRITTEN_SHOWN(0)) ram (
      .clk({clk_b, clk_a}), .enable({enable_b, enable_a}), .write({WEB, WEA}), .register_enable({OCEB, OCEA}),
      .reset({RSTB, RSTA}), .address({adb, ada}), .data({18'd0, dib, DATA_WIDTH_A == 36 ? dib : 18'd0, dia}), .q({qb, qa}));

  // A word of 36 bits leaves by both ports, the low half by port A. Port A has nothing to show when it writes 36 bits.
  assign {
    DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1,
    DOA0} =
      DATA_WIDTH_B == 36 ? qb[17:0] : DATA_WIDTH_A == 36 ? 18'd0 : qa[17:0];
  assign {
    DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1,
    DOB0} =
      DATA_WIDTH_B == 36 ? qb[35:18] : qb[17:0];
endmodule

// 36 bits in, 1 to 36 out: a DP16KD under other names. The low half of a word of 36 bits comes out at DO35 to DO18.
module PDPW16KD (
    input DI35, DI34, DI33, DI32, DI31, DI30, DI29, DI28, DI27, DI26, DI25, DI24, DI23, DI22, DI21, DI20, DI19, DI18,
    DI17, DI16, DI15, DI14, DI13, DI12, DI11, DI10, DI9, DI8, DI7, DI6, DI5, DI4, DI3, DI2, DI1, DI0, ADW8, ADW7,
    ADW6, ADW5, ADW4, ADW3, ADW2, ADW1, ADW0, BE3, BE2, BE1, BE0, CEW, CLKW, CSW2, CSW1, CSW0, ADR13, ADR12, ADR11,
    ADR10, ADR9, ADR8, ADR7, ADR6, ADR5, ADR4, ADR3, ADR2, ADR1, ADR0, CER, OCER, CLKR, CSR2, CSR1, CSR0, RST,
    output DO35, DO34, DO33, DO32, DO31, DO30, DO29, DO28, DO27, DO26, DO25, DO24, DO23, DO22, DO21, DO20, DO19,
    DO18, DO17, DO16, DO15, DO14, DO13, DO12, DO11, DO10, DO9, DO8, DO7, DO6, DO5, DO4, DO3, DO2, DO1, DO0
);
  parameter CLKRMUX = "CLKR", CLKWMUX = "CLKW";
  parameter DATA_WIDTH_W = 36, DATA_WIDTH_R = 36;
  parameter GSR = "ENABLED";
  parameter REGMODE = "NOREG";
  parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC";
  parameter CSDECODE_W = "0b000", CSDECODE_R = "0b000";
  `ROPEWALK_INITVALS
  `ROPEWALK_REFUSE_UNLESS(DATA_WIDTH_W == 36, "DATA_WIDTH_W must be 36")
  `ROPEWALK_REFUSE_UNLESS(CLKRMUX == "CLKR" || CLKRMUX == "INV", "CLKRMUX is CLKR or INV")
  `ROPEWALK_REFUSE_UNLESS(CLKWMUX == "CLKW" || CLKWMUX == "INV", "CLKWMUX is CLKW or INV")

  DP16KD #(
      .DATA_WIDTH_A(36), .DATA_WIDTH_B(DATA_WIDTH_R), .REGMODE_A(REGMODE), .REGMODE_B(REGMODE), .RESETMODE(RESETMODE),
      .ASYNC_RESET_RELEASE(ASYNC_RESET_RELEASE), .CSDECODE_A(CSDECODE_W), .CSDECODE_B(CSDECODE_R), .GSR(GSR),
      .CLKAMUX(CLKWMUX == "INV" ? "INV" : "CLKA"), .CLKBMUX(CLKRMUX == "INV" ? "INV" : "CLKB"), .INIT_DATA(INIT_DATA),
      `ROPEWALK_PASS_INITVALS) ram (
      .DIA17(DI17), .DIA16(DI16), .DIA15(DI15), .DIA14(DI14), .DIA13(DI13), .DIA12(DI12), .DIA11(DI11), .DIA10(DI10),
      .DIA9(DI9), .DIA8(DI8), .DIA7(DI7), .DIA6(DI6), .DIA5(DI5), .DIA4(DI4), .DIA3(DI3), .DIA2(DI2), .DIA1(DI1),
      .DIA0(DI0), .DIB17(DI35), .DIB16(DI34), .DIB15(DI33), .DIB14(DI32), .DIB13(DI31), .DIB12(DI30), .DIB11(DI29),
      .DIB10(DI28), .DIB9(DI27), .DIB8(DI26), .DIB7(DI25), .DIB6(DI24), .DIB5(DI23), .DIB4(DI22), .DIB3(DI21),
      .DIB2(DI20), .DIB1(DI19), .DIB0(DI18), .ADA13(ADW8), .ADA12(ADW7), .ADA11(ADW6), .ADA10(ADW5), .ADA9(ADW4),
      .ADA8(ADW3), .ADA7(ADW2), .ADA6(ADW1), .ADA5(ADW0), .ADA4(1'b0), .ADA3(BE3), .ADA2(BE2), .ADA1(BE1),
      .ADA0(BE0), .ADB13(ADR13), .ADB12(ADR12), .ADB11(ADR11), .ADB10(ADR10), .ADB9(ADR9), .ADB8(ADR8), .ADB7(ADR7),
      .ADB6(ADR6), .ADB5(ADR5), .ADB4(ADR4), .ADB3(ADR3), .ADB2(ADR2), .ADB1(ADR1), .ADB0(ADR0), .CLKA(CLKW),
      .CEA(CEW), .WEA(1'b1), .OCEA(OCER), .RSTA(1'b0), .CSA2(CSW2), .CSA1(CSW1), .CSA0(CSW0), .CLKB(CLKR), .CEB(CER),
      .WEB(1'b0), .OCEB(OCER), .RSTB(RST), .CSB2(CSR2), .CSB1(CSR1), .CSB0(CSR0), .DOA17(DO35), .DOA16(DO34),
      .DOA15(DO33), .DOA14(DO32), .DOA13(DO31), .DOA12(DO30), .DOA11(DO29), .DOA10(DO28), .DOA9(DO27), .DOA8(DO26),
      .DOA7(DO25), .DOA6(DO24), .DOA5(DO23), .DOA4(DO22), .DOA3(DO21), .DOA2(DO20), .DOA1(DO19), .DOA0(DO18),
      .DOB17(DO17), .DOB16(DO16), .DOB15(DO15), .DOB14(DO14), .DOB13(DO13), .DOB12(DO12), .DOB11(DO11), .DOB10(DO10),
      .DOB9(DO9), .DOB8(DO8), .DOB7(DO7), .DOB6(DO6), .DOB5(DO5), .DOB4(DO4), .DOB3(DO3), .DOB2(DO2), .DOB1(DO1),
      .DOB0(DO0));
endmodule

`undef ROPEWALK_REFUSE_UNLESS
`undef ROPEWALK_IS_CLOCK
`undef ROPEWALK_IS_ENABLE
`undef ROPEWALK_IS_RESET
`undef ROPEWALK_INITVALS
`undef ROPEWALK_PASS_INITVALS
`undef ROPEWALK_IS_SELECT
`undef ROPEWALK_SELECT
`undef ROPEWALK_CHECK_PORT
/* verilator lint_on UNUSEDPARAM */
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on WIDTH */
/* verilator lint_on DECLFILENAME */
