"""How many blocks of an ECP5 a rotary engine takes, those in its Verilog: all other memories are distributed RAM."""

import re

import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import design_files
from ropewalk.geometry import only_rotary
from ropewalk.models import read_model


@pytest.mark.parametrize(
    ("model", "pairing", "block_rams"),
    [("gemma-3", "interleaved", 12), ("gemma-3", "both", 20), ("gemma-4", "interleaved", 18), ("gemma-4", "both", 26)],
)
def test_four_lanes_eight_slots_and_all_positions(model, pairing, block_rams):
    """The bounds are what was asked for; gemma-4's full attention has heads of 512, the others of 256."""
    read = only_rotary(read_model({"gemma-3": "gemma-3-270m"}.get(model, model)))
    design = Design(
        geometry=read.only("full_attention") if model == "gemma-4" else read,
        lanes=4,
        slots=8,
        positions=1 << 24,
        input_pairing=pairing,
        output_pairing=pairing,
        family="ecp5",
    )
    assert design.geometry.head_dim == (512 if model == "gemma-4" else 256)
    verilog = design_files(design)["ropewalk.v"]
    assert 8 < len(re.findall(r"^  DP16KD #\(", verilog, re.MULTILINE)) <= block_rams
    assert 20 < len(re.findall(r"^  MULT18X18D #\(", verilog, re.MULTILINE)) <= 28
