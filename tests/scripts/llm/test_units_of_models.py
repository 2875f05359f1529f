"""A small BERT and a small BLOOM through their units. See docs/testing.md for what these need."""

import json

import numpy as np
import pytest

from . import tiny

pytestmark = tiny.OPTIONAL
PROMPT = tiny.PROMPT


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(2)
    config = BertConfig(
        vocab_size=48, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=12, initializer_range=0.5,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tiny.write_tokenizer(folder)
    return folder


@pytest.fixture(scope="module")
def bloom(tmp_path_factory):
    import torch
    from transformers import BloomConfig, BloomForCausalLM

    folder = tmp_path_factory.mktemp("bloom")
    torch.manual_seed(3)
    # 12 heads: the slopes of the last four are odd powers of the square root of two, which no word holds exactly.
    config = BloomConfig(vocab_size=48, hidden_size=24, n_layer=3, n_head=12, initializer_range=0.4,
                         bos_token_id=1, eos_token_id=2, pad_token_id=0)  # fmt: skip
    BloomForCausalLM(config).save_pretrained(folder)
    tiny.write_tokenizer(folder)
    return folder


@pytest.fixture
def llm(ropewalk):
    def run(model, *options):
        result = ropewalk("llm", model, *options, "--json")
        assert result.code == 0, result.err
        return json.loads(result.out)

    return run


@pytest.mark.parametrize("engine", ["model", "verilator"])
def test_a_bert_adds_its_positions_by_the_unit(llm, bert, engine):
    found = llm(bert, "--prompt", PROMPT, "--engine", engine)
    assert (found["scheme"], found["rotations"], found["forward_passes"], found["dimension"]) == ("learned", 1, 1, 16)
    assert found["differing_bits"] == (0 if engine == "verilator" else None)
    assert found["saturated"] == 0
    assert 0 < found["worst_error_lsb"] <= 0.5
    assert 1 - 1e-5 < found["cosine_similarity"] < 1.0
    assert 0 < found["embedding_difference"] < 1e-3
    coarse = llm(bert, "--prompt", PROMPT, "--engine", "model", "--data-width", 6)
    assert coarse["cosine_similarity"] < found["cosine_similarity"]


def test_the_embedding_is_the_mean_of_the_last_states(llm, bert):
    import torch
    from transformers import BertModel

    found = llm(bert, "--prompt", PROMPT, "--engine", "float")
    words = [tiny.WORDS.index(word) for word in PROMPT.split()]
    with torch.no_grad():
        mean = BertModel.from_pretrained(bert)(torch.tensor([words])).last_hidden_state[0].mean(dim=0).numpy()
    assert found["embedding"] == pytest.approx((mean / np.linalg.norm(mean)).tolist(), abs=1e-6)
    assert found["cosine_similarity"] == pytest.approx(1.0, abs=1e-12)


def test_a_sentence_that_is_too_long_is_refused(ropewalk, bert):
    result = ropewalk("llm", bert, "--prompt", "w1 " * 13)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("ropewalk: the sentence has 13 tokens, and the model 12 positions\n")


@pytest.mark.parametrize("engine", ["model", "verilator"])
def test_a_bloom_adds_its_biases_by_the_unit(llm, bloom, engine):
    options = ("--prompt", PROMPT, "--tokens", 5, "--engine", engine, "--data-width", 24, "--fraction-bits", 14)
    found = llm(bloom, *options)
    assert found["scheme"] == "alibi"
    assert found["rotations"] == 3 * found["forward_passes"]
    assert found["forward_passes"] == len(found["tokens"]) + 1
    assert found["differing_bits"] == (0 if engine == "verilator" else None)
    assert found["tokens"] == found["float_tokens"]
    assert found["kl_per_token"] < 1e-7
    assert 0.1 < found["worst_error_lsb"] <= 0.51
    assert found["saturated"] == 0


def test_a_narrow_unit_is_farther_off_and_says_what_saturated(llm, bloom):
    coarse = llm(bloom, "--prompt", PROMPT, "--engine", "model", "--data-width", 8, "--fraction-bits", 6)
    assert coarse["kl_per_token"] > 1e-6
    assert coarse["saturated"] > 0


def test_rotary_options_are_refused(refused, bert, bloom):
    for model in (bert, bloom):
        assert "--scale-per: not for models of the scheme" in refused(
            "llm", model, "--prompt", "w1", "--scale-per", "head"
        )
        assert "not for models of the scheme" in refused("llm", model, "--sweep")
