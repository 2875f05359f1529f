// Behavioural models of the block RAMs of Xilinx 7 series, for which Yosys has timing and no behaviour.
// Written from UG473 as far as Yosys uses the cells: docs/cells.md says what is refused, and what is undefined.
// Only for simulation; nothing that generates hardware may read it.

/* verilator lint_off DECLFILENAME */
/* verilator lint_off WIDTH */
/* verilator lint_off UNUSEDSIGNAL */
/* verilator lint_off MULTIDRIVEN */

`define ROPEWALK_INIT_RAMB18 \
  parameter [255:0] INIT_00 = 0, INIT_01 = 0, INIT_02 = 0, INIT_03 = 0, INIT_04 = 0, INIT_05 = 0, INIT_06 = 0, INIT_07 = 0; \
  parameter [255:0] INIT_08 = 0, INIT_09 = 0, INIT_0A = 0, INIT_0B = 0, INIT_0C = 0, INIT_0D = 0, INIT_0E = 0, INIT_0F = 0; \
  parameter [255:0] INIT_10 = 0, INIT_11 = 0, INIT_12 = 0, INIT_13 = 0, INIT_14 = 0, INIT_15 = 0, INIT_16 = 0, INIT_17 = 0; \
  parameter [255:0] INIT_18 = 0, INIT_19 = 0, INIT_1A = 0, INIT_1B = 0, INIT_1C = 0, INIT_1D = 0, INIT_1E = 0, INIT_1F = 0; \
  parameter [255:0] INIT_20 = 0, INIT_21 = 0, INIT_22 = 0, INIT_23 = 0, INIT_24 = 0, INIT_25 = 0, INIT_26 = 0, INIT_27 = 0; \
  parameter [255:0] INIT_28 = 0, INIT_29 = 0, INIT_2A = 0, INIT_2B = 0, INIT_2C = 0, INIT_2D = 0, INIT_2E = 0, INIT_2F = 0; \
  parameter [255:0] INIT_30 = 0, INIT_31 = 0, INIT_32 = 0, INIT_33 = 0, INIT_34 = 0, INIT_35 = 0, INIT_36 = 0, INIT_37 = 0; \
  parameter [255:0] INIT_38 = 0, INIT_39 = 0, INIT_3A = 0, INIT_3B = 0, INIT_3C = 0, INIT_3D = 0, INIT_3E = 0, INIT_3F = 0; \
  parameter [255:0] INITP_00 = 0, INITP_01 = 0, INITP_02 = 0, INITP_03 = 0, INITP_04 = 0, INITP_05 = 0, INITP_06 = 0, INITP_07 = 0;
`define ROPEWALK_DATA_RAMB18 { \
    INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, \
    INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, \
    INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, \
    INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, \
    INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, \
    INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, \
    INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, \
    INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00}
