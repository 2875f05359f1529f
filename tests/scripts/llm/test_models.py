"""Small models of every supported family through the whole command. See docs/testing.md for what these need."""

import json
import math
import shutil

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.models import read_model

from . import tiny

pytestmark = tiny.OPTIONAL
PROMPT = tiny.PROMPT


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Give the folder of a family's model, made when it is first asked for."""
    made = {}

    def folder(family):
        if family not in made:
            made[family] = tmp_path_factory.mktemp(family)
            tiny.write_model(made[family], family)
        return made[family]

    return folder


@pytest.fixture
def llm(ropewalk):
    """Run the command; its exit code and its document."""

    def run(model, *options, code=0):
        result = ropewalk("llm", model, *options, "--json")
        assert result.code == code, result.err
        return json.loads(result.out)

    return run


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_every_rotation_goes_through_the_engine(llm, models, family):
    place = models(family)
    fine = llm(place, "--prompt", PROMPT, "--engine", "model", "--data-width", 24, "--coefficient-width", 24)
    assert fine["rotations"] == 2 * 3 * fine["forward_passes"]
    assert [layer["rotations"] for layer in fine["layers"]] == [2 * fine["forward_passes"]] * 3
    # One pass for the prompt, one for each token but the last, one over everything.
    assert fine["forward_passes"] == len(fine["tokens"]) + 1
    assert fine["tokens"] == fine["float_tokens"]
    assert fine["tokens_differing"] == 0
    assert fine["kl_per_token"] < 1e-9
    # Half an LSB for the result, half an LSB of both coefficients, 2^-24, of a pair as long as the range; a tenth for
    # the sine itself. An amplitude is a word of 17 fraction bits, half an LSB of which is 2^-18 of the largest word.
    bound = 0.5 + math.sqrt(2) * 2**23 * 2.0**-24 + 0.1
    assert fine["worst_error_lsb"] < (2.0**-18 * 2**23 if family == "llama-yarn" else bound)
    coarse = llm(place, "--prompt", PROMPT, "--engine", "model", "--data-width", 6)
    assert coarse["kl_per_token"] > 1e-6 > 1e3 * fine["kl_per_token"]
    assert coarse["differing_bits"] is None


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_layers_positions_and_variants_are_the_models_own(models, family):
    """The rotation of the papers, in float64, in the place of the model's: the same logits, also in a padded batch."""
    import torch
    from ropewalk_llm.hooks import check_model, replaced_rotation
    from ropewalk_llm.loading import load
    from ropewalk_llm.source import find_source

    source = find_source(str(models(family)))
    model, geometry = load(source).model, read_model(str(source.path))
    check_model(model, geometry, torch)
    calls = []

    def rotate(layer, slot, q, k, position):
        calls.append((layer, geometry.variants[slot].name))
        frequency = np.array(geometry.variants[slot].inverse_frequency)
        turn = geometry.variants[slot].amplitude * np.exp(1j * position[:, None] * frequency)[:, None]
        out = []
        for x in (q, k):
            turned = (x[..., :8] + 1j * x[..., 8:]) * turn
            out.append(np.concatenate([turned.real, turned.imag], axis=-1))
        return out[0], out[1]

    tokens = torch.tensor([[0, 0, 1, 5, 9, 30, 12], [1, 8, 7, 44, 13, 21, 6]])
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1], [1] * 7])
    position = torch.tensor([[0, 0, 0, 1, 2, 3, 4], [11, 12, 13, 14, 15, 16, 17]])
    given = {"input_ids": tokens, "attention_mask": mask, "position_ids": position}
    with torch.no_grad():
        wanted = model(**given).logits
        with replaced_rotation(model, geometry, rotate, torch):
            found = model(**given).logits
        again = model(**given).logits
    real = mask.bool()
    assert float((found - wanted)[real].abs().max()) < 1e-4 * float(wanted.abs().max())
    assert torch.equal(again, wanted)
    layers = geometry.layers
    assert layers is not None
    assert calls == [(layer, layers[layer]) for layer in range(3)]


