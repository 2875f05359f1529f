"""The model of a table that follows a software stack, against what that software rotated itself."""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.geometry.recipe import Recipe
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.model import rotate, rows

DATA = Path(__file__).parents[1] / "data"
POSITIONS = np.array(json.loads((DATA / "golden_rope.json").read_text())["positions"])
CASES = {
    "qwen25_7b": Recipe(kind="default", base=1e6, width=128),
    "cohere_command_r": Recipe(kind="default", base=8e6, width=128),
    "qwen25_7b_yarn4": Recipe(
        kind="yarn", base=1e6, width=128, factor=4.0, original=32768, beta_fast=32.0, beta_slow=1.0, truncate=True
    ),
    "smollm2_135m": Recipe(kind="default", base=1e5, width=64),
}
AMPLITUDES = {"qwen25_7b_yarn4": 1.138629436111989}
SCALE = 2.0**-28
"""Value of an LSB: 32-bit words reach to 8."""


def table(name, model):
    with np.load(DATA / "golden_rope.npz") as arrays:
        frequencies = arrays[f"hf/{name}/inv_freq_ref64"]
    recipe = CASES[name]
    variant = Variant(
        name="default",
        inverse_frequency=tuple(frequencies.tolist()),
        amplitude=AMPLITUDES.get(name, 1.0),
        max_position=1 << 24,
        recipe=recipe,
    )
    geometry = RotaryGeometry(
        model_type="test",
        head_dim=recipe.width,
        rotary_dim=recipe.width,
        rotary_start=0,
        query_heads=2,
        key_heads=1,
        pairing="interleaved",
        output_pairing="interleaved",
        layers=None,
        variants=(variant,),
    )
    return Design(
        geometry=geometry,
        lanes=4,
        source="table",
        positions=64,
        data_width=32,
        coefficient_width=24,
        angle_model=model,
    )


def pairs_of(values, name):
    """Elements ``[..., head_dim]`` as pairs ``[..., pairs, 2]`` in the model's own order."""
    if name == "cohere_command_r":
        return values.reshape(*values.shape[:-1], -1, 2)
    return np.stack(np.split(values, 2, axis=-1), axis=-1)


def difference(name, model, stack):
    """The largest difference from the software's rotation at all positions."""
    with np.load(DATA / "golden_rope.npz") as arrays:
        q, rotated = arrays[f"hf/{name}/q"], arrays[f"{stack}/{name}/q_rot_f32"]
    design = table(name, model)
    words = np.rint(pairs_of(q.astype(float), name) / SCALE).astype(np.int64)
    ours = rotate(design, words[:, None], rows(design, 0, POSITIONS)) * SCALE
    return np.max(np.abs(ours - pairs_of(rotated.astype(float), name)))


@pytest.mark.parametrize(("model", "stack"), [("hf_f32", "hf"), ("llamacpp_f32", "llama.cpp")])
@pytest.mark.parametrize("name", CASES)
def test_rotations_are_those_of_the_software(name, model, stack):
    # The software's products and sums in float32 (values to 4), its cosine (one unit), our coefficient (half a unit).
    assert difference(name, model, stack) < 3e-6


@pytest.mark.parametrize("stack", ["hf", "llama.cpp"])
def test_exact_angles_are_not(stack):
    assert difference("qwen25_7b", "exact", stack) > 0.02