`define ROPEWALK_PARITY_RAMB18 { \
    INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00}
`define ROPEWALK_INIT_RAMB36 \
  parameter [255:0] INIT_00 = 0, INIT_01 = 0, INIT_02 = 0, INIT_03 = 0, INIT_04 = 0, INIT_05 = 0, INIT_06 = 0, INIT_07 = 0; \
  parameter [255:0] INIT_08 = 0, INIT_09 = 0, INIT_0A = 0, INIT_0B = 0, INIT_0C = 0, INIT_0D = 0, INIT_0E = 0, INIT_0F = 0; \
  parameter [255:0] INIT_10 = 0, INIT_11 = 0, INIT_12 = 0, INIT_13 = 0, INIT_14 = 0, INIT_15 = 0, INIT_16 = 0, INIT_17 = 0; \
  parameter [255:0] INIT_18 = 0, INIT_19 = 0, INIT_1A = 0, INIT_1B = 0, INIT_1C = 0, INIT_1D = 0, INIT_1E = 0, INIT_1F = 0; \
  parameter [255:0] INIT_20 = 0, INIT_21 = 0, INIT_22 = 0, INIT_23 = 0, INIT_24 = 0, INIT_25 = 0, INIT_26 = 0, INIT_27 = 0; \
  parameter [255:0] INIT_28 = 0, INIT_29 = 0, INIT_2A = 0, INIT_2B = 0, INIT_2C = 0, INIT_2D = 0, INIT_2E = 0, INIT_2F = 0; \
  parameter [255:0] INIT_30 = 0, INIT_31 = 0, INIT_32 = 0, INIT_33 = 0, INIT_34 = 0, INIT_35 = 0, INIT_36 = 0, INIT_37 = 0; \
  parameter [255:0] INIT_38 = 0, INIT_39 = 0, INIT_3A = 0, INIT_3B = 0, INIT_3C = 0, INIT_3D = 0, INIT_3E = 0, INIT_3F = 0; \
  parameter [255:0] INIT_40 = 0, INIT_41 = 0, INIT_42 = 0, INIT_43 = 0, INIT_44 = 0, INIT_45 = 0, INIT_46 = 0, INIT_47 = 0; \
  parameter [255:0] INIT_48 = 0, INIT_49 = 0, INIT_4A = 0, INIT_4B = 0, INIT_4C = 0, INIT_4D = 0, INIT_4E = 0, INIT_4F = 0; \
  parameter [255:0] INIT_50 = 0, INIT_51 = 0, INIT_52 = 0, INIT_53 = 0, INIT_54 = 0, INIT_55 = 0, INIT_56 = 0, INIT_57 = 0; \
  parameter [255:0] INIT_58 = 0, INIT_59 = 0, INIT_5A = 0, INIT_5B = 0, INIT_5C = 0, INIT_5D = 0, INIT_5E = 0, INIT_5F = 0; \
  parameter [255:0] INIT_60 = 0, INIT_61 = 0, INIT_62 = 0, INIT_63 = 0, INIT_64 = 0, INIT_65 = 0, INIT_66 = 0, INIT_67 = 0; \
  parameter [255:0] INIT_68 = 0, INIT_69 = 0, INIT_6A = 0, INIT_6B = 0, INIT_6C = 0, INIT_6D = 0, INIT_6E = 0, INIT_6F = 0; \
  parameter [255:0] INIT_70 = 0, INIT_71 = 0, INIT_72 = 0, INIT_73 = 0, INIT_74 = 0, INIT_75 = 0, INIT_76 = 0, INIT_77 = 0; \
  parameter [255:0] INIT_78 = 0, INIT_79 = 0, INIT_7A = 0, INIT_7B = 0, INIT_7C = 0, INIT_7D = 0, INIT_7E = 0, INIT_7F = 0; \
  parameter [255:0] INITP_00 = 0, INITP_01 = 0, INITP_02 = 0, INITP_03 = 0, INITP_04 = 0, INITP_05 = 0, INITP_06 = 0, INITP_07 = 0; \
  parameter [255:0] INITP_08 = 0, INITP_09 = 0, INITP_0A = 0, INITP_0B = 0, INITP_0C = 0, INITP_0D = 0, INITP_0E = 0, INITP_0F = 0;
`define ROPEWALK_DATA_RAMB36 { \
    INIT_7F, INIT_7E, INIT_7D, INIT_7C, INIT_7B, INIT_7A, INIT_79, INIT_78, \
    INIT_77, INIT_76, INIT_75, INIT_74, INIT_73, INIT_72, INIT_71, INIT_70, \
    INIT_6F, INIT_6E, INIT_6D, INIT_6C, INIT_6B, INIT_6A, INIT_69, INIT_68, \
    INIT_67, INIT_66, INIT_65, INIT_64, INIT_63, INIT_62, INIT_61, INIT_60, \
    INIT_5F, INIT_5E, INIT_5D, INIT_5C, INIT_5B, INIT_5A, INIT_59, INIT_58, \
    INIT_57, INIT_56, INIT_55, INIT_54, INIT_53, INIT_52, INIT_51, INIT_50, \
    INIT_4F, INIT_4E, INIT_4D, INIT_4C, INIT_4B, INIT_4A, INIT_49, INIT_48, \
    INIT_47, INIT_46, INIT_45, INIT_44, INIT_43, INIT_42, INIT_41, INIT_40, \
    INIT_3F, INIT_3E, INIT_3D, INIT_3C, INIT_3B, INIT_3A, INIT_39, INIT_38, \
    INIT_37, INIT_36, INIT_35, INIT_34, INIT_33, INIT_32, INIT_31, INIT_30, \
    INIT_2F, INIT_2E, INIT_2D, INIT_2C, INIT_2B, INIT_2A, INIT_29, INIT_28, \
    INIT_27, INIT_26, INIT_25, INIT_24, INIT_23, INIT_22, INIT_21, INIT_20, \
    INIT_1F, INIT_1E, INIT_1D, INIT_1C, INIT_1B, INIT_1A, INIT_19, INIT_18, \
    INIT_17, INIT_16, INIT_15, INIT_14, INIT_13, INIT_12, INIT_11, INIT_10, \
    INIT_0F, INIT_0E, INIT_0D, INIT_0C, INIT_0B, INIT_0A, INIT_09, INIT_08, \
    INIT_07, INIT_06, INIT_05, INIT_04, INIT_03, INIT_02, INIT_01, INIT_00}
`define ROPEWALK_PARITY_RAMB36 { \
    INITP_0F, INITP_0E, INITP_0D, INITP_0C, INITP_0B, INITP_0A, INITP_09, INITP_08, \
    INITP_07, INITP_06, INITP_05, INITP_04, INITP_03, INITP_02, INITP_01, INITP_00}

