"""Every combinational block of what is emitted is woken at time 0, also those of one statement."""

import re

from ropewalk.design import default_design
from ropewalk.emit.folder import design_files
from ropewalk.emit.waking import woken
from ropewalk.models import read_model

WRITTEN = """module a(b, c);
  reg \\$auto$verilog_backend.cc:1:dump_module$3  = 0;
  input b;
  output [1:0] c;
  reg [1:0] c;
  always @* begin
    if (\\$auto$verilog_backend.cc:1:dump_module$3 ) begin end
    c[0] = b;
  end
  always @*
    c[1] = b;
endmodule

module d(e, f);
  input e;
  output [1:0] f;
  reg [1:0] f;
  always @*
    f[1:0] = { e, 1'h0 };
endmodule

module g(h);
  input h;
endmodule
"""


def test_each_kind_of_block_by_hand():
    text = woken(WRITTEN)
    assert text.count("always @*") == text.count("always @* begin\n    if (\\$wake ) begin end\n") == 3
    assert text.count("initial \\$wake <= 0;") == 2
    assert "verilog_backend" not in text
    assert text.endswith("module g(h);\n  input h;\nendmodule\n")
    for statement in ("c[0] = b;", "c[1] = b;", "f[1:0] = { e, 1'h0 };"):
        assert text.count(statement) == 1


def test_no_block_of_an_engine_sleeps():
    files = design_files(default_design(read_model("pythia-6.9b")))
    for name in ("ropewalk.v", "sequencer.v"):
        blocks = re.findall(r"always @\*[^\n]*\n([^\n]*)", files[name])
        assert blocks
        assert set(blocks) == {"    if (\\$wake ) begin end"}
