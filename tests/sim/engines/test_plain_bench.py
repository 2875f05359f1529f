"""The emitted Verilog in Icarus under a bench that is plain Verilog: every input is defined from time 0 on."""

import json
import re
import subprocess

from ropewalk_cli.main import call

BENCH = """`timescale 1ns/1ps
module bench;
  reg aclk = 0, aresetn = 0;
  reg offer = 0;
  wire valid, last;
  wire [63:0] data;
  wire [7:0] tag;
  wire [2:0] user;
  integer beats = 0, undefined = 0;
  always #5 aclk = ~aclk;
  ropewalk dut(.aclk(aclk), .aresetn(aresetn), .m_axis_tvalid(valid), .m_axis_tready(1'b1),
    .m_axis_tdata(data), .m_axis_tlast(last), .m_axis_tid(tag), .m_axis_tuser(user),
    .s_axis_token_tdata(64'd0), .s_axis_token_tvalid(offer),
    .s_axis_tdata(64'h0123_4567_89ab_cdef), .s_axis_tvalid(offer), .s_axis_tlast(1'b0), .s_axis_tid(8'd0),
    .s_axil_awaddr(12'd0), .s_axil_awprot(3'd0), .s_axil_awvalid(1'b0),
    .s_axil_wdata(32'd0), .s_axil_wstrb(4'd0), .s_axil_wvalid(1'b0), .s_axil_bready(1'b0),
    .s_axil_araddr(12'd0), .s_axil_arprot(3'd0), .s_axil_arvalid(1'b0), .s_axil_rready(1'b0));
  initial begin
    repeat (4) @(posedge aclk); #1 $display("in reset %b", valid);
    aresetn = 1; repeat (4) @(posedge aclk); #1 $display("after reset %b", valid);
    offer = 1;
    repeat (1500) begin
      @(posedge aclk);
      if (valid !== 0) begin
        beats = beats + 1;
        if (^{valid, data, last, tag, user} === 1'bx) undefined = undefined + 1;
      end
    end
    $display("beats %0d undefined %0d", beats, undefined);
    $finish;
  end
endmodule
"""


def test_valid_is_low_in_reset_and_nothing_undefined_is_ever_offered(tmp_path):
    """The bench itself drives nothing undefined."""
    config = {
        "model_type": "stablelm", "hidden_size": 240, "num_attention_heads": 3, "num_key_value_heads": 1,
        "max_position_embeddings": 64, "rope_theta": 10000, "partial_rotary_factor": 0.25,
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert call(["generate", str(tmp_path / "config.json"), "-o", str(tmp_path / "engine")]) == 0
    (tmp_path / "bench.v").write_text(BENCH)
    compiled = ["iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", "bench.v", "engine/ropewalk.v"]
    subprocess.run(compiled, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    seen = subprocess.run(
        ["vvp", "-n", "../bench.vvp"], cwd=tmp_path / "engine", check=True, capture_output=True, text=True, timeout=120
    )
    assert "in reset 0" in seen.stdout
    assert "after reset 0" in seen.stdout
    # Every field of the descriptor is 0: nothing that the engine reads ever changes, and yet all that it gives is
    # defined. It is one token of 4 heads of 20 beats; with no TLAST, what follows is dropped.
    found = re.search(r"beats (\d+) undefined (\d+)", seen.stdout)
    assert found is not None
    assert found.groups() == ("80", "0")