// The memory of both cells: bytes of 9 bits, the ninth being the parity. A word is 1, 2 or 4 bits of the low 8 of a
// byte, or 1, 2, 4 or 8 bytes; an address counts the bits of the low 8. Reads show what was stored before the clock.
module ropewalk_ramb #(
    parameter BITS = 14,                             // of an address
    parameter READ_A = 0, READ_B = 0, WRITE_A = 0, WRITE_B = 0,          // widths, 0 where it does not
    parameter MODE_A = 0, MODE_B = 0,                // 0 NO_CHANGE, 1 WRITE_FIRST, 2 READ_FIRST
    parameter REGISTER_A = 0, REGISTER_B = 0,
    parameter [71:0] START_A = 0, START_B = 0, RESET_A = 0, RESET_B = 0, // of the latches and registers
    parameter [(8 << BITS - 3)-1:0] DATA = 0,
    parameter [(1 << BITS - 3)-1:0] PARITY = 0
) (
    // Port A is bit 0, or the low part; port B the high.
    input [1:0] clk, enable, register_enable, reset, register_reset,
    input [2*BITS-1:0] address,
    input [15:0] write,
    input [143:0] data,
    output [143:0] q
);
  localparam BYTES = 1 << BITS - 3;
  reg [8:0] memory [0:BYTES-1];
  integer i;
  reg [8*BYTES-1:0] data_at_start;                   // Icarus takes long to select from a constant of this size
  reg [BYTES-1:0] parity_at_start;
  initial begin
    data_at_start = DATA;
    parity_at_start = PARITY;
    for (i = 0; i < BYTES; i = i + 1) memory[i] = {parity_at_start[i], data_at_start[8*i +: 8]};
  end

  genvar p;
  generate
    for (p = 0; p < 2; p = p + 1) begin : port
      localparam OTHER = 1 - p;
      localparam READ = p ? READ_B : READ_A, WRITE = p ? WRITE_B : WRITE_A;
      localparam OTHER_WRITE = p ? WRITE_A : WRITE_B;
      localparam MODE = p ? MODE_B : MODE_A, OTHER_MODE = p ? MODE_A : MODE_B;
      localparam READ_BYTES = READ < 9 ? 1 : READ / 9, WRITE_BYTES = WRITE < 9 ? 1 : WRITE / 9;
      localparam OTHER_BYTES = OTHER_WRITE < 9 ? 1 : OTHER_WRITE / 9;

      wire [BITS-1:0] a = address[BITS*p +: BITS];
      wire [BITS-1:0] other = address[BITS*OTHER +: BITS];
      wire [BITS-4:0] first_read = a[BITS-1:3] & ~(READ_BYTES - 1);
      wire [BITS-4:0] first_written = a[BITS-1:3] & ~(WRITE_BYTES - 1);
      wire [BITS-4:0] first_of_other = other[BITS-1:3] & ~(OTHER_BYTES - 1);
      wire [2:0] bit_read = a[2:0] & ~((READ < 9 ? READ : 8) - 1);
      wire [2:0] bit_written = a[2:0] & ~((WRITE < 9 ? WRITE : 8) - 1);
      wire [8:0] mask = WRITE < 9 ? ((1 << WRITE) - 1) << bit_written : 9'h1ff;
      wire [71:0] incoming = data[72*p +: 72] << (WRITE < 9 ? bit_written : 0);
      wire [7:0] enables = WRITE == 0 ? 8'd0 : write[8*p +: 8] & ((1 << WRITE_BYTES) - 1);
      wire writes = enable[p] & |enables;
      // Both clocks are taken for one: what the other port writes now is undefined here, unless it reads first.
      wire meets = OTHER_WRITE != 0 && OTHER_MODE != 2 && enable[OTHER];

      integer k;
      reg [71:0] latch = p ? START_B : START_A;
      reg [71:0] word;
      reg [BITS-4:0] place;
      always @(posedge clk[p])
        if (enable[p]) begin
          for (k = 0; k < WRITE_BYTES; k = k + 1)
            if (enables[k]) memory[first_written + k] <= memory[first_written + k] & ~mask | incoming[9*k +: 9] & mask;
        end
      /* verilator lint_off BLKSEQ */
      always @(posedge clk[p])
        if (enable[p]) begin
          word = 0;
          for (k = 0; k < READ_BYTES; k = k + 1) begin
            place = first_read + k;
            word[9*k +: 9] = memory[place];
            if (MODE == 1 && place - first_written < WRITE_BYTES && enables[place - first_written])
              word[9*k +: 9] = memory[place] & ~mask | incoming[9*(place - first_written) +: 9] & mask;
            if (meets && place - first_of_other < OTHER_BYTES && write[8*OTHER + place - first_of_other])
              word[9*k +: 9] = ~word[9*k +: 9];
          end
          if (reset[p]) latch <= p ? RESET_B : RESET_A;
          else if (MODE != 0 || !writes) latch <= READ < 9 ? word >> bit_read & ((1 << READ) - 1) : word;
        end
      /* verilator lint_on BLKSEQ */

      if (p ? REGISTER_B : REGISTER_A) begin : registered
        reg [71:0] held = p ? START_B : START_A;
        always @(posedge clk[p])
          if (register_enable[p]) held <= register_reset[p] ? (p ? RESET_B : RESET_A) : latch;
        assign q[72*p +: 72] = held;
      end else begin : direct
        assign q[72*p +: 72] = latch;
      end
    end
  endgenerate
