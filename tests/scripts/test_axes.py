"""The command line for models whose positions have several axes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk_cli.corners import corner_stream, repeated
from ropewalk_cli.main import call
from ropewalk_sim.compare import compare
from ropewalk_sim.framing import frame
from ropewalk_sim.stream_model import run_model

VISION = {
    "model_type": "qwen2_vl_text",
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "num_hidden_layers": 3,
    "max_position_embeddings": 64,
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [2, 1, 1]},
}
"""Two query heads and one key head of eight elements, 64 positions on three axes."""


@pytest.fixture(scope="module")
def vision(tmp_path_factory):
    """The folder of VISION's engine. Tests must not change it."""
    folder = tmp_path_factory.mktemp("vision")
    (folder / "config.json").write_text(json.dumps(VISION))
    assert call(["generate", str(folder / "config.json"), "-o", str(folder / "design")]) == 0
    return folder / "design"


@pytest.fixture
def run(ropewalk, npz, tmp_path):
    """Run arrays through an engine and give what came out."""

    def run(folder, arrays, engine="model"):
        result = ropewalk("run", folder, "--input", npz(arrays), "--output", tmp_path / "Y.npz", "--engine", engine)
        assert result.code == 0, result
        with np.load(tmp_path / "Y.npz", allow_pickle=False) as file:
            return dict(file), result

    return run


def test_the_summary_and_the_page_name_the_axes(ropewalk, vision, tmp_path):
    result = ropewalk("generate", vision.parent / "config.json", "-o", tmp_path / "again")
    assert "axes              3 of a position: a descriptor has 4 words" in result.out
    page = (vision / "README.md").read_text()
    assert "| `s_axis_token_tdata` | in | 128 |" in page
    for line in ("| 63:32 | position on axis 0 |", "| 95:64 | position on axis 1 |", "| 127:96 | position on axis 2 |"):
        assert line in page
    assert "| 0x048 | `offset[2]` | added to every position on axis 2 (signed), 0 after reset |" in page
    assert "input [127:0] s_axis_token_tdata;" in (vision / "ropewalk.v").read_text()


def test_positions_of_three_axes_and_of_text(run, vision, arrays):
    floats = {name: arrays[name].astype(float) for name in ("q", "k")}
    position = np.array([[0, 0, 0], [7, 3, 5], [63, 0, 0], [0, 64, 0], [1, 2, 64]])
    found, result = run(vision, floats | {"position": position})
    assert found["error"].tolist() == [0, 0, 0, 1, 1]
    assert "the limit on some axis" in result.err
    text, _ = run(vision, floats | {"position": position[:, 0]})
    spread, _ = run(vision, floats | {"position": np.repeat(position[:, :1], 3, axis=1)})
    for name in ("q", "k", "error"):
        assert np.array_equal(text[name], spread[name])
    assert not np.array_equal(text["q"][1], found["q"][1])
    assert text["error"].tolist() == [0] * 5
    verilog, _ = run(vision, floats | {"position": position}, "verilator")
    assert all(np.array_equal(found[name], verilog[name]) for name in found)


def test_positions_of_another_shape_are_refused(refused, vision, arrays, npz, tmp_path):
    given = npz(arrays | {"position": np.zeros((5, 2), int)})
    sentence = refused("run", vision, "--input", given, "--output", tmp_path / "Y.npz")
    assert "position has the shape [5, 2], and this engine's positions have 3 axes: it must be [tokens, 3]" in sentence
    assert not (tmp_path / "Y.npz").exists()


def test_engines_agree_and_the_exact_angle_too(ropewalk, vision):
    result = ropewalk("verify", vision, "--json", "--engines", "model,icarus,verilator")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert [entry["differing_bits"] for entry in document["engines"]] == [None, 0, 0]
    (variant,) = document["variants"]
    assert 0.5 < variant["worst_lsb"] <= 0.70


def test_more_axes_than_the_model_needs(ropewalk, config, run, arrays, tmp_path):
    """``--axes 3``: the same rotation, with a word for each axis, all of which are compared with the limit."""
    plain, wide = tmp_path / "plain", tmp_path / "wide"
    assert ropewalk("generate", config(), "-o", plain).code == 0
    result = ropewalk("generate", config(), "-o", wide, "--axes", 3)
    assert result.code == 0 and "3 of a position" in result.out
    one, _ = run(plain, arrays)
    three, _ = run(wide, arrays, "verilator")
    assert all(np.array_equal(one[name], three[name]) for name in one)
    apart, _ = run(wide, arrays | {"position": np.stack([arrays["position"], [1, 2, 3, 64, 5], [9] * 5], axis=1)})
    assert apart["error"].tolist() == [0, 0, 0, 1, 0]
    keep = [0, 1, 2, 4]
    assert np.array_equal(apart["q"][keep], one["q"][keep])
    # The geometry is the same, and so is its digest.
    assert ropewalk("digest", plain).out.split()[0] == ropewalk("digest", wide).out.split()[0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--axes", 2), "the model's positions have 3 axes, which do not fit an engine of 2: give 3 axes"),
        (("--axes", 4), "axes must be an integer from 1 to 3, not 4"),
        (("--source", "table"), "a table holds one row per position, and here a row follows from positions on 3 axes"),
    ],
)
def test_what_cannot_be_made_is_refused(refused, vision, tmp_path, options, sentence):
    assert sentence in refused("generate", vision.parent / "config.json", "-o", tmp_path / "new", *options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("slow", [False, True])
def test_corner_cases_reach_each_axis_by_itself(vision, slow):
    """A token beyond the limit on one axis only, for each axis; and one like the token before but for that axis."""
    design = load_rotary(vision)
    stream = corner_stream(design, 1, slow=slow)
    beyond = stream.descriptors[:, 1:] >= design.limits[0]
    known = stream.descriptors[:, 0] & 0xFF == 0
    alone = known & (beyond.sum(axis=1) == 1)
    assert (beyond[alone].sum(axis=0) >= 3).all()
    assert frame(design, stream).error.any()
    tokens = repeated(design, np.random.default_rng(1))
    pairs = zip(tokens, tokens[1:], strict=False)
    unlike = [[x != y for x, y in zip(a[2], b[2], strict=True)] for a, b in pairs if a[:2] == b[:2]]
    assert all([axis == place for place in range(3)] in unlike for axis in range(3))


def one_is_read_as_another(words, axis):
    """The word of ``axis`` is that of the next one."""
    words[:, 1 + axis] = words[:, 1 + (axis + 1) % 3]


def row_of_the_one_before(words, axis):
    """A token that differs from the one before on ``axis`` only takes its row."""
    for token in range(1, len(words)):
        same = (words[token] ^ words[token - 1]) & [0xFFFF, *(0xFFFFFFFF * (other != axis) for other in range(3))] == 0
        if same.all():
            words[token, 1:] = words[token - 1, 1:]


def limit_not_compared(words, axis):
    """A position at the limit or past it on ``axis`` is taken for one inside."""
    words[:, 1 + axis] %= 64


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("fault", [one_is_read_as_another, row_of_the_one_before, limit_not_compared])
@pytest.mark.parametrize("slow", [False, True])
def test_corner_cases_tell_faults_of_one_axis(vision, fault, axis, slow):
    design = load_rotary(vision)
    stream = corner_stream(design, 1, slow=slow)
    words = stream.descriptors.astype(np.int64)
    fault(words, axis)
    wrong = replace(stream, descriptors=words.astype(np.uint32))
    assert compare(design, run_model(design, stream), run_model(design, wrong)).differing_bits > 0
