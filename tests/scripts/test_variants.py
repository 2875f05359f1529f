"""``generate --variant``, ``--only`` and ``--slots``: variants of several models in one engine."""

import json
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk.models import read_model
from ropewalk_sim.stream import pack_run, unpack_run
from ropewalk_sim.stream_model import run_model

PARTIAL = {"partial_rotary_factor": 0.5, "rope_theta": 500.0}


@pytest.fixture
def other(tmp_path, config):
    """Write another model's config.json: TINY with changes."""

    def write(name, **changes):
        folder = tmp_path / name
        folder.mkdir()
        values = json.loads(config().read_text()) | changes
        (folder / "config.json").write_text(json.dumps(values))
        return folder

    return write


def test_variants_stand_behind_the_models_own_in_their_order(ropewalk, config, other, tmp_path):
    half, more = other("half", **PARTIAL), other("more", num_attention_heads=4, num_key_value_heads=2)
    result = ropewalk(
        "generate", config(), "-o", tmp_path / "out", "--variant", f"b={half}", "--variant", f"a={more}", "--slots", 5
    )
    assert result.code == 0, result.err
    design = load_rotary(tmp_path / "out")
    assert [variant.name for variant in design.variants] == ["default", "b", "a"]
    assert [shape.pairs for shape in design.shapes] == [4, 2, 4]
    assert design.slots == 5
    assert design.geometry.layers == ("default",) * 3
    derived = json.loads((tmp_path / "out" / "design.json").read_text())["derived"]
    # Half order takes lanes that divide b's 2 pairs: 3 heads of two beats against 4 clocks for a row, and against 2.
    assert design.lanes == 2
    assert [derived["slots"][name]["beats_per_clock"] for name in ("default", "b", "a")] == [1.0, 1.0, 1.0]
    assert "64: elements" not in result.out and "4: elements 0 to 3, 2 pairs (b)" in result.out
    # The head counts of the one that has others.
    assert "hold the head counts of default (slot 0), 2 and 1; write 4 and 2 before tokens of a (slot 2)." in result.err
    page = (tmp_path / "out" / "README.md").read_text()
    assert "| 1 | b | 0 to 3 | 1 | 0 to 63 | 1.000 |" in page
    assert "Tokens of a have 4 query and 2 key heads" in page


def test_what_is_said_of_another_model_is_said_with_its_name(ropewalk, config, tmp_path):
    path = config(hidden_size=128, head_dim=64)
    result = ropewalk("generate", path, "-o", tmp_path / "o", "--variant", "v=deepseek-v3")
    assert result.code == 0, result.err
    assert "note: v: attention_scale" in result.err
    assert load_rotary(tmp_path / "o").geometry.of(1).pairing == "interleaved"


