"""Components of a unit alone: which there are, and what they read."""

import re

import pytest
from ropewalk.design import Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.emit.components import component_files
from ropewalk.errors import InputError
from ropewalk.geometry import only_rotary
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk.models import read_model


def rotary(**options):
    return Design(geometry=only_rotary(read_model("gemma-3-270m")), lanes=4, **options)


def ports(verilog):
    """The ports of the top module with their widths."""
    top = verilog[verilog.index("\nmodule ropewalk(") :]
    found = re.findall(r"^  (?:input|output) (?:\[(\d+):0\] )?\\?(\S+) ?;", top[: top.index("endmodule")], re.MULTILINE)
    return {name: int(high or 0) + 1 for high, name in found}


def test_a_rotator_is_one_lane_between_streams():
    files = component_files(rotary(), "rotator")
    assert list(files) == ["ropewalk.v"]
    # x and y, quadrant and two coefficients of 18 bits, rotated, inverse.
    assert ports(files["ropewalk.v"]) == {
        "clk": 1, "rst": 1, "beat__payload": 2 * 16 + 2 + 2 * 18 + 2, "beat__valid": 1, "beat__ready": 1,
        "result__payload": 2 * 16, "result__valid": 1, "result__ready": 1, "saturated": 2,
    }  # fmt: skip


def test_a_lane_alone_has_no_valid_and_ready():
    files = component_files(rotary(), "lane")
    assert list(files) == ["ropewalk.v"]
    assert ports(files["ropewalk.v"]) == {
        "clk": 1, "rst": 1, "x": 16, "y": 16, "entry": 2 + 2 * 18, "rotated": 1, "inverse": 1, "out0": 16, "out1": 16,
        "saturated": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "files"),
    [("generator", ["sine.hex", "steps.hex"]), ("engine", ["sine.hex", "slots.hex", "steps.hex"])],
)
def test_a_component_brings_the_memories_that_it_reads(name, files):
    made = component_files(rotary(), name)
    assert sorted(made) == sorted(["ropewalk.v", *files])
    assert "s_axil_awvalid" not in ports(made["ropewalk.v"])


def test_a_component_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="gemma3_text has no component row; it has engine, generator, lane, rotator"):
        component_files(rotary(), "row")
    table = rotary(source="table", positions=8)
    with pytest.raises(InputError, match="has no component generator; it has engine, lane, rotator"):
        component_files(table, "generator")
    alibi = AlibiDesign(geometry=AlibiGeometry(model_type="b", heads=2, slopes=alibi_slopes(2), mode="relative"))
    with pytest.raises(InputError, match="has no component rotator; it has engine"):
        component_files(alibi, "rotator")
    assert sorted(component_files(alibi, "engine")) == ["ropewalk.v", "slopes.hex"]
