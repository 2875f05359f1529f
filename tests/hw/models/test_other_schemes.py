"""Families with ALiBi, learned and sinusoidal positions. Expected values: their authors' files and code."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry import AlibiGeometry, LearnedGeometry, RotaryGeometry, SinusoidalGeometry
from ropewalk.models.other_families import ALIBI_FAMILIES, REFUSED, TABLE_FAMILIES
from ropewalk.models.other_schemes import other_scheme

BLOOM = {
    "model_type": "bloom",
    "num_attention_heads": 112,
    "n_embed": 14336,
    "n_layer": 70,
    "offset_alibi": 100,
    "seq_length": 2048,
}
MPT = {
    "model_type": "mpt",
    "d_model": 4096,
    "n_heads": 32,
    "max_seq_len": 2048,
    "learned_pos_emb": True,
    "attn_config": {"alibi": True, "alibi_bias_max": 8, "attn_type": "multihead_attention", "prefix_lm": False},
}
FALCON_RW = {"model_type": "falcon", "alibi": True, "num_attention_heads": 32, "hidden_size": 2048}
JINA = {
    "model_type": "bert",
    "position_embedding_type": "alibi",
    "num_attention_heads": 12,
    "hidden_size": 768,
    "max_position_embeddings": 8192,
}
BAICHUAN_13B = {"model_type": "baichuan", "num_hidden_layers": 40, "num_attention_heads": 40, "hidden_size": 5120}
WHISPER = {"model_type": "whisper", "d_model": 384, "max_source_positions": 1500, "max_target_positions": 448}


@pytest.mark.parametrize(
    ("config", "model_type", "heads", "mode"),
    [
        (BLOOM, "bloom", 112, "absolute"),
        (MPT, "mpt", 32, "mpt"),
        (FALCON_RW, "falcon", 32, "absolute"),
        (JINA, "jina_bert", 12, "symmetric"),
        (JINA | {"model_type": "jina_bert"}, "jina_bert", 12, "symmetric"),
        (BAICHUAN_13B, "baichuan", 40, "relative"),
        (
            {"model_type": "RefinedWebModel", "alibi": True, "n_head": 71, "hidden_size": 4544},
            "RefinedWebModel",
            71,
            "absolute",
        ),
    ],
)
def test_alibi(read, config, model_type, heads, mode):
    found = read(config)
    assert isinstance(found, AlibiGeometry)
    assert (found.model_type, found.heads, found.mode) == (model_type, heads, mode)
    assert len(found.slopes) == heads
    assert found.slopes[0] == 2.0 ** (-8 / (1 << (heads.bit_length() - 1)))


def test_only_falcon_divides_the_biases_too(read):
    assert read(FALCON_RW).scale_after == 0.125  # 1 / sqrt(2048 / 32)
    assert "divides the sum by the square root of the head size, 64" in read(FALCON_RW).notes[0]
    for config in (BLOOM, MPT, JINA, BAICHUAN_13B):
        assert read(config).scale_after == 1


def test_mpts_largest_exponent(read):
    found = read(MPT | {"attn_config": {"alibi": True, "alibi_bias_max": 16}})
    assert found.slopes[0] == 2.0**-0.5
    assert found.slopes[-1] == 2.0**-16
    assert any("alibi_bias_max 16 is used" in note for note in found.notes)
    assert read(MPT).notes == ()


def test_mpt_without_an_attn_config_has_alibi(read):
    assert read({"model_type": "mpt", "n_heads": 8}).mode == "mpt"


def test_mpt_without_alibi_has_a_table(read):
    found = read(MPT | {"attn_config": {"alibi": False}})
    assert isinstance(found, LearnedGeometry)
    assert (found.rows, found.row_offset, found.dimension) == (2048, 0, 4096)


def test_falcon_without_alibi_is_rotary(read):
    assert isinstance(read(FALCON_RW | {"alibi": False, "num_kv_heads": 1}), RotaryGeometry)


def test_baichuan_7b_is_not_taken_for_alibi():
    config = {"model_type": "baichuan", "num_hidden_layers": 32, "max_position_embeddings": 4096}
    assert other_scheme(config, "config.json", print) is None
    assert other_scheme({"model_type": "baichuan", "num_attention_heads": 32}, "config.json", print) is None


# rows, offset, dimension, masked row: from each family's published checkpoint or class.
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"model_type": "gpt2", "n_positions": 1024, "n_ctx": 1024, "n_embd": 768, "n_head": 12}, (1024, 0, 768, None)),
        ({"model_type": "openai-gpt", "n_positions": 512, "n_embd": 768}, (512, 0, 768, None)),
        (
            {
                "model_type": "bert",
                "max_position_embeddings": 512,
                "hidden_size": 768,
                "position_embedding_type": "absolute",
            },
            (512, 0, 768, None),
        ),
        (
            {"model_type": "distilbert", "max_position_embeddings": 512, "dim": 768, "sinusoidal_pos_embds": False},
            (512, 0, 768, None),
        ),
        (
            {"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 768, "pad_token_id": 1},
            (514, 2, 768, 1),
        ),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514, "hidden_size": 1024}, (514, 2, 1024, 1)),
        ({"model_type": "camembert", "max_position_embeddings": 514, "hidden_size": 768}, (514, 2, 768, 1)),
        (
            {"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 768, "pad_token_id": 3},
            (514, 4, 768, 3),
        ),
        ({"model_type": "longformer", "max_position_embeddings": 4098, "hidden_size": 768}, (4098, 2, 768, 1)),
        (
            {"model_type": "esm", "max_position_embeddings": 1026, "hidden_size": 768, "pad_token_id": 1},
            (1026, 2, 768, 1),
        ),
        (
            {"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 768, "word_embed_proj_dim": 768},
            (2050, 2, 768, 1),
        ),
        (
            {"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 1024, "word_embed_proj_dim": 512},
            (2050, 2, 1024, 1),
        ),
        ({"model_type": "biogpt", "max_position_embeddings": 1024, "hidden_size": 1024}, (1026, 2, 1024, 1)),
        (
            {
                "model_type": "bart",
                "max_position_embeddings": 1024,
                "d_model": 1024,
                "static_position_embeddings": False,
            },
            (1026, 2, 1024, None),
        ),
        (
            {"model_type": "mbart", "max_position_embeddings": 1024, "d_model": 1024, "extra_pos_embeddings": 2},
            (1026, 2, 1024, None),
        ),
        ({"model_type": "gpt_neo", "max_position_embeddings": 2048, "hidden_size": 2560}, (2048, 0, 2560, None)),
        ({"model_type": "gpt_bigcode", "n_positions": 8192, "n_embd": 6144}, (8192, 0, 6144, None)),
        (
            {"model_type": "albert", "max_position_embeddings": 512, "embedding_size": 128, "hidden_size": 768},
            (512, 0, 128, None),
        ),
        (
            {"model_type": "electra", "max_position_embeddings": 512, "embedding_size": 128, "hidden_size": 256},
            (512, 0, 128, None),
        ),
        ({"model_type": "nystromformer", "max_position_embeddings": 510, "hidden_size": 768}, (512, 2, 768, None)),
        ({"model_type": "vit", "image_size": 224, "patch_size": 16, "hidden_size": 768}, (197, 0, 768, None)),
        ({"model_type": "vit", "image_size": 384, "patch_size": 32, "hidden_size": 768}, (145, 0, 768, None)),
        ({"model_type": "deit", "image_size": 224, "patch_size": 16, "hidden_size": 768}, (198, 0, 768, None)),
        ({"model_type": "whisper", "d_model": 384, "max_target_positions": 448}, (448, 0, 384, None)),
        ({"model_type": "trocr", "max_position_embeddings": 512, "d_model": 1024}, (514, 2, 1024, None)),
        ({"model_type": "xlm", "emb_dim": 2048, "max_position_embeddings": 512}, (512, 0, 2048, None)),
        (
            {"model_type": "clip", "text_config": {"hidden_size": 512, "max_position_embeddings": 77}},
            (77, 0, 512, None),
        ),
    ],
    ids=lambda value: value.get("model_type") if isinstance(value, dict) else "",
)
def test_learned(read, config, expected):
    found = read(config)
    assert isinstance(found, LearnedGeometry)
    assert (found.rows, found.row_offset, found.dimension, found.masked_row) == expected
    assert (found.mask == "counted") == (found.masked_row is not None)


# layout, offset, zero row, pairs, whether the last frequency is exactly 1 / 10000
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (WHISPER, ("half", 0, None, 192, True, 1500)),
        (
            {
                "model_type": "marian",
                "d_model": 512,
                "max_position_embeddings": 512,
                "static_position_embeddings": True,
                "pad_token_id": 58100,
            },
            ("half", 0, None, 256, False, 512),
        ),
        ({"model_type": "marian", "d_model": 7, "max_position_embeddings": 512}, ("half", 0, None, 4, False, 512)),
        (
            {"model_type": "pegasus", "d_model": 1024, "max_position_embeddings": 1024, "extra_pos_embeddings": 1},
            ("half", 0, None, 512, False, 1024),
        ),
        ({"model_type": "m2m_100", "d_model": 1024, "max_position_embeddings": 1024}, ("half", 2, 1, 512, True, 1024)),
        ({"model_type": "nllb-moe", "d_model": 7, "max_position_embeddings": 1024}, ("half", 2, 1, 3, True, 1024)),
        ({"model_type": "xglm", "d_model": 1024, "max_position_embeddings": 2048}, ("half", 2, 1, 512, True, 2048)),
        (
            {"model_type": "fsmt", "d_model": 1024, "max_position_embeddings": 1024, "pad_token_id": 1},
            ("half", 2, 1, 512, True, 1024),
        ),
        ({"model_type": "fsmt", "d_model": 1024, "pad_token_id": 0}, ("half", 1, 0, 512, True, 1024)),
        (
            {
                "model_type": "speech_to_text",
                "d_model": 256,
                "max_source_positions": 6000,
                "max_target_positions": 1024,
            },
            ("half", 2, 1, 128, True, 6000),
        ),
        (
            {"model_type": "xlm", "emb_dim": 1024, "sinusoidal_embeddings": True},
            ("interleaved", 0, None, 512, False, 512),
        ),
        (
            {"model_type": "distilbert", "dim": 768, "sinusoidal_pos_embds": True},
            ("interleaved", 0, None, 384, False, 512),
        ),
        ({"model_type": "ctrl", "n_positions": 256, "n_embd": 1280}, ("half", 0, None, 640, False, 256)),
        (
            {"model_type": "trocr", "d_model": 256, "use_learned_position_embeddings": False},
            ("half", 2, 1, 128, True, 512),
        ),
        ({"model_type": "transformer"}, ("interleaved", 0, None, 256, False, 256)),
        ({"model_type": "t2t"}, ("half", 0, None, 256, True, 256)),
    ],
    ids=lambda value: value.get("model_type") if isinstance(value, dict) else "",
)
def test_sinusoidal(read, config, expected):
    found = read(config)
    assert isinstance(found, SinusoidalGeometry)
    pairs, last = len(found.inverse_frequency), found.inverse_frequency[-1]
    assert (found.layout, found.row_offset, found.zero_row, pairs, last == 1e-4, found.max_position) == expected


def test_whispers_two_halves_are_told_apart_with_a_note(read):
    assert "this is the encoder's sinusoidal encoding; the decoder has a learned table" in read(WHISPER).notes[0]
    assert read({"model_type": "whisper", "d_model": 384, "max_source_positions": 1500}).notes == ()


def test_class_defaults_come_with_a_note(read):
    found = read({"model_type": "gpt2"})
    assert (found.rows, found.dimension) == (1024, 768)
    assert found.notes == (
        "the file leaves out n_positions: the class default, 1024, is used",
        "the file leaves out n_embd: the class default, 768, is used",
    )


def test_the_language_model_of_a_multimodal_one(read):
    inner = {"model_type": "opt", "hidden_size": 2560, "max_position_embeddings": 2048}
    assert read({"model_type": "blip-2", "text_config": inner}).rows == 2050


def test_options_of_rotary_models_change_nothing_and_say_so(read):
    assert read(BLOOM, pairing="half").notes == (
        "the sequence length and the pairing change nothing: this model is not a rotary one",
    )


def test_keys_that_were_not_read_are_listed(read):
    ignored = []
    read(BLOOM | {"vocab_size": 250880}, ignored=ignored.append)
    assert ignored == ["n_embed", "n_layer", "seq_length", "vocab_size"]


@pytest.mark.parametrize("model_type", ["t5", "mt5", "umt5", "longt5", "switch_transformers"])
def test_bucketed_relative_biases_are_refused_by_that_name(read, model_type):
    with pytest.raises(InputError, match=rf"model_type '{model_type}' .*bucketed relative bias"):
        read({"model_type": model_type, "num_heads": 8, "relative_attention_num_buckets": 32})


@pytest.mark.parametrize("model_type", sorted(REFUSED))
def test_families_that_are_not_covered_are_refused_by_name(read, model_type):
    with pytest.raises(InputError, match=f"config.json: model_type '{model_type}' "):
        read({"model_type": model_type})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (BLOOM | {"num_attention_heads": 0}, "num_attention_heads must be an integer from 1 to 4096, not 0"),
        (BLOOM | {"alibi_bias_max": 16}, "alibi_bias_max must be 8 in a model of type bloom, not 16"),
        (BLOOM | {"rope_theta": 1e4}, "the key rope_theta could change the geometry, and is not understood"),
        (BLOOM | {"position_embedding_type": "rope"}, "position_embedding_type must be alibi in a model with ALiBi"),
        (MPT | {"attn_config": {"rope": True}}, "attn_config.rope is true: MPT with rotary positions"),
        (MPT | {"attn_config": {"prefix_lm": True}}, "attn_config.prefix_lm is true: programs disagree"),
        (MPT | {"attn_config": {"alibi_bias_max": 0}}, "attn_config.alibi_bias_max must be a number from"),
        (MPT | {"attn_config": {"alibi": 1}}, "attn_config.alibi must be true or false, not 1"),
        (MPT | {"attn_config": {"alibi_form": 1}}, "the key attn_config.alibi_form could change the geometry"),
        (MPT | {"attn_config": []}, "attn_config must be an object"),
        (MPT | {"attn_config": {"alibi": False}, "learned_pos_emb": False}, "this MPT has no positional encoding"),
        (FALCON_RW | {"hidden_size": 2047}, "the number of heads, 32, does not divide hidden_size 2047"),
        (FALCON_RW | {"hidden_size": None}, "hidden_size is missing"),
        (JINA | {"num_attention_heads": None}, "num_attention_heads is missing"),
        (JINA | {"position_embedding_type": "relative_key"}, "must be absolute: relative positions are not covered"),
        (JINA | {"position_embedding_type": "rotary"}, "position_embedding_type must be absolute in a model of type"),
        (BAICHUAN_13B | {"num_hidden_layers": 36}, "a Baichuan of 36 layers is unknown"),
        ({"model_type": "baichuan"}, "num_hidden_layers is missing"),
        ({"model_type": "gpt2", "n_positions": 0}, "n_positions must be an integer from 1 to 16777216, not 0"),
        ({"model_type": "gpt2", "n_positions": 1 << 25}, "n_positions must be an integer from 1 to 16777216"),
        ({"model_type": "gpt2", "alibi": True}, "the key alibi could change the geometry, and is not understood"),
        ({"model_type": "gpt2", "rotary_dim": 64}, "the key rotary_dim could change the geometry"),
        ({"model_type": "bert", "rope_theta": 1e4}, "the key rope_theta could change the geometry"),
        ({"model_type": "bart", "static_position_embeddings": True}, "must be false in a model of this type"),
        ({"model_type": "marian", "static_position_embeddings": False}, "must be true in a model of this type"),
        ({"model_type": "distilbert", "sinusoidal_pos_embds": "yes"}, "sinusoidal_pos_embds must be true or false"),
        ({"model_type": "roberta", "max_position_embeddings": 2}, "a table of 2 rows has none for position 0"),
        ({"model_type": "roberta", "pad_token_id": -1}, "pad_token_id must be an integer from 0"),
        ({"model_type": "esm"}, "pad_token_id is missing; it must be the number of the padding token"),
        ({"model_type": "m2m_100", "d_model": 3}, "sinusoids of 3 elements cannot be made"),
        ({"model_type": "whisper", "d_model": 385}, "this family's code wants an even number"),
        ({"model_type": "vit", "image_size": [224, 224]}, "image_size must be an integer"),
        ({"model_type": "vit", "image_size": 8}, "patch_size 16 is larger than image_size 8"),
        (
            {"model_type": "blip-2", "rope_theta": 1, "text_config": {"model_type": "opt"}},
            "the key rope_theta stands outside text_config",
        ),
    ],
)
def test_what_is_wrong_is_refused(read, config, message):
    with pytest.raises(InputError) as error:
        read(config)
    assert "config.json: " in str(error.value)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


VALUES = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 2, 7, 40, 768, 1 << 16, 1 << 24, 10**39, -1, 0.5, 1e308])
    | st.text(max_size=4)
    | st.lists(st.integers(), max_size=2)
    | st.sampled_from(["absolute", "alibi", "rotary", "relative_key"])
)
KEYS = sorted(
    {key for family in TABLE_FAMILIES.values() for key in (*family.length_keys, *family.width_keys)}
    | {"alibi", "attn_config", "num_attention_heads", "pad_token_id", "position_embedding_type", "image_size"}
    | {"patch_size", "sinusoidal_pos_embds", "learned_pos_emb", "num_hidden_layers", "text_config", "rope_theta"}
)


@settings(max_examples=400)
@given(
    st.sampled_from(sorted({*TABLE_FAMILIES, *ALIBI_FAMILIES})),
    st.dictionaries(
        st.sampled_from(KEYS),
        VALUES | st.dictionaries(st.sampled_from([*KEYS, "model_type", "alibi_bias_max"]), VALUES, max_size=3),
        max_size=4,
    ),
)
def test_strange_configurations_import_or_are_refused(model_type, config):
    try:
        found = other_scheme({"model_type": model_type} | config, "config.json", lambda _: None)
    except InputError as error:
        assert str(error).startswith("config.json: ")
        assert "\n" not in str(error)
    else:
        assert found is None or found.model_type in {*TABLE_FAMILIES, *ALIBI_FAMILIES}
