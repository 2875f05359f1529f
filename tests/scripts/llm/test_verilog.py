"""The Verilog of an engine in the place of the model's arithmetic."""

import shutil

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_llm.design import Widths, design_of, folder_of, given_design
from ropewalk_llm.hardware import Verilog
from ropewalk_llm.rotation import Rotation


@pytest.fixture
def generated(geometry, tmp_path, monkeypatch):
    monkeypatch.setenv("ROPEWALK_CACHE", str(tmp_path / "cache"))
    return folder_of(design_of(geometry, Widths()))


def test_the_verilog_agrees_and_a_changed_rom_does_not(geometry, generated, tmp_path):
    random = np.random.default_rng(3)
    arrays = random.normal(size=(6, 4, 8)), random.normal(size=(6, 2, 8)), np.arange(6) * 1_000_003
    design = given_design(generated, geometry)
    sound = Rotation(design, hardware=Verilog(generated))
    found = sound(0, 0, *arrays)
    assert sound.statistics.differing_bits == 0
    wanted = Rotation(design)(0, 0, *arrays)
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))
    assert folder_of(design) == generated

    broken = tmp_path / "broken"
    shutil.copytree(generated, broken)
    steps = (broken / "steps.hex").read_text().split()
    # The step of the first pair with one bit changed.
    steps[0] = f"{int(steps[0], 16) ^ 1 << 40:0{len(steps[0])}x}"
    (broken / "steps.hex").write_text("\n".join(steps) + "\n")
    faulty = Rotation(design, hardware=Verilog(broken))
    faulty(0, 0, *arrays)
    assert faulty.statistics.differing_bits > 20
    assert (faulty.statistics.first_difference or "").startswith("layer 0, q, token 1, ")


def test_a_design_of_another_geometry_is_refused(folder, generated):
    from ropewalk.models import read_model

    other = read_model(str(folder("other", rope_theta=500000.0)))
    with pytest.raises(InputError, match=r"is for llama with another geometry than the model's"):
        given_design(generated, other)
