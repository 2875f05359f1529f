"""The presets against the catalogue's facts: one for every entry but T5, which is refused."""

import json
from pathlib import Path

import pytest
from ropewalk.errors import InputError
from ropewalk.geometry import scheme_of
from ropewalk.models import preset_names, read_model

DATA = Path(__file__).parents[2] / "data"
CATALOGUE = {entry["name"]: entry for entry in json.loads((DATA / "catalogue.json").read_text())}
ENTRIES = json.loads((DATA / "presets.json").read_text())
"""The catalogue's entry of each preset."""

ROTARY = [name for name, entry in ENTRIES.items() if CATALOGUE[entry]["position_embedding"].startswith("rope")]


def test_every_entry_has_a_preset_but_t5():
    assert set(CATALOGUE) - set(ENTRIES.values()) == {"T5"}
    assert set(preset_names()) - set(ENTRIES) == {"gemma-3-270m"}
    assert set(ENTRIES) < set(preset_names())


def test_t5_is_refused_by_name(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "t5", "num_heads": 8, "d_kv": 64}))
    with pytest.raises(InputError, match="T5's bucketed relative bias"):
        read_model(str(tmp_path))


@pytest.mark.parametrize("name", ROTARY)
def test_a_rotary_preset_is_what_its_entry_says(name):
    entry, found = CATALOGUE[ENTRIES[name]], read_model(name)
    shape = found.of(0)
    for key, value in (
        ("head_dim", shape.head_dim),
        ("rotary_dim", shape.rotary_dim),
        ("num_attention_heads", shape.query_heads),
    ):
        if key in entry:
            assert value == entry[key], key
    if "num_key_value_heads" in entry:  # multi-head latent attention rotates one key for all heads
        assert shape.key_heads == (1 if "qk_rope_head_dim" in entry else entry["num_key_value_heads"])
    pairing = entry.get("hf_pairing", {"roformer": "interleaved"}.get(entry["model_type"], "half"))
    assert pairing.startswith(found.pairing)
    assert found.output_pairing == ("half" if "half-split output" in pairing else found.pairing)
    if "max_position_embeddings" in entry:
        assert max(variant.max_position for variant in found.variants) == entry["max_position_embeddings"]


@pytest.mark.parametrize("name", ROTARY)
def test_a_rotary_preset_scales_as_its_entry_says(name):
    entry = CATALOGUE[ENTRIES[name]]
    recipes = [variant.recipe for variant in read_model(name).variants]
    scaling = entry.get("rope_scaling") or {}
    assert recipes[0].base == entry.get("rope_theta", 10_000)
    if "rope_local_base_freq" in entry:
        assert (recipes[1].kind, recipes[1].base) == ("default", entry["rope_local_base_freq"])
    if entry["model_type"] == "deepseek_v4":  # its entry is prose: the compressing layers are YaRN
        assert (recipes[0].kind, recipes[1].kind, recipes[1].factor, recipes[1].base) == (
            "default",
            "yarn",
            16,
            160_000,
        )
        return
    assert recipes[0].kind == scaling.get("rope_type", "default")
    if "factor" in scaling:
        assert recipes[0].factor == scaling["factor"]
    for key in ("beta_fast", "beta_slow", "truncate", "low_freq_factor", "high_freq_factor"):
        if key in scaling:
            assert getattr(recipes[0], key) == scaling[key]
    if recipes[0].kind in ("yarn", "llama3"):
        assert recipes[0].original == scaling["original_max_position_embeddings"]
    if recipes[0].kind == "longrope":
        assert [recipe.divisors for recipe in recipes] == [
            tuple(scaling["short_factor"]),
            tuple(scaling["long_factor"]),
        ]


@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in ROTARY])
def test_another_preset_is_what_its_entry_says(name):
    entry, found = CATALOGUE[ENTRIES[name]], read_model(name)
    scheme = scheme_of(found)
    assert entry["position_embedding"].startswith(scheme)
    match scheme:
        case "alibi":
            assert found.heads == entry["num_attention_heads"]
            modes = {"bloom": "absolute", "falcon": "absolute", "mpt": "mpt", "jina_bert": "symmetric"}
            assert found.mode == modes[entry["model_type"]]
        case "learned":
            width = next(entry[key] for key in ("n_embd", "hidden_size", "d_model") if key in entry)
            keys = ("table_rows", "n_positions", "max_position_embeddings", "max_target_positions")
            rows = next(entry[key] for key in keys if key in entry)
            assert (found.dimension, found.rows, found.row_offset) == (width, rows, entry.get("position_offset", 0))
        case _:
            assert (found.dimension, found.max_position) == (
                entry.get("d_model", 512),
                entry.get("max_source_positions", 256),
            )
            assert found.layout == ("interleaved" if name == "transformer-base" else "half")
