"""Emitted components in Icarus, with the models of a family's cells: a word in and a word out per clock."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from amaranth.lib.wiring import In, Out
from ropewalk.emit.verilog import emit_top
from ropewalk.gateware.component import Component
from ropewalk.gateware.contents import RomContents
from ropewalk_sim.cells import MODELLED, cell_models

FAMILIES = ("generic", "ecp5", "ice40", "gowin", "xilinx")

BENCH = """
module bench;
  reg clk = 0;
  reg [{width}:0] rows [0:{last}];
  reg [{width}:0] row = 0;
  wire [{outputs}:0] out;
  integer number, file;
  ropewalk dut (.clk(clk), .rst(1'b0), .row(row), .out(out));
  initial begin
    $readmemh("in.txt", rows);
    file = $fopen("out.txt", "w");
    for (number = 0; number <= {last}; number = number + 1) begin
      row = rows[number];
      #1 clk = 1;
      #1 $fdisplay(file, "%b", out);
      clk = 0;
    end
    $fclose(file);
  end
endmodule
"""


class Bench(Component):
    """Anything between one input word and one output word."""

    def __init__(self, row: int, out: int):
        super().__init__({"row": In(row), "out": Out(out)})


def outputs(
    component: Bench, rows: Sequence[int], *, family: str, folder: Path, roms: Mapping[str, RomContents] | None = None
) -> list[str]:
    """The bits of ``out`` after each clock, the lowest first; ``x`` where one is undefined."""
    for name, text in emit_top(component, roms or {}, family=family).items():
        (folder / name).write_text(text)
    models = cell_models(family, folder) if family in MODELLED else ()
    (folder / "in.txt").write_text("".join(f"{row:x}\n" for row in rows))
    bench = BENCH.format(width=len(component.row) - 1, outputs=len(component.out) - 1, last=len(rows) - 1)
    (folder / "bench.v").write_text(bench)
    run(
        "iverilog",
        "-g2005",
        "-s",
        "bench",
        "-o",
        "bench.vvp",
        "bench.v",
        "ropewalk.v",
        *map(str, models),
        folder=folder,
    )
    run("vvp", "-n", "bench.vvp", folder=folder)
    return [line[::-1] for line in (folder / "out.txt").read_text().split()]


def run(*command: str, folder: Path) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