def test_the_models_own_function_comes_back_after_an_error(models):
    import torch
    from ropewalk_llm.hooks import parts_of, replaced_rotation
    from ropewalk_llm.loading import load
    from ropewalk_llm.source import find_source

    source = find_source(str(models("llama")))
    model, geometry = load(source).model, read_model(str(source.path))
    namespace = parts_of(model).namespace
    before = namespace.apply_rotary_pos_emb

    def fail(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), replaced_rotation(model, geometry, fail, torch):
        assert namespace.apply_rotary_pos_emb is not before
        model(input_ids=torch.tensor([[1, 2]]))
    assert namespace.apply_rotary_pos_emb is before
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@pytest.mark.parametrize("change", [{"rope_theta": 10100.0}, {"rope_theta": 500000.0}, {"factor": 2.0}])
def test_a_geometry_that_is_not_the_models_is_refused(models, tmp_path, change):
    import torch
    from ropewalk_llm.hooks import check_model
    from ropewalk_llm.loading import load
    from ropewalk_llm.source import find_source

    family = "llama-yarn" if "factor" in change else "llama"
    source = find_source(str(models(family)))
    config = json.loads((source.path / "config.json").read_text())
    config["rope_parameters"] |= change
    (tmp_path / "config.json").write_text(json.dumps(config))
    model = load(source).model
    check_model(model, read_model(str(source.path)), torch)
    with pytest.raises(InputError, match=r"does not rotate as its configuration says: variant default, position \d+"):
        check_model(model, read_model(str(tmp_path)), torch)


@pytest.mark.parametrize("family", ["llama", "gemma3_text"])
def test_the_verilog_agrees_and_a_fault_in_a_row_is_found(llm, models, family, tmp_path, ropewalk):
    place = models(family)
    sound = llm(place, "--prompt", PROMPT, "--tokens", 4, "--scale-per", "vector")
    assert sound["differing_bits"] == 0
    assert sound["first_difference"] is None
    assert sound["rotations"] == 2 * 3 * sound["forward_passes"]
    assert ropewalk("generate", place, "-o", tmp_path / "engine").code == 0
    shutil.copytree(tmp_path / "engine", tmp_path / "broken")
    steps = (tmp_path / "broken" / "steps.hex").read_text().split()
    steps[1] = f"{int(steps[1], 16) ^ 1 << 44:0{len(steps[1])}x}"
    (tmp_path / "broken" / "steps.hex").write_text("\n".join(steps) + "\n")
    assert llm(place, "--prompt", PROMPT, "--tokens", 4, "--design", tmp_path / "engine")["differing_bits"] == 0
    faulty = llm(place, "--prompt", PROMPT, "--tokens", 4, "--design", tmp_path / "broken", code=1)
    assert faulty["differing_bits"] > 0
    assert faulty["first_difference"].startswith("layer ")


def test_the_float_engine_touches_nothing(llm, models):
    found = llm(models("qwen3"), "--prompt", PROMPT, "--engine", "float")
    assert (found["rotations"], found["tokens_differing"], found["kl_per_token"]) == (0, 0, 0.0)
    assert found["differing_bits"] is None
    assert found["worst_error_lsb"] is None


def test_perplexity_of_a_text(llm, models, tmp_path):
    import torch

    (tmp_path / "text").write_text("w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11")
    options = ("--text", tmp_path / "text", "--context", 7, "--engine", "model", "--data-width", 24)
    found = llm(models("mistral"), *options, "--coefficient-width", 24)
    # Windows of 7 with the first token of every text: 6 and 5 words, each of which is predicted.
    assert found["text_tokens"] == 11
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(models("mistral"))
    losses = []
    for words in (range(5, 11), range(11, 16)):
        tokens = torch.tensor([[1, *words]])
        with torch.no_grad():
            losses += [float(model(tokens, labels=tokens).loss)] * len(words)
    assert found["float_perplexity"] == pytest.approx(np.exp(np.mean(losses)), rel=1e-5)
    assert found["perplexity"] == pytest.approx(found["float_perplexity"], rel=1e-5)
    assert found["kl_per_token"] == found["text_kl_per_token"] < 1e-9


def test_shifted_positions(llm, models):
    found = llm(models("gemma3_text"), "--shift", "0,1000000", "--data-width", 24, "--coefficient-width", 24)
    near, far = found["shifts"]
    # The software's angles are float32: at a million positions some are off by hundredths of a radian.
    assert far["float32_worst"] > 100 * near["float32_worst"]
    assert far["engine_worst"] < 3 * near["engine_worst"]
    assert far["engine_worst"] < far["float32_worst"] / 100


def test_tables_and_pictures_of_a_model(llm, models, tmp_path):
    (tmp_path / "text").write_text("w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11")
    options = ("--text", tmp_path / "text", "--output", tmp_path / "out")
    found = llm(models("llama"), "--perplexity", *options)
    assert [(row["data_width"], row["scale_per"]) for row in found["rows"]] == [
        (width, per) for width in (16, 12, 8) for per in ("tensor", "head", "vector")
    ]
    kl = {(row["data_width"], row["scale_per"]): row["kl_per_token"] for row in found["rows"]}
    assert kl[16, "tensor"] < kl[12, "tensor"] < kl[8, "tensor"]
    assert kl[8, "vector"] < kl[8, "tensor"]
    assert (tmp_path / "out" / "perplexity.png").exists()
    assert json.loads((tmp_path / "out" / "perplexity.json").read_text())["rows"] == found["rows"]
