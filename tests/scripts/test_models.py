"""``ropewalk models``: the list, its filters, and its JSON."""

import json
import time

import pytest
from ropewalk.models import preset_names
from ropewalk_cli.models import preset_facts

KEYS = [
    "name",
    "scheme",
    "model_type",
    "scaling",
    "pairing",
    "output_pairing",
    "head_dim",
    "rotary_dim",
    "query_heads",
    "key_heads",
    "axes",
    "variants",
    "dimension",
    "max_position",
]


@pytest.fixture
def listed(ropewalk):
    """The names that a filter leaves."""

    def run(*arguments):
        result = ropewalk("models", *arguments, "--json")
        assert (result.code, result.err) == (0, "")
        return [model["name"] for model in json.loads(result.out)["models"]]

    return run


def test_the_document_has_every_preset(ropewalk):
    result = ropewalk("models", "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert list(document) == ["models"]
    assert [model["name"] for model in document["models"]] == preset_names()
    assert all(list(model) == KEYS for model in document["models"])
    by_name = {model["name"]: model for model in document["models"]}
    assert by_name["gemma-4"] == {
        "name": "gemma-4",
        "scheme": "rope",
        "model_type": "gemma4_text",
        "scaling": ["proportional", "default"],
        "pairing": "half",
        "output_pairing": "half",
        "head_dim": [512, 256],
        "rotary_dim": [512, 256],
        "query_heads": 8,
        "key_heads": 2,
        "axes": 1,
        "variants": ["full_attention", "sliding_attention"],
        "dimension": None,
        "max_position": 131072,
    }
    whisper = by_name["whisper-tiny-encoder"]
    assert (whisper["scheme"], whisper["dimension"], whisper["max_position"]) == ("sinusoidal", 384, 1500)
    assert (whisper["scaling"], whisper["head_dim"], whisper["variants"]) == (None, None, None)
    bloom = by_name["bloom-176b"]
    assert (bloom["scheme"], bloom["query_heads"], bloom["max_position"]) == ("alibi", 112, None)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("--scheme", "alibi"), ["bloom-176b", "falcon-rw-1b", "jina-embeddings-v2-base", "mpt-7b"]),
        (("--scheme", "sinusoidal"), ["tensor2tensor-base", "transformer-base", "whisper-tiny-encoder"]),
        (("--type", "gptj"), ["gpt-j-6b"]),
        (("--scaling", "longrope"), ["phi-3.5-mini"]),
        (("--scaling", "linear"), ["gemma-3-27b", "llama-2-7b-32k"]),
        (("--scaling", "proportional"), ["gemma-4"]),
        (("--head-dim", "512"), ["deepseek-v4", "gemma-4"]),
        (("--head-dim", "256", "gemma-3"), ["gemma-3-1b", "gemma-3-270m"]),
        (
            ("--pairing", "interleaved", "--scaling", "yarn", "--head-dim", "64"),
            ["deepseek-v2.5", "deepseek-v3", "kimi-k2"],
        ),
        (("--axes", "3"), ["qwen2.5-vl-3b", "qwen3-vl-30b-a3b"]),
        (("LLaMA", "8b"), ["llama-3-8b", "llama-3.1-8b"]),
        (("whisper",), ["whisper-tiny-decoder", "whisper-tiny-encoder"]),
        (("yarn", "llama"), ["yarn-llama-2-7b-128k"]),
        (("no such model",), []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_filters(listed, arguments, names):
    assert listed(*arguments) == names


def test_the_table_has_a_row_for_each_and_says_how_many(ropewalk):
    result = ropewalk("models", "--scheme", "learned")
    assert (result.code, result.err) == (0, "")
    for name in ("gpt-2-small", "bert-base", "opt-125m", "bart-large", "vit-b-16", "whisper-tiny-decoder", "gpt-1"):
        assert f"  {name} " in result.out
    assert f"7 of {len(preset_names())} presets" in result.out
    (row,) = (line.split() for line in ropewalk("models", "phi-2").out.splitlines() if "phi-2" in line)
    assert row == ["phi-2", "rope", "phi", "default,", "half,", "32", "of", "80", "80", "32/32", "2,048"]


def test_none_fits(ropewalk):
    result = ropewalk("models", "nothing")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith(f"note: none of the {len(preset_names())} presets fits")


def test_listing_is_quick():
    started = time.process_time()
    for name in preset_names():
        preset_facts(name)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("option", [("--scheme", "t5"), ("--scaling", "axial"), ("--head-dim", "0"), ("--axes", "4")])
def test_filters_that_can_be_nothing_are_refused(refused, option):
    assert option[0] in refused("models", *option)
