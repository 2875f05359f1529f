"""``docs/registers-learned.md`` and the header of the learned-table adder."""

import re
from pathlib import Path

from ropewalk.emit.registers import register_header
from ropewalk.gateware.learned.registers import COUNTERS, FULL_WORDS, UNIT
from ropewalk.gateware.register_map import register_map
from ropewalk_cli.register_page import register_page

PAGE = Path(__file__).parents[3] / "docs" / "registers-learned.md"


def test_the_page_is_what_the_exporter_gives() -> None:
    """Else: python -m ropewalk_cli.register_page docs/registers-learned.md learned."""
    assert PAGE.read_text(encoding="utf-8") == register_page(UNIT)


def test_full_words_and_counters_are_those_of_the_description() -> None:
    registers = register_map(UNIT)
    assert set(FULL_WORDS) == {name for name, one in registers.items() if one.writable} - {"control", "status"}
    assert [registers[name].address for name in COUNTERS] == list(range(0x80, 0xA0, 4))


def test_the_header_has_every_register() -> None:
    header = register_header(UNIT)
    assert "ropewalk_learned_t" in header
    missing = [name for name in register_map(UNIT) if not re.search(rf"\b{name}\b", header)]
    assert not missing
