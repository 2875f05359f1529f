"""The emitted files of an ALiBi unit: what memory they have, what they hold, that they are the same every time."""

import json
import re

import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.alibi_json import alibi_design_from_json
from ropewalk.emit.alibi import alibi_files, alibi_memory_files
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes


def design(**options):
    geometry = AlibiGeometry(model_type="test", heads=12, slopes=alibi_slopes(12), mode="relative")
    return AlibiDesign(geometry=geometry, **options)


@pytest.mark.parametrize(
    ("options", "queue"),
    [({}, 16), ({"lanes": 8, "data_width": 32, "fraction_bits": 12, "capacity": 16, "registers": False}, 32)],
)
def test_there_is_no_other_memory_than_the_documented(options, queue):
    """2 x capacity x (F + 30) bits of slopes, and a queue: of beats, and of what goes with them."""
    one = design(**options)
    verilog = alibi_files(one)["ropewalk.v"]
    memories = [
        (int(width) + 1, int(last) + 1)
        for width, last in re.findall(r"^  reg \[(\d+):0\] \\?\S+ +\[0:(\d+)\];$", verilog, re.MULTILINE)
    ]
    memories.sort(key=lambda memory: memory[0] * memory[1], reverse=True)
    side = one.lanes + 10
    counters = [(32, 16)] * 2 if one.registers else []
    wanted = [
        (one.slope_bits, 2 * one.capacity),
        (one.lanes * one.data_width, queue),
        (side, queue),
        *counters,
    ]
    assert memories == sorted(wanted, key=lambda memory: memory[0] * memory[1], reverse=True)
    assert one.slope_bits * 2 * one.capacity == one.memory_bits


def test_the_slope_file_holds_the_slopes():
    one = design()
    words = [int(line, 16) for line in alibi_memory_files(one)["slopes.hex"].split()]
    assert words[:12] == list(one.slope_words)
    assert words[7] == 1 << 30  # the eighth of twelve slopes is 2^-8, an LSB
    assert words[12:] == [0] * 500


def test_the_same_design_gives_the_same_bytes():
    files = alibi_files(design())
    assert files == alibi_files(design())
    assert sorted(files) == ["README.md", "design.json", "registers.h", "ropewalk.v", "slopes.hex"]
    description = json.loads(files["design.json"])
    assert alibi_design_from_json(description, "design.json") == design()
    assert description["derived"]["latency"] == 18
