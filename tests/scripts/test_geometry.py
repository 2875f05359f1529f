"""``ropewalk geometry``: the JSON document, the table, and configurations that cannot be used."""

import json
import math

import pytest

KEYS = {
    "scheme",
    "model_type",
    "head_dim",
    "rotary_dim",
    "rotary_start",
    "query_heads",
    "key_heads",
    "pairing",
    "output_pairing",
    "layers",
    "variants",
    "attention_scale",
}
VARIANT_KEYS = {"name", "slot", "inverse_frequency", "amplitude", "max_position", "axis"}


def document(ropewalk, *arguments):
    """The one JSON document on stdout."""
    result = ropewalk("geometry", *arguments, "--json")
    assert result.code == 0, result
    return json.loads(result.out)


def test_a_plain_llama(ropewalk, config):
    found = document(ropewalk, config())
    assert set(found) == KEYS
    assert (found["scheme"], found["model_type"], found["pairing"]) == ("rope", "llama", "half")
    assert (found["head_dim"], found["rotary_dim"], found["rotary_start"]) == (8, 8, 0)
    assert (found["query_heads"], found["key_heads"]) == (2, 1)
    assert found["layers"] == ["default"] * 3
    (variant,) = found["variants"]
    assert set(variant) == VARIANT_KEYS
    assert (variant["name"], variant["slot"], variant["amplitude"], variant["max_position"]) == ("default", 0, 1.0, 64)
    # 10000 ** (-2i / 8)
    assert variant["inverse_frequency"] == pytest.approx([1.0, 0.1, 0.01, 0.001], rel=1e-15)


def test_a_folder_that_holds_a_config(ropewalk, config):
    assert document(ropewalk, config().parent) == document(ropewalk, config())


def test_gemma_has_two_variants(ropewalk):
    found = document(ropewalk, "gemma-3-270m")
    by_name = {variant["name"]: variant for variant in found["variants"]}
    assert set(by_name) == {"full_attention", "sliding_attention"}
    assert [variant["slot"] for variant in found["variants"]] == [0, 1]
    # Pair 64 of 128 has the frequency base ** -0.5.
    assert by_name["full_attention"]["inverse_frequency"][64] == pytest.approx(1e-3, rel=1e-15)
    assert by_name["sliding_attention"]["inverse_frequency"][64] == pytest.approx(1e-2, rel=1e-15)
    # The capture's layer_is_global: every sixth layer.
    assert [layer for layer, name in enumerate(found["layers"]) if name == "full_attention"] == [5, 11, 17]


def test_yarn_amplitude(ropewalk, config):
    scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    found = document(ropewalk, config(rope_scaling=scaling))
    assert found["variants"][0]["amplitude"] == pytest.approx(0.1 * math.log(4.0) + 1.0, rel=1e-15)
    assert found["variants"][0]["max_position"] == 256


def test_pairing_can_be_chosen(ropewalk, config):
    found = document(ropewalk, config(), "--pairing", "interleaved")
    assert (found["pairing"], found["output_pairing"]) == ("interleaved", "interleaved")


def test_an_unknown_model_type_is_taken_as_half_with_a_note(ropewalk, config):
    result = ropewalk("geometry", config(model_type="wobbly"), "--json")
    assert json.loads(result.out)["pairing"] == "half"
    assert result.err.startswith("note: ")
    assert "wobbly" in result.err


def test_verbose_lists_the_other_keys_on_stderr(ropewalk, config):
    result = ropewalk("geometry", config(tie_word_embeddings=True), "--json", "--verbose")
    json.loads(result.out)
    assert "tie_word_embeddings, vocab_size" in result.err
    assert ropewalk("geometry", config(tie_word_embeddings=True)).err == ""


def test_the_table_names_what_matters(ropewalk):
    result = ropewalk("geometry", "gemma-3-270m")
    assert (result.code, result.err) == (0, "")
    for piece in ("256", "half", "4 query, 1 key", "sliding_attention", "32,768", "0.000107461"):
        assert piece in result.out


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"head_dim": 0}, "head_dim"),
        ({"head_dim": -8}, "head_dim"),
        ({"head_dim": 7}, "head_dim"),
        ({"head_dim": "8"}, "head_dim"),
        ({"num_attention_heads": 0}, "num_attention_heads"),
        ({"num_key_value_heads": -1}, "num_key_value_heads"),
        ({"max_position_embeddings": 0}, "max_position_embeddings"),
        ({"rope_theta": -1.0}, "rope_theta"),
        ({"rope_scaling": {"rope_type": "spiral", "factor": 2.0}}, "spiral"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 0.0}}, "factor"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "wobble": 1}}, "wobble"),
        ({"rope_scaling": []}, "rope_scaling"),
        ({"hidden_size": None, "head_dim": None}, "head_dim"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused_by_name(refused, config, changes, named):
    assert named in refused("geometry", config(**changes), "--json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"config"',
        '{"model_type": "llama", "head_dim": NaN}',
        '{"model_type": "llama", "rope_theta": Infinity}',
        '{"model_type": "llama", "rope_theta": 1e999}',
        '{"head_dim": 8, "head_dim": 16}',
        "[" * 100_000,
        '{"head_dim": ' + "9" * 10_000 + "}",
        '{"model_type": "a\\nb\\u001b[31m"}',
    ],
)
def test_a_malformed_configuration_is_refused(refused, tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text)
    refused("geometry", path)


def test_bytes_that_are_no_text_are_refused(refused, tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(b"\xff\xfe\x00{")
    refused("geometry", path)


@pytest.mark.parametrize("name", ["nowhere.json", "", "no\nsuch\x1bmodel", "x" * 5000, "model.gguf"])
def test_a_model_that_is_not_there_is_refused(refused, name):
    refused("geometry", name)
