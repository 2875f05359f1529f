"""What Hugging Face and llama.cpp made of Qwen2-VL's and Qwen3-VL's positions, against the emitted Verilog.

One engine, made for a text model of that head size with three axes, takes both models' slots over AXI4-Lite.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.models import read_model
from ropewalk_sim.beats import Script, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.exact import exact_axes, exact_inverse_frequency, exact_rotation, exact_turns
from ropewalk_sim.registers import load_slot, read_crcs

DATA = Path(__file__).parents[2] / "data"
CONFIGURATIONS = json.loads((DATA / "golden_rope.json").read_text())["configurations"]
MODELS = {"qwen2_vl_7b_mrope": ("qwen2_vl_text", False), "qwen3_vl_8b_imrope": ("qwen3_vl_text", True)}
ULP = 2.0**-23
SCALE = 2.0**-12
"""Of an LSB. The golden vectors are normal: none of their components is above 8, none of their pairs after turning."""


def one_head(geometry):
    """One query and one key head, whose elements come in pairs: the test brings them into that order itself."""
    return replace(geometry, query_heads=1, key_heads=1, pairing="interleaved", output_pairing="interleaved")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text") / "engine"
    design = Design(geometry=one_head(read_model("llama-2-7b")), lanes=4, position_axes=3)
    write_design_folder(design, folder)
    return design, open_engine("verilator", folder)


def design_of(name, tmp_path):
    """The design of a golden configuration, from a configuration file in the model's own keys."""
    golden = CONFIGURATIONS[name]
    path = tmp_path / f"{name}.json"
    parameters = {
        "rope_type": "default",
        "rope_theta": golden["rope_theta"],
        "mrope_section": golden["mrope_section"],
    }
    path.write_text(
        json.dumps(
            {
                "model_type": MODELS[name][0],
                "head_dim": golden["head_dim"],
                "num_attention_heads": 28,
                "num_key_value_heads": 4,
                "num_hidden_layers": 3,
                "max_position_embeddings": 32768,
                "rope_parameters": parameters,
            }
        )
    )
    return Design(geometry=one_head(read_model(str(path))), lanes=4)


@pytest.mark.parametrize(("slot", "name"), list(enumerate(MODELS, 3)))
def test_the_software_of_two_stacks(slot, name, engine, tmp_path):
    text, verilog = engine
    design = design_of(name, tmp_path)
    assert (design.axes, text.axes) == (3, 3)
    golden = np.load(DATA / "golden_rope.npz")
    position = golden[f"hf/{name}/thw"]
    half = golden[f"hf/{name}/q"].astype(float).reshape(2, 64)
    pairs = np.tile(half.T, (len(position), 2, 1, 1))  # [tokens, heads, pairs, 2]: elements i and i + 64 are pair i
    words = np.rint(pairs / SCALE).astype(np.int64)
    assert np.abs(words).max() * np.sqrt(2) < 32767
    descriptors = descriptor_words(slot, position, tag=np.arange(len(position)), axes=3)
    stream = whole_tokens(text, descriptors, words.reshape(len(position), 2, 128))
    script = Script(registers=(*load_slot(slot, design), *read_crcs([slot])))
    output = verilog.run(stream, script=script)
    assert not output.error.any()
    assert not any(answer.refused for answer in output.answers)
    found = output.data.reshape(pairs.shape)

    config = CONFIGURATIONS[name]
    frequencies = exact_inverse_frequency(config["rope_theta"], 128)
    axis = exact_axes(config["mrope_section"], interleaved=MODELS[name][1])
    turns = exact_turns(frequencies, position, axis)
    exact = exact_rotation(words, turns[:, None])
    assert np.abs(found - exact).max() <= 0.75

    angle = position[:, axis] * np.array(frequencies, float)
    ours = np.array(frequencies, float)
    theirs = golden[f"hf/{name}/inv_freq_f32"]
    relative = {
        "hf": np.abs(theirs - ours) / ours + ULP / 2,  # its frequencies, and half an ulp of their product
        "llama.cpp": (np.arange(64) / 2 + 4) * ULP,  # multiplies its way from pair to pair
    }
    length = np.hypot(*half)
    # Past its sections llama.cpp takes a fourth position, which is 0, where the others take time: no turn there.
    still = np.array([MODELS[name][1] and pair % 3 > 0 and axis[pair] == 0 for pair in range(64)])
    for stack, error in relative.items():
        rotated = golden[f"{stack}/{name}/q_rot_f32"].reshape(len(position), 2, 64)
        software = rotated.swapaxes(1, 2)  # [tokens, pairs, 2]
        bound = length * (angle * error + 2 * ULP) + (0.75 + np.sqrt(0.5)) * SCALE  # and what we round, in and out
        wanted = found[:, 0] * SCALE
        if stack == "llama.cpp":
            wanted[:, still] = half.T[still]
        assert (np.abs(wanted - software) <= bound[..., None]).all(), stack
    assert np.flatnonzero(still).tolist() == ([61, 62] if MODELS[name][1] else [])
    # The positions tell the axes apart: Qwen2-VL's sharing of pairs is not Qwen3-VL's.
    other = exact_axes(config["mrope_section"], interleaved=not MODELS[name][1])
    assert np.abs(exact_rotation(words, exact_turns(frequencies, position, other)[:, None]) - exact).max() > 1000
