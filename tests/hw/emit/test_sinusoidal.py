"""What is written about a sinusoidal adder's registers: the page and the C header."""

from pathlib import Path

from ropewalk.emit.registers import register_header
from ropewalk.gateware.register_map import register_map
from ropewalk.gateware.sinusoidal.registers import COUNTERS, UNIT
from ropewalk_cli.register_page import register_page

PAGE = Path(__file__).parents[3] / "docs" / "registers-sinusoidal.md"


def test_the_page_is_what_the_exporter_gives():
    """Else: python -m ropewalk_cli.register_page docs/registers-sinusoidal.md sinusoidal."""
    assert PAGE.read_text(encoding="utf-8") == register_page(UNIT)


def test_the_header_has_every_register():
    header = register_header(UNIT)
    registers = register_map(UNIT)
    assert set(COUNTERS) < set(registers)
    for name, register in registers.items():
        assert f"{name};" in header
        for field in register.fields if name not in COUNTERS else ():
            assert f"__{name.upper()}__{field.upper()}_bm" in header
