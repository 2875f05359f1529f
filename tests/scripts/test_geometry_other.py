"""``ropewalk geometry`` on models that are not rotary."""

import json

import pytest

BLOOM = {"model_type": "bloom", "num_attention_heads": 8, "hidden_size": 64}
FALCON = {"model_type": "falcon", "alibi": True, "num_attention_heads": 6, "hidden_size": 384}
OPT = {"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 768}
GPT_2 = {"model_type": "gpt2", "n_positions": 1024, "n_embd": 768}
WHISPER = {"model_type": "whisper", "d_model": 384, "max_source_positions": 1500}
M2M = {"model_type": "m2m_100", "d_model": 7, "max_position_embeddings": 1024}


@pytest.fixture
def model(tmp_path):
    """A function that writes a whole configuration and gives its path."""

    def write(config):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return path

    return write


def test_alibi_as_json(ropewalk, model):
    result = ropewalk("geometry", model(BLOOM), "--json")
    assert result.code == 0, result
    assert json.loads(result.out) == {
        "scheme": "alibi",
        "model_type": "bloom",
        "heads": 8,
        "slopes": [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625],
        "mode": "absolute",
        "scale_after": 1.0,
    }


def test_learned_as_json(ropewalk, model):
    found = json.loads(ropewalk("geometry", model(OPT), "--json").out)
    assert {key: found[key] for key in ("scheme", "model_type", "rows", "row_offset", "dimension")} == {
        "scheme": "learned",
        "model_type": "opt",
        "rows": 2050,
        "row_offset": 2,
        "dimension": 768,
    }


def test_sinusoidal_as_json(ropewalk, model):
    found = json.loads(ropewalk("geometry", model(WHISPER), "--json").out)
    assert {key: found[key] for key in ("scheme", "model_type", "dimension", "layout", "max_position")} == {
        "scheme": "sinusoidal",
        "model_type": "whisper",
        "dimension": 384,
        "layout": "half",
        "max_position": 1500,
    }


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            FALCON,
            ["falcon: attention with linear biases", "absolute: slope x the key's position", "0.125, which", "-62.5"],
        ),
        (OPT, ["opt: learned position table", "2,050 of 768", "position p reads row p + 2", "masked ones read row 1"]),
        (GPT_2, ["gpt2: learned position table", "position p reads row p\n", "ignored: positions count every token"]),
        (WHISPER, ["whisper: sinusoidal", "all sines, then all cosines (192 sines, 192 cosines)", "1,500"]),
        (M2M, ["3 sines, 3 cosines, a zero at the end", "this row is all zeros", "row p + 2"]),
        ({"model_type": "transformer"}, ["interleaved: sin, cos of each pair in turn (256 sines, 256 cosines)"]),
    ],
)
def test_as_a_table(ropewalk, model, config, words):
    result = ropewalk("geometry", model(config))
    assert result.code == 0, result
    for word in words:
        assert word in result.out


def test_bucketed_relative_biases_are_refused_by_name(ropewalk, model):
    result = ropewalk("geometry", model({"model_type": "t5", "num_heads": 8}), "--json")
    assert (result.code, result.out) == (2, "")
    assert "T5's bucketed relative bias" in result.err


def test_verbose_lists_the_keys_that_were_not_used(ropewalk, model):
    result = ropewalk("geometry", model(OPT | {"vocab_size": 50272}), "--verbose", "--json")
    assert "do not bear on the geometry: vocab_size" in result.err
