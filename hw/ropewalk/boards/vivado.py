"""What Vivado needs to build for a Xilinx board: the Verilog, the pins, and a script. Nothing here runs it."""

from collections.abc import Iterable

from .registry import Board

SCRIPT = "vivado.tcl"

_SCRIPT = """# {title}: run as `vivado -mode batch -source {script}` in this folder; makes {board}.bit.
create_project -in_memory -part {part}
{reads}
read_xdc {pins}
synth_design -top {module} -part {part}
opt_design
place_design
phys_opt_design
route_design
report_utilization -file utilization.txt
report_timing_summary -file timing.txt
if {{[get_property SLACK [get_timing_paths]] < 0}} {{ error "the timing is not met: see timing.txt" }}
write_bitstream -force {board}.bit
"""


def vivado_script(files: Iterable[str], module: str, board: Board) -> str:
    """The script that builds ``module`` of ``files`` for ``board``, in a folder with them and with the board's pins."""
    reads = [f"read_verilog {name}" for name in sorted(files) if name.endswith(".v")]
    # Vivado looks for the files of $readmemh where it is told of them.
    reads += [f"read_mem {name}" for name in sorted(files) if name.endswith(".hex")]
    return _SCRIPT.format(
        title=board.title,
        script=SCRIPT,
        board=board.name,
        part=board.part,
        reads="\n".join(reads),
        pins=board.pins,
        module=module,
    )
