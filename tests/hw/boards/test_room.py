"""What a part has, and netlists that are too large for it."""

import re

import pytest
from ropewalk.boards.build import build
from ropewalk.boards.families import ECP5
from ropewalk.boards.parts import part_of
from ropewalk.boards.registry import BOARDS
from ropewalk.boards.report import make_report
from ropewalk.boards.room import RoomError
from ropewalk.boards.synthesis import synthesise
from ropewalk.boards.unit import Unit

ICE40 = "ICE40UP5K-SG48"

KINDS = {
    "ecp5": {"comb": "TRELLIS_COMB", "ff": "TRELLIS_FF", "dsp": "MULT18X18D", "block_ram": "DP16KD"},
    "ice40": {"comb": "ICESTORM_LC", "ff": "ICESTORM_LC", "dsp": "ICESTORM_DSP", "block_ram": "ICESTORM_RAM"},
    "gowin": {"comb": "LUT4", "ff": "DFF", "dsp": "MULT18X18", "block_ram": "BSRAM"},
}
"""What nextpnr calls it."""

EVERYTHING = """module ropewalk(input clk, we, input [15:0] a, b, input [9:0] place,
                output reg [31:0] p, output reg [15:0] q);
reg [15:0] x, y, m[0:1023];
always @(posedge clk) begin x <= a + b; y <= b; p <= x * y; q <= m[a]; if (we) m[place] <= b; end
endmodule
"""


def products(count: int) -> Unit:
    """So many products of 16 bits."""
    each = "".join(
        f"reg [31:0] p{number}; always @(posedge clk) p{number} <= a[{number} +: 16] * b[{number} +: 16];\n"
        for number in range(count)
    )
    every = " ^ ".join(f"p{number}" for number in range(count))
    text = f"module ropewalk(input clk, input [63:0] a, b, output [31:0] p);\n{each}assign p = {every};\nendmodule\n"
    return Unit(files={"ropewalk.v": text}, clock="clk")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({board.part for board in BOARDS.values() if board.device.placer is not None}))
def test_a_part_has_what_nextpnr_finds_in_it(name):
    part = part_of(name)
    available = build(Unit(files={"ropewalk.v": EVERYTHING}, clock="clk"), part).report.available
    for kind, cell in KINDS[part.family.name].items():
        assert getattr(part.room, kind) == available[cell], kind


def test_an_artix_has_what_its_data_sheet_says():
    """DS180: 33,280 logic cells of 1.6 each; 90 DSP slices; 1,800 Kbit in blocks of 36; twice as many registers."""
    room = part_of("xc7a35t").room
    assert (room.comb, room.ff, room.dsp, room.block_ram) == (33_280 / 1.6, 2 * 20_800, 90, 1_800 / 36)


def test_what_lattice_does_not_promise_of_an_lfe5u_12f_is_said():
    """It promises 32 block RAMs, and an LFE5U-25F has 56."""
    text = "".join(
        f"reg [35:0] m{number}[0:511], q{number}; always @(posedge clk) begin q{number} <= m{number}[a]; "
        f"if (we) m{number}[b] <= {{d, a, b, a, b}}; end\n"
        for number in range(33)
    )
    ports = "input clk, we, d, input [8:0] a, b, output reg [35:0] q"
    every = " ^ ".join(f"q{number}" for number in range(33))
    files = {"ropewalk.v": f"module ropewalk({ports});\n{text}always @(posedge clk) q <= {every};\nendmodule\n"}
    synthesis = synthesise(files, family=ECP5)
    unit = Unit(files=files, clock="clk")

    def notes(name: str) -> tuple[str, ...]:
        part = part_of(name)
        return make_report(
            unit, synthesis, None, part, board=None, seed=1, target_mhz=None, seconds={}, called=()
        ).notes

    assert any("33 of 32 block RAMs (block_ram): more than its maker promises" in one for one in notes("LFE5U-12F-6"))
    assert not any("promises" in one for one in notes("LFE5U-25F-6"))


def test_too_many_multipliers_are_said_before_anything_is_placed():
    steps = []
    with pytest.raises(
        RoomError, match=rf"^{ICE40} has no room for it: it takes 9 of 8 multipliers \(dsp\)$"
    ) as failed:
        build(products(9), part_of(ICE40), told=steps.append)
    assert steps == ["synthesis"]
    assert failed.value.larger == ()
    assert failed.value.log.startswith("== synthesis")


def test_the_boards_that_would_hold_it_are_named():
    with pytest.raises(RoomError, match=r"it takes 29 of 28 multipliers") as failed:
        build(products(29), part_of("LFE5U-25F-6"))
    assert failed.value.larger == ("ulx3s-85f", "ulx3s-45f")


def test_what_only_the_placer_can_count():
    """Look-up tables and registers that do not share cells: each kind alone would fit."""
    text = """module ropewalk(input clk, a, output reg p);
    reg [3999:0] s; always @(posedge clk) begin s <= {s, a}; p <= ^(s & {s[1999:0], s[3999:2000]}); end
    endmodule"""
    with pytest.raises(RoomError) as failed:
        build(Unit(files={"ropewalk.v": text}, clock="clk"), part_of(ICE40))
    said = re.fullmatch(rf"{ICE40} has no room for it: it takes (\d+) of 5280 ICESTORM_LC", str(failed.value))
    assert said is not None and int(said[1]) > 5280
    assert "== place and route" in failed.value.log
