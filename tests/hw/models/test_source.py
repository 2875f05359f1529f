"""Finding a configuration, and files that are none."""

import json
import os
import re

import pytest
from ropewalk.errors import InputError
from ropewalk.models import preset_names, read_model
from ropewalk.strict_json import MAX_BYTES

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "max_position_embeddings": 128,
    "rope_theta": 10000.0,
}


def refusal(model):
    with pytest.raises(InputError) as error:
        read_model(str(model))
    message = str(error.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


def test_file_and_folder_are_the_same(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA))
    assert read_model(str(path)) == read_model(str(tmp_path))


def test_presets_are_read_by_name():
    assert {"gemma-3-270m", "qwen2.5-7b-yarn"} < set(preset_names())
    assert read_model("gemma-3-270m").model_type == "gemma3_text"
    assert read_model("qwen2.5-7b-yarn").model_type == "qwen2"


def test_a_preset_wins_over_a_file_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gemma-3-270m").write_text(json.dumps(LLAMA))
    assert read_model("gemma-3-270m").model_type == "gemma3_text"
    assert read_model("./gemma-3-270m").model_type == "llama"


def test_what_does_not_exist_is_refused_with_presets_like_it(tmp_path):
    end = "neither a file, a folder nor a preset; ropewalk models lists the presets"
    assert refusal(tmp_path / "nothing").endswith(end)
    assert refusal("Gemma-3-270") == f"Gemma-3-270 is {end} (perhaps gemma-3-270m or gemma-3-27b or gemma-3-1b)"
    assert "neither a file" in refusal("")
    assert "neither a file" in refusal("a\0b")
    assert "neither a file" in refusal("x" * 5000)


def test_a_folder_without_a_configuration_is_refused(tmp_path):
    assert "holds no config.json" in refusal(tmp_path)


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    assert "is not a file" in refusal(tmp_path / "config.json")
    (tmp_path / "folder" / "config.json").mkdir(parents=True)
    assert "is not a file" in refusal(tmp_path / "folder")


BAD = [
    (b"", "is not JSON"),
    (b"{", "is not JSON"),
    (b"[1]", "must hold a JSON object"),
    (b"null", "must hold a JSON object"),
    (b'{"a": 1} x', "is not JSON"),
    (b"\xff\xfe{}", "is not UTF-8"),
    (b"\xef\xbb\xbf{}", "is not JSON"),
    (b'{"a": {"head_dim": 64, "head_dim": 128}}', "the key 'head_dim' stands twice"),
    (b"[" * 200_000, "nests its values too deeply"),
    (b'{"a":' * 100_000, "nests its values too deeply"),
    (b" " * (MAX_BYTES + 1), "larger than 4 MB"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_no_configuration_is_refused(tmp_path, data, message):
    path = tmp_path / "config.json"
    path.write_bytes(data)
    text = refusal(path)
    assert message in text
    assert "config.json" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pairing": "both"}, "pairing must be half or interleaved, not 'both'"),
        ({"follow": "torch"}, "follow must be hf, llama.cpp or vllm, not 'torch'"),
        ({"sequence_length": 0}, "sequence length must be an integer from 1"),
        ({"sequence_length": True}, "sequence length must be"),
        ({"sequence_length": 10.0}, "sequence length must be"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_model("gemma-3-270m", **arguments)


BEGINNING = '"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "max_position_embeddings": 2048'
NO_NUMBERS = [
    ('"rope_theta": NaN', "rope_theta must be a number"),
    ('"rope_theta": 1e999', "rope_theta must be a number"),
    ('"rope_theta": -Infinity', "rope_theta must be a number"),
    ('"head_dim": NaN', "head_dim must be an integer"),
    ('"head_dim": ' + "9" * 100_000, "an integer of 100000 digits"),
    ('"rope_scaling": {"rope_type": "yarn", "factor": Infinity}', "factor must be a number"),
    ('"rope_scaling": {"rope_type": NaN, "factor": 2}', "rope_type"),
    ('"rope_scaling": NaN', "rope_scaling must be"),
    ('"partial_rotary_factor": NaN', "partial_rotary_factor must be a number"),
    ('"layer_types": [NaN]', "layer_types"),
]


@pytest.mark.parametrize(("entry", "message"), NO_NUMBERS, ids=[entry[:40] for entry, _ in NO_NUMBERS])
def test_a_number_that_is_none_is_refused_where_it_counts(tmp_path, entry, message):
    path = tmp_path / "config.json"
    path.write_text("{" + BEGINNING + ", " + entry + "}")
    assert message in refusal(path)


@pytest.mark.parametrize("value", ["[0.0, Infinity]", "NaN", "1e999", '{"a": [[NaN]]}', "9" * 50])
def test_it_is_ignored_where_the_key_is(tmp_path, value):
    """Hybrids of attention and state space publish "time_step_limit": [0.0, Infinity]."""
    path = tmp_path / "config.json"
    path.write_text("{" + BEGINNING + ', "time_step_limit": ' + value + "}")
    ignored = []
    assert read_model(str(path), ignored=ignored.append).head_dim == 64
    assert "time_step_limit" in ignored
