"""Whole builds of small modules: clocks, paths, failures, and bitstreams for each packer."""

from dataclasses import replace

import pytest
from ropewalk.boards.build import build
from ropewalk.boards.parts import part_of
from ropewalk.boards.registry import BOARDS
from ropewalk.boards.tools import Tool
from ropewalk.boards.unit import Unit
from ropewalk.errors import BuildError

PARTS = {"ecp5": "LFE5U-25F-6", "ice40": "ICE40UP5K-SG48", "gowin": "GW1NR-LV9QN88PC6/I5"}


@pytest.mark.parametrize("name", PARTS.values(), ids=PARTS)
def test_a_counter_out_of_context(name, counter):
    """16 bits that are added to: the path from the lowest bit to the highest, in the component's own words."""
    part = part_of(name)
    steps = []
    made = build(counter, part, seed=7, told=steps.append)
    report = made.report
    assert steps == ["synthesis", "netlist", "place and route", "placing", "refining the placement", "routing"]
    assert (report.part, report.seed, report.out_of_context, report.timing_met) == (name, 7, True, None)
    assert (report.ff, report.dsp, report.block_ram) == (48, 0, 0)
    # One look-up table a bit; 32 registers at the boundary, which only the placer counts.
    assert 16 <= report.comb <= 22
    registers = {"ecp5": "TRELLIS_FF", "ice40": "ICESTORM_LC", "gowin": "DFF"}[part.family.name]
    assert report.used[registers] >= 48 + 32
    assert report.clocks == {"clk": report.clock_mhz}
    assert 30 < report.clock_mhz < 700
    assert {step.split("[")[0] for step in report.critical_path} <= {"accumulator.held", "accumulator.total"}
    assert report.critical_path[-1].startswith("accumulator.total[")
    assert sorted(made.files) == ["netlist.v"]
    assert "== synthesis: " in made.log and "== place and route: " in made.log
    tools = {"ecp5": "nextpnr-ecp5", "ice40": "nextpnr-ice40", "gowin": "nextpnr-himbaechel-gowin"}
    assert report.tools["yosys"] == "0.69"
    assert report.tools[tools[part.family.name]] == "0.11.1.0.post826"


def test_the_same_seed_gives_the_same_clock(counter):
    part = part_of(PARTS["ice40"])
    first, again = (build(counter, part, seed=3).report for _ in range(2))
    assert (first.clocks, first.critical_path, first.source_sha256) == (
        again.clocks, again.critical_path, again.source_sha256
    )  # fmt: skip


def test_a_clock_that_is_not_reached_fails(counter):
    part = part_of(PARTS["ice40"])
    with pytest.raises(
        BuildError, match=r"timing is not met: clk reaches [\d.]+ of 200\.0 MHz; the slowest path: .*total"
    ) as failed:
        build(counter, part, target_mhz=200)
    assert "Max frequency for clock" in failed.value.log
    report = build(counter, part, target_mhz=200, allow_timing_fail=True).report
    assert (report.timing_met, report.target_mhz, report.targets) == (False, 200, {"clk": 200})
    assert build(counter, part, target_mhz=20).report.timing_met is True


def test_a_xilinx_part_has_an_area_and_no_clock(counter):
    made = build(counter, part_of("xc7a35t"), target_mhz=100)
    assert (made.report.clock_mhz, made.report.clocks, made.report.critical_path) == (None, {}, ())
    assert made.report.timing_met is None
    assert made.report.ff == 48
    assert any("no clock" in note for note in made.report.notes)


def test_a_missing_tool_is_named_before_any_work(counter):
    missing = Tool("nextpnr-new", "yowasp-nextpnr-new", "yowasp_nextpnr_new", "")
    steps = []
    with pytest.raises(BuildError, match=r"nextpnr-new is not installed; pip install 'ropewalk\[build\]' brings it"):
        build(counter, replace(part_of(PARTS["ecp5"]), placer=missing), told=steps.append)
    assert steps == []


BITSTREAMS = {
    # The IDCODE of an LFE5U-12F and of an LFE5U-25F, as Lattice gives them for JTAG; the write of a bitstream's check
    # of it is command E2.
    "ulx3s-12f": {".bit": bytes.fromhex("e2000000 21111043"), ".svf": b"21111043"},
    "icepi-zero": {".bit": bytes.fromhex("e2000000 41111043"), ".svf": b"41111043"},
    "icebreaker": {".bin": bytes.fromhex("7eaa997e")},
    # Command 06, and the IDCODE of a GW1N-9C and of a GW2A-18C in binary.
    "tang-nano-9k": {".fs": f"{0x06000000:032b}{0x1100481B:032b}".encode()},
    "tang-primer-20k": {".fs": f"{0x06000000:032b}{0x0000081B:032b}".encode()},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BITSTREAMS)
def test_a_bitstream_for_a_board(name, blinky):
    board = BOARDS[name]
    made = build(blinky(board), board.device, board=board)
    assert sorted(made.bitstreams) == sorted(f"{name}{ending}" for ending in BITSTREAMS[name])
    assert sorted(made.files) == sorted(["netlist.v", "ropewalk.v", board.pins, *made.bitstreams])
    for ending, marks in BITSTREAMS[name].items():
        assert marks in made.files[f"{name}{ending}"]
    assert (made.report.board, made.report.out_of_context) == (name, False)
    # The clock that the PLL makes of the one on the pin, as nextpnr reads its parameters.
    assert {round(target, 1) for target in made.report.targets.values()} >= {board.target_mhz}
    assert (made.report.timing_met, made.report.target_mhz) == (True, board.target_mhz)
    assert {"EHXPLLL", "ICESTORM_PLL", "rPLL"} & set(made.report.used)


PORTS_ALONE = """module ropewalk(input clk, reset_button, uart_rx, output uart_tx, led_pass, output reg led_fail);
assign uart_tx = uart_rx, led_pass = reset_button;
always @(posedge clk) led_fail <= reset_button;
endmodule
"""


def test_what_vivado_needs_for_an_arty():
    board = BOARDS["arty-a7-35t"]
    unit = Unit(files={"ropewalk.v": PORTS_ALONE, "words.hex": "0\n"}, clock="clk")
    made = build(unit, board.device, board=board)
    assert sorted(made.files) == ["arty-a7.xdc", "netlist.v", "ropewalk.v", "vivado.tcl", "words.hex"]
    script = made.files["vivado.tcl"].decode()
    assert "create_project -in_memory -part xc7a35ticsg324-1L\nread_verilog ropewalk.v\nread_mem words.hex\n" in script
    assert "read_xdc arty-a7.xdc\nsynth_design -top ropewalk -part xc7a35ticsg324-1L\n" in script