def test_several_variants_of_one_model_keep_their_names(ropewalk, tmp_path):
    result = ropewalk("generate", "qwen3-8b-yarn", "-o", tmp_path / "o", "--variant", "phi=gpt-oss-20b", "--slots", 64)
    assert result.code == 2 and "heads of 64 elements" in result.err
    result = ropewalk("generate", "gemma-7b", "-o", tmp_path / "o", "--variant", "g=gemma-3-270m")
    assert result.code == 0, result.err
    names = [variant.name for variant in load_rotary(tmp_path / "o").variants]
    assert names == ["default", "g.full_attention", "g.sliding_attention"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--variant", "x"), "--variant must be NAME=MODEL, such as long=llama-3.1-8b"),
        (("--variant", "=llama-7b"), "--variant must be NAME=MODEL"),
        (("--variant", "a="), "--variant must be NAME=MODEL"),
        (("--variant", "a b=llama-7b"), "with a NAME of at most 64 letters"),
        (("--variant", "a\nb=llama-7b"), "with a NAME of at most 64 letters"),
        (("--variant", "default=llama-7b"), "there is a variant 'default' already"),
        (("--variant", "a=llama-7b", "--variant", "a=llama-2-7b"), "--variant a=llama-2-7b: there is a variant 'a'"),
        (("--variant", "a=no-such-model"), "no-such-model is neither a file"),
        (("--variant", "a=bloom-176b"), "--variant a=bloom-176b: bloom has attention with linear biases"),
        (("--variant", "a=bert-base"), "--variant a=bert-base: bert has learned positions"),
        (("--variant", "a=transformer-base"), "transformer has sinusoidal positions"),
        (("--variant", "a=gpt-j-6b"), "a (gptj) has heads of 256 elements, and default (llama) has heads of 128"),
        (("--variant", "a=llama-7b", "--slots", "1"), "2 variants, which do not fit 1 slots"),
        (("--slots", "0"), "slots must be an integer from 1 to 64"),
        (("--slots", "65"), "slots must be an integer from 1 to 64"),
        (("--only", "full_attention"), "no variant 'full_attention'; its variants are default"),
        (("--variant", "a=qwen2.5-7b", "--no-registers"), "a: 28 query and 4 key heads"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(refused, tmp_path, options, named):
    assert named in refused("generate", "llama-3.1-8b", "-o", tmp_path / "out", *options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("more", [(), ("--variant", "a=llama-7b")])
def test_two_head_sizes_ask_for_one_of_them(refused, tmp_path, more):
    sentence = refused("generate", "gemma-4", "-o", tmp_path / "out", *more)
    assert "(full_attention: 512 elements, sliding_attention: 256 elements)" in sentence and "--only NAME" in sentence


def test_each_size_of_gemma_4_is_an_engine(ropewalk, tmp_path):
    for name, head_dim in (("full_attention", 512), ("sliding_attention", 256)):
        out = tmp_path / name
        result = ropewalk("generate", "gemma-4", "-o", out, "--only", name)
        assert result.code == 0, result.err
        design = load_rotary(out)
        assert (design.geometry.head_dim, [variant.name for variant in design.variants]) == (head_dim, [name])
        rng = np.random.default_rng(1)
        heads = {"q": 8, "k": 2}
        x = {key: rng.integers(-8000, 8000, (3, count, head_dim)) for key, count in heads.items()}
        np.savez(tmp_path / "x.npz", position=[0, 1, 1000], **x)
        done = ropewalk("run", out, "--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz", "--engine", "model")
        assert done.code == 0, done.err
        y = np.load(tmp_path / "y.npz")
        np.testing.assert_array_equal(y["q"][0], x["q"][0])
        assert not y["error"].any() and (y["q"][1] != x["q"][1]).any()


@pytest.mark.parametrize("model_type", ["exaone4", "olmo3"])
def test_layers_of_different_slices_are_slots_of_one_engine(ropewalk, config, tmp_path, model_type):
    """What a configuration may say of each kind of layer: how much of the head it rotates."""
    kinds = {
        "full_attention": {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.0},
    }
    path = config(
        model_type=model_type, rope_theta=None, rope_parameters=kinds, sliding_window=16,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
    )  # fmt: skip
    result = ropewalk("generate", path, "-o", tmp_path / "out")
    assert result.code == 0, result.err
    design = load_rotary(tmp_path / "out")
    assert {variant.name: shape.pairs for variant, shape in zip(design.variants, design.shapes, strict=True)} == {
        "full_attention": 2,
        "sliding_attention": 4,
    }


def test_the_other_models_options_are_its_own(ropewalk, tmp_path, config, other):
    """--pairing is for MODEL, --sequence-length for all."""
    dynamic = {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}
    two, one = other("two", **dynamic), config(**dynamic)
    options = ("--pairing", "interleaved", "--sequence-length", 128)
    result = ropewalk("generate", one, "-o", tmp_path / "out", "--variant", f"b={two}", *options)
    assert result.code == 0, result.err
    found, direct = load_rotary(tmp_path / "out").geometry, read_model(str(two / "config.json"), sequence_length=128)
    assert [found.of(slot).pairing for slot in (0, 1)] == ["interleaved", "half"]
    assert found.variants[1].inverse_frequency == direct.variants[0].inverse_frequency
    assert found.variants[1].inverse_frequency == found.variants[0].inverse_frequency


def test_five_models_in_one_engine_turn_as_each_of_them_alone(ropewalk, tmp_path):
    """The emitted Verilog, its slot changing on every token: whole heads, a half, a quarter, and YaRN."""
    models = {"yarn": "qwen2.5-7b-yarn", "half": "glm-4.5", "quarter": "pythia-6.9b", "llama2": "llama-2-7b"}
    options = [part for name, model in models.items() for part in ("--variant", f"{name}={model}")]
    out = tmp_path / "out"
    result = ropewalk("generate", "llama-3.1-8b", "-o", out, *options)
    assert result.code == 0, result.err
    names = ["default", *models]
    rng = np.random.default_rng(8)
    variant = np.array(names)[np.arange(40) % len(names)]
    arrays = {
        "q": rng.integers(-20000, 20000, (40, 32, 128)),
        "k": rng.integers(-20000, 20000, (40, 8, 128)),
        "position": rng.integers(0, 2048, 40),
    }
    np.savez(tmp_path / "x.npz", variant=variant, **arrays)
    done = ropewalk("run", out, "--input", tmp_path / "x.npz", "--output", tmp_path / "y.npz")
    assert done.code == 0, done.err
    y = np.load(tmp_path / "y.npz")
    assert not y["error"].any()
    geometry = load_rotary(out).geometry
    for slot, name in enumerate(names):
        source = read_model("llama-3.1-8b" if slot == 0 else models[name])
        alone = Design(geometry=replace(source, query_heads=32, key_heads=8), lanes=4)
        mine = np.flatnonzero(variant == name)
        packed = pack_run(alone, {key: array[mine] for key, array in arrays.items()})
        expected = unpack_run(packed, run_model(alone, packed.stream))
        for key in ("q", "k"):
            np.testing.assert_array_equal(y[key][mine], expected[key], f"{name}: {key}")
        rotary_dim = geometry.of(slot).rotary_dim
        assert rotary_dim == {"half": 64, "quarter": 32}.get(name, 128)
        np.testing.assert_array_equal(y["q"][mine][..., rotary_dim:], arrays["q"][mine][..., rotary_dim:])
