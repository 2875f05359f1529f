"""The command line of ``ropewalk llm``, and what it refuses before a model is loaded."""

import sys

import pytest
from ropewalk_llm.shift import positions_of


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "say what to do with the model: --prompt TEXT"),
        (["--prompt", " "], "the prompt is empty"),
        (["--prompt", "x", "--tokens", "0"], "--tokens"),
        (["--prompt", "x", "--engine", "icarus"], "--engine"),
        (["--prompt", "x", "--scale-per", "layer"], "--scale-per"),
        (["--prompt", "x", "--data-width", "3"], "--data-width"),
        (["--prompt", "x", "--design", "engine", "--phase-bits", "40"], "--phase-bits cannot be given with --design"),
        (["--shift", "1,-2"], "--shift takes numbers from 0"),
        (["--shift", "99999999"], "--shift takes numbers from 0"),
        (["--sweep", "--shift", "1"], "are runs of their own"),
        (["--sweep", "--prompt", "x"], "--sweep reads a text (--text), and takes no prompt"),
        (["--prompt", "x", "--fraction-bits", "9"], "--fraction-bits: not for models of the scheme rope"),
        (["--text", "nowhere.txt"], "the text nowhere.txt cannot be read"),
    ],
)
def test_refusals(refused, folder, options, said):
    assert said in refused("llm", folder(), *options)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "phi3", "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1,
          "max_position_embeddings": 64, "original_max_position_embeddings": 64},
         "'phi3' has rotary positions that llm cannot replace; it supports Gemma (gemma, "),
        ({"model_type": "gpt2", "n_positions": 16, "n_embd": 8, "n_head": 2, "n_layer": 1},
         "'gpt2' has learned positions that llm cannot replace"),
        ({"model_type": "mpt", "d_model": 32, "n_heads": 4, "attn_config": {"alibi": True}},
         "'mpt' has attention with linear biases (ALiBi) that llm cannot replace"),
    ],
)  # fmt: skip
def test_other_families_are_refused_with_what_is_supported(refused, folder, changes, said):
    sentence = refused("llm", folder(**changes), "--prompt", "x").replace('"', "'")
    assert said in sentence
    for family in ("Gemma", "Llama", "Mistral", "Qwen", "bert", "bloom"):
        assert family in sentence


def test_without_the_extra_it_says_what_installs_it(ropewalk, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = ropewalk("llm", folder(), "--prompt", "x")
    assert result.code == 1
    assert result.out == ""
    assert result.err.splitlines()[-1] == (
        "ropewalk: the llm extra is not installed: scripts/setup --llm installs it (torch is missing)"
    )
    assert "Traceback" not in result.err


def test_texts_that_are_none_are_refused(refused, folder, tmp_path):
    place = folder()
    for name, content, said in (("empty", b" \n", "is empty"), ("latin", b"caf\xe9 au lait", "is not UTF-8 (byte 3)")):
        (tmp_path / name).write_bytes(content)
        assert said in refused("llm", place, "--text", tmp_path / name)


def test_shifts():
    assert positions_of("0, 10,1000000,10") == (0, 10, 1_000_000)


def test_help_has_the_example_of_the_readme(ropewalk):
    result = ropewalk("llm", "--help")
    assert result.code == 0
    assert 'ropewalk llm gemma-3-270m --prompt "What is the capital of France?"' in result.out
