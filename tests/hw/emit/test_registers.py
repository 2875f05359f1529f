"""``registers.h``, as a C compiler understands it, and ``docs/registers.md``."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ropewalk.emit.registers import register_header
from ropewalk.gateware.register_map import register_map
from ropewalk_cli.register_page import register_page

DOCS = Path(__file__).parents[3] / "docs"

UNITS = {"rotary": "ropewalk", "alibi": "ropewalk_alibi"}
"""The name of each unit's address map."""


def page_of(unit):
    return DOCS / ("registers.md" if unit == "rotary" else f"registers-{unit}.md")


@pytest.mark.parametrize("unit", UNITS)
def test_a_c_program_finds_every_register_and_field(unit, tmp_path):
    registers = register_map(unit)
    struct = UNITS[unit]
    offsets = "".join(f'  printf("{name} %zu\\n", offsetof({struct}_t, {name}));\n' for name in registers)
    masks = [
        (f"{name.upper()}.{field}", f"{struct.upper()}__{name.upper()}__{field.upper()}")
        for name, register in registers.items()
        if not re.search("_heads|counter|tokens|rows|beats|stalls|saturations|errors|\\[", name)
        for field in register.fields
    ]
    fields = "".join(f'  printf("{name} %u %d %d\\n", {macro}_bm, {macro}_bp, {macro}_bw);\n' for name, macro in masks)
    (tmp_path / "registers.h").write_text(register_header(unit))
    program = tmp_path / "offsets.c"
    program.write_text(
        '#include <stddef.h>\n#include <stdio.h>\n#include "registers.h"\n'
        f"int main(void) {{\n{offsets}{fields}  return 0;\n}}\n"
    )
    compiler = shutil.which("gcc") or "cc"
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", program, "-o", tmp_path / "offsets"]
    subprocess.run(command, check=True, cwd=tmp_path)
    printed = subprocess.run([tmp_path / "offsets"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert printed[: len(registers)] == [f"{name} {register.address}" for name, register in registers.items()]
    expected = []
    for name, _ in masks:
        register, field = name.split(".")
        bits = registers[register.lower()].fields[field]
        expected.append(f"{name} {((1 << bits.width) - 1) << bits.low} {bits.low} {bits.width}")
    assert printed[len(registers) :] == expected
    assert len(expected) > 25


@pytest.mark.parametrize("unit", UNITS)
def test_the_header_is_the_same_every_time_and_names_no_place(unit):
    again = register_header.__wrapped__(unit)
    assert again == register_header(unit)
    assert "/tmp" not in again and not re.search(r"\b20\d\d\b", again)


@pytest.mark.parametrize("unit", UNITS)
def test_the_page_is_what_the_exporter_gives(unit):
    """Else: python -m ropewalk_cli.register_page docs/registers.md, or docs/registers-UNIT.md UNIT."""
    assert page_of(unit).read_text(encoding="utf-8") == register_page(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_page_has_every_register_once(unit):
    page = page_of(unit).read_text(encoding="utf-8")
    first = {name: register for name, register in register_map(unit).items() if not re.search(r"\[[1-9]", name)}
    headings = re.findall(r"^### (\S+) register\n\n- Absolute Address: 0x(\w+)$", page, re.MULTILINE)
    assert headings == [(name.removesuffix("[0]"), f"{register.address:X}") for name, register in first.items()]
    rows = re.findall(r"^\| *0x(\w+)\| *(\S+?) *\|", page, re.MULTILINE)
    assert rows == [(f"{register.address:03X}", name) for name, register in first.items()]