endmodule

module RAMB18E1 (
    output [15:0] DOADO, DOBDO,
    output [1:0] DOPADOP, DOPBDOP,
    input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB,
    input RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
    input [13:0] ADDRARDADDR, ADDRBWRADDR,
    input [15:0] DIADI, DIBDI,
    input [1:0] DIPADIP, DIPBDIP,
    input [1:0] WEA,
    input [3:0] WEBWE
);
  `ROPEWALK_INIT_RAMB18
  parameter RAM_MODE = "TDP", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST";
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0, DOA_REG = 0, DOB_REG = 0;
  parameter [17:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0;
  parameter RSTREG_PRIORITY_A = "RSTREG", RSTREG_PRIORITY_B = "RSTREG", RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
  parameter SIM_COLLISION_CHECK = "ALL", SIM_DEVICE = "7SERIES", INIT_FILE = "NONE";
  parameter IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0;
  parameter IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0;
  parameter IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0;
  localparam SDP = RAM_MODE == "SDP", WIDE_READ = SDP && READ_WIDTH_A == 36, WIDE_WRITE = SDP && WRITE_WIDTH_B == 36;
  initial begin
    if (RAM_MODE != "TDP" && !SDP || !WIDE_READ && READ_WIDTH_A > 18 || !WIDE_WRITE && WRITE_WIDTH_B > 18 ||
        READ_WIDTH_B > 18 || WRITE_WIDTH_A > 18 || SDP && (READ_WIDTH_B != 0 || WRITE_WIDTH_A != 0)) begin
      $display("%m: the mode or a width is not one of this cell's");
      $finish;
    end
  end

  function [17:0] joined(input [1:0] p, input [15:0] d);
    joined = {p[1], d[15:8], p[0], d[7:0]};
  endfunction
  wire [17:0] in_a = joined(DIPADIP, DIADI), in_b = joined(DIPBDIP, DIBDI);
  wire [71:0] out_a, out_b;
  wire [71:0] shown_b = WIDE_READ ? out_a >> 18 : out_b;
  assign DOADO = {out_a[16:9], out_a[7:0]};
  assign DOPADOP = {out_a[17], out_a[8]};
  assign DOBDO = {shown_b[16:9], shown_b[7:0]};
  assign DOPBDOP = {shown_b[17], shown_b[8]};
  ropewalk_ramb #(
      .BITS(14), .READ_A(READ_WIDTH_A), .READ_B(READ_WIDTH_B), .WRITE_A(WRITE_WIDTH_A), .WRITE_B(WRITE_WIDTH_B),
      .MODE_A(WRITE_MODE_A == "READ_FIRST" ? 2 : WRITE_MODE_A == "WRITE_FIRST" ? 1 : 0),
      .MODE_B(WRITE_MODE_B == "READ_FIRST" ? 2 : WRITE_MODE_B == "WRITE_FIRST" ? 1 : 0),
      .REGISTER_A(DOA_REG), .REGISTER_B(DOB_REG),
      .START_A(WIDE_READ ? {joined(INIT_B[17:16], INIT_B[15:0]), joined(INIT_A[17:16], INIT_A[15:0])} : joined(INIT_A[17:16], INIT_A[15:0])), .START_B(joined(INIT_B[17:16], INIT_B[15:0])),
      .RESET_A(WIDE_READ ? {joined(SRVAL_B[17:16], SRVAL_B[15:0]), joined(SRVAL_A[17:16], SRVAL_A[15:0])} : joined(SRVAL_A[17:16], SRVAL_A[15:0])), .RESET_B(joined(SRVAL_B[17:16], SRVAL_B[15:0])),
      .DATA(`ROPEWALK_DATA_RAMB18), .PARITY(`ROPEWALK_PARITY_RAMB18)) ram (
      .clk({CLKBWRCLK ^ IS_CLKBWRCLK_INVERTED[0], CLKARDCLK ^ IS_CLKARDCLK_INVERTED[0]}),
      .enable({ENBWREN ^ IS_ENBWREN_INVERTED[0], ENARDEN ^ IS_ENARDEN_INVERTED[0]}),
      .register_enable({REGCEB, REGCEAREGCE}),
      .reset({RSTRAMB ^ IS_RSTRAMB_INVERTED[0], RSTRAMARSTRAM ^ IS_RSTRAMARSTRAM_INVERTED[0]}),
      .register_reset({RSTREGB ^ IS_RSTREGB_INVERTED[0], RSTREGARSTREG ^ IS_RSTREGARSTREG_INVERTED[0]}),
      .address({ADDRBWRADDR[13:0], ADDRARDADDR[13:0]}),
      .write({4'd0, WEBWE, 6'd0, WEA}),
      .data({WIDE_WRITE ? {36'd0, in_b, in_a} : {54'd0, in_b}, 54'd0, in_a}), .q({out_b, out_a}));
endmodule

module RAMB36E1 (
    output CASCADEOUTA, CASCADEOUTB,
    output [31:0] DOADO, DOBDO,
    output [3:0] DOPADOP, DOPBDOP,
    output [7:0] ECCPARITY,
    output [8:0] RDADDRECC,
    output SBITERR, DBITERR,
    input CASCADEINA, CASCADEINB, INJECTDBITERR, INJECTSBITERR,
    input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB,
    input RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
    input [15:0] ADDRARDADDR, ADDRBWRADDR,
    input [31:0] DIADI, DIBDI,
    input [3:0] DIPADIP, DIPBDIP,
    input [3:0] WEA,
    input [7:0] WEBWE
);
  `ROPEWALK_INIT_RAMB36
  parameter RAM_MODE = "TDP", WRITE_MODE_A = "WRITE_FIRST", WRITE_MODE_B = "WRITE_FIRST";
  parameter READ_WIDTH_A = 0, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 0, DOA_REG = 0, DOB_REG = 0;
  parameter [35:0] INIT_A = 0, INIT_B = 0, SRVAL_A = 0, SRVAL_B = 0;
  parameter RSTREG_PRIORITY_A = "RSTREG", RSTREG_PRIORITY_B = "RSTREG", RDADDR_COLLISION_HWCONFIG = "DELAYED_WRITE";
  parameter SIM_COLLISION_CHECK = "ALL", SIM_DEVICE = "7SERIES", INIT_FILE = "NONE";
  parameter IS_CLKARDCLK_INVERTED = 0, IS_CLKBWRCLK_INVERTED = 0, IS_ENARDEN_INVERTED = 0, IS_ENBWREN_INVERTED = 0;
  parameter IS_RSTRAMARSTRAM_INVERTED = 0, IS_RSTRAMB_INVERTED = 0;
  parameter IS_RSTREGARSTREG_INVERTED = 0, IS_RSTREGB_INVERTED = 0;
  parameter RAM_EXTENSION_A = "NONE", RAM_EXTENSION_B = "NONE", EN_ECC_READ = "FALSE", EN_ECC_WRITE = "FALSE";
  initial if (RAM_EXTENSION_A != "NONE" || RAM_EXTENSION_B != "NONE" || EN_ECC_READ != "FALSE" || EN_ECC_WRITE != "FALSE")
  begin
    $display("%m: cascades and error correction are not modelled");
    $finish;
  end
  assign {CASCADEOUTA, CASCADEOUTB, ECCPARITY, RDADDRECC, SBITERR, DBITERR} = 0;
  localparam SDP = RAM_MODE == "SDP", WIDE_READ = SDP && READ_WIDTH_A == 72, WIDE_WRITE = SDP && WRITE_WIDTH_B == 72;
  initial begin
    if (RAM_MODE != "TDP" && !SDP || !WIDE_READ && READ_WIDTH_A > 36 || !WIDE_WRITE && WRITE_WIDTH_B > 36 ||
        READ_WIDTH_B > 36 || WRITE_WIDTH_A > 36 || SDP && (READ_WIDTH_B != 0 || WRITE_WIDTH_A != 0)) begin
      $display("%m: the mode or a width is not one of this cell's");
      $finish;
    end
  end

  function [35:0] joined(input [3:0] p, input [31:0] d);
    joined = {p[3], d[31:24], p[2], d[23:16], p[1], d[15:8], p[0], d[7:0]};
  endfunction
  wire [35:0] in_a = joined(DIPADIP, DIADI), in_b = joined(DIPBDIP, DIBDI);
  wire [71:0] out_a, out_b;
  wire [71:0] shown_b = WIDE_READ ? out_a >> 36 : out_b;
  assign DOADO = {out_a[34:27], out_a[25:18], out_a[16:9], out_a[7:0]};
  assign DOPADOP = {out_a[35], out_a[26], out_a[17], out_a[8]};
  assign DOBDO = {shown_b[34:27], shown_b[25:18], shown_b[16:9], shown_b[7:0]};
  assign DOPBDOP = {shown_b[35], shown_b[26], shown_b[17], shown_b[8]};
  ropewalk_ramb #(
      .BITS(15), .READ_A(READ_WIDTH_A), .READ_B(READ_WIDTH_B), .WRITE_A(WRITE_WIDTH_A), .WRITE_B(WRITE_WIDTH_B),
      .MODE_A(WRITE_MODE_A == "READ_FIRST" ? 2 : WRITE_MODE_A == "WRITE_FIRST" ? 1 : 0),
      .MODE_B(WRITE_MODE_B == "READ_FIRST" ? 2 : WRITE_MODE_B == "WRITE_FIRST" ? 1 : 0),
      .REGISTER_A(DOA_REG), .REGISTER_B(DOB_REG),
      .START_A(WIDE_READ ? {joined(INIT_B[35:32], INIT_B[31:0]), joined(INIT_A[35:32], INIT_A[31:0])} : joined(INIT_A[35:32], INIT_A[31:0])), .START_B(joined(INIT_B[35:32], INIT_B[31:0])),
      .RESET_A(WIDE_READ ? {joined(SRVAL_B[35:32], SRVAL_B[31:0]), joined(SRVAL_A[35:32], SRVAL_A[31:0])} : joined(SRVAL_A[35:32], SRVAL_A[31:0])), .RESET_B(joined(SRVAL_B[35:32], SRVAL_B[31:0])),
      .DATA(`ROPEWALK_DATA_RAMB36), .PARITY(`ROPEWALK_PARITY_RAMB36)) ram (
      .clk({CLKBWRCLK ^ IS_CLKBWRCLK_INVERTED[0], CLKARDCLK ^ IS_CLKARDCLK_INVERTED[0]}),
      .enable({ENBWREN ^ IS_ENBWREN_INVERTED[0], ENARDEN ^ IS_ENARDEN_INVERTED[0]}),
      .register_enable({REGCEB, REGCEAREGCE}),
      .reset({RSTRAMB ^ IS_RSTRAMB_INVERTED[0], RSTRAMARSTRAM ^ IS_RSTRAMARSTRAM_INVERTED[0]}),
      .register_reset({RSTREGB ^ IS_RSTREGB_INVERTED[0], RSTREGARSTREG ^ IS_RSTREGARSTREG_INVERTED[0]}),
      .address({ADDRBWRADDR[14:0], ADDRARDADDR[14:0]}),
      .write({WEBWE, 4'd0, WEA}),
      .data({WIDE_WRITE ? {in_b, in_a} : {36'd0, in_b}, 36'd0, in_a}), .q({out_b, out_a}));
endmodule

/* verilator lint_on MULTIDRIVEN */
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on WIDTH */
/* verilator lint_on DECLFILENAME */
