"""Tops with a fault of the protocol: each engine that runs Verilog must say what it saw, and end."""

from pathlib import Path

import pytest
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import open_engine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import Access

# A register between the data ports, which takes every descriptor. The fault is read from a ROM file, so that one
# build serves all of them.
VERILOG = """
module ropewalk(
    input aclk, input aresetn,
    input [127:0] s_axis_tdata, input [7:0] s_axis_tid, input s_axis_tlast, input s_axis_tvalid, output s_axis_tready,
    output [127:0] m_axis_tdata, output [7:0] m_axis_tid, output [2:0] m_axis_tuser, output m_axis_tlast,
    output m_axis_tvalid, input m_axis_tready,
    input [63:0] s_axis_token_tdata, input s_axis_token_tvalid, output s_axis_token_tready,
    input s_axil_awvalid, input s_axil_wvalid, input s_axil_arvalid, input s_axil_bready, input s_axil_rready,
    input [11:0] s_axil_awaddr, input [11:0] s_axil_araddr, input [2:0] s_axil_awprot, input [2:0] s_axil_arprot,
    input [31:0] s_axil_wdata, input [3:0] s_axil_wstrb,
    output s_axil_awready, output s_axil_wready, output s_axil_arready, output s_axil_bvalid, output s_axil_rvalid,
    output [1:0] s_axil_bresp, output [1:0] s_axil_rresp, output [31:0] s_axil_rdata
);
    reg [7:0] fault [0:0];
    initial $readmemh("fault.hex", fault);
    reg full = 0, waited = 0;
    reg [127:0] data = 0;
    reg [7:0] tid = 0;
    reg last = 0;
    reg never;
    // The register port reads 0 for ever. Faults: 7 no answer, 8 an answer unasked, 9 an answer that changes.
    reg write_done = 0, read_done = 0, read_waited = 0;
    assign s_axil_awready = s_axil_awvalid && s_axil_wvalid && !write_done;
    assign s_axil_wready = s_axil_awready;
    assign s_axil_arready = !read_done;
    assign s_axil_bvalid = write_done || fault[0] == 8 && aresetn;
    assign s_axil_rvalid = read_done && fault[0] != 7;
    assign s_axil_bresp = 0;
    assign s_axil_rresp = 0;
    assign s_axil_rdata = {31'd0, fault[0] == 9 && read_waited};
    always @(posedge aclk) begin
        write_done <= aresetn && (s_axil_awready || write_done && !s_axil_bready);
        read_done <= aresetn && (s_axil_arvalid && s_axil_arready || read_done && !(s_axil_rvalid && s_axil_rready));
        read_waited <= s_axil_rvalid && !s_axil_rready;
    end
    assign s_axis_token_tready = aresetn;
    assign s_axis_tready = aresetn && !full;
    assign m_axis_tvalid = fault[0] == 3 || fault[0] == 4 && aresetn || full && !(fault[0] == 1 && waited);
    assign m_axis_tdata = fault[0] == 2 && waited ? ~data : data;
    assign m_axis_tid = fault[0] == 6 && waited ? ~tid : tid;
    assign m_axis_tuser = fault[0] == 5 ? {3{never}} : 3'd0;
    assign m_axis_tlast = last;
    always @(posedge aclk) begin
        waited <= m_axis_tvalid && !m_axis_tready;
        if (!aresetn) full <= 0;
        else if (s_axis_tvalid && s_axis_tready) begin
            full <= 1;
            {data, tid, last} <= {s_axis_tdata, s_axis_tid, s_axis_tlast};
        end else if (m_axis_tready) full <= 0;
    end
endmodule
"""
FAULTS = {
    "valid falls": (1, "m_axis_tvalid fell before the beat was taken"),
    "data changes": (2, "the payload of m_axis changed before the beat was taken"),
    "valid in reset": (3, "m_axis_tvalid was high in reset"),
    "too many": (4, "more beats came out than went in"),
    "TID changes": (6, "the payload of m_axis changed before the beat was taken"),
}


@pytest.fixture
def faulty(tmp_path, design_folder):
    def make(fault: int) -> Path:
        (tmp_path / "design.json").write_text((design_folder("four-lanes") / "design.json").read_text())
        (tmp_path / "ropewalk.v").write_text(VERILOG)
        (tmp_path / "fault.hex").write_text(f"{fault:02x}\n")
        return tmp_path

    return make


def stream(engine):
    return scenarios.plain(engine.design, seed=1, tokens=5)


@pytest.mark.parametrize("name", ["verilator", "icarus"])
def test_a_top_without_a_fault_is_let_pass(faulty, name):
    engine = open_engine(name, faulty(0))
    output = engine.run(stream(engine), stalls=Stalls(output=0.5))
    assert (output.data == stream(engine).data).all()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["verilator", "icarus"])
def test_a_fault_is_named(faulty, name, fault):
    number, message = FAULTS[fault]
    engine = open_engine(name, faulty(number))
    # Beats from nowhere change while they wait: that would be seen first.
    stalls = Stalls(output=0.0 if fault == "too many" else 0.5)
    with pytest.raises(EngineError, match=rf"^{name}: in clock \d+: {message}"):
        engine.run(stream(engine), stalls=stalls)


PORT_FAULTS = {
    "no answer": (7, r"the register port did not answer for \d+ clocks"),
    "an answer unasked": (8, "the register port answered what it was not asked"),
    "an answer that changes": (9, "an answer of the register port changed before it was taken"),
}


@pytest.mark.parametrize("fault", PORT_FAULTS)
def test_a_fault_of_the_register_port_is_named(faulty, fault):
    number, message = PORT_FAULTS[fault]
    engine = open_engine("verilator", faulty(number))
    script = Script(meanwhile=(Access(address=0),) * 50)
    with pytest.raises(EngineError, match=rf"^verilator: in clock \d+: {message}"):
        engine.run(stream(engine), stalls=Stalls(registers=0.5), script=script)


def test_a_register_port_that_does_not_answer_icarus(faulty):
    engine = open_engine("icarus", faulty(7))
    with pytest.raises(EngineError, match="the register port did not answer"):
        engine.run(stream(engine), script=Script(registers=(Access(address=0),)))


def test_icarus_sees_what_is_undefined(faulty):
    engine = open_engine("icarus", faulty(5))
    with pytest.raises(EngineError, match="m_axis is undefined under valid: .*XXX"):
        engine.run(stream(engine))


def test_a_missing_rom_file_is_an_error(faulty):
    engine = open_engine("verilator", faulty(0))
    (engine._folder / "fault.hex").unlink()
    with pytest.raises(EngineError, match=r"readmem file not found \(fault\.hex"):
        engine.run(stream(engine))
