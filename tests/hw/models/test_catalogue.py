"""Every rotary entry of the catalogue, from both styles of keys, against formulas of its own.

How an entry becomes a whole configuration is written in ``tests/data/catalogue.md``.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from ropewalk.geometry import geometry_from_json, geometry_to_json

DATA = Path(__file__).parents[2] / "data"
ENTRIES = {
    entry["name"]: entry
    for entry in json.loads((DATA / "catalogue.json").read_text())
    if entry["position_embedding"].startswith("rope")
}
DEEPSEEK_V4 = {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 65536}
FILE_KEYS = {
    "Baichuan2-7B": {"num_hidden_layers": 32, "head_dim": None, "hidden_size": 4096},
    "DeepSeek-V4": {"qk_rope_head_dim": 64},
    "Gemma-4 (global layers)": {"head_dim": 256, "global_head_dim": 512},
    "Falcon-40B": {"new_decoder_architecture": True, "num_kv_heads": 8, "num_key_value_heads": None},
    "Falcon-7B": {"multi_query": True, "num_key_value_heads": None},
}
DEFAULTS = {  # what an entry leaves out and its family's class says
    "roformer": {
        "head_dim": 64,
        "num_attention_heads": 12,
        "num_key_value_heads": 12,
        "rope_theta": 10_000.0,
        "max_position_embeddings": 1536,
        "hf_pairing": "interleaved",
    },
    "baichuan": {"hf_pairing": "half"},
}


def facts(name):
    """The entry with what its family's class adds."""
    entry = DEFAULTS.get(ENTRIES[name]["model_type"], {}) | ENTRIES[name]
    entry.setdefault("rotary_dim", entry["head_dim"])
    if entry["model_type"] == "deepseek_v4":
        entry["rope_scaling"] = DEEPSEEK_V4
    return entry


def configuration(name, *, old):
    """The entry as a file, in the older or in the newer keys."""
    entry = facts(name)
    family = entry["model_type"]
    config = {
        "model_type": family,
        "num_attention_heads": entry["num_attention_heads"],
        "num_key_value_heads": entry["num_key_value_heads"],
        "num_hidden_layers": 6,
        "max_position_embeddings": entry["max_position_embeddings"],
        "head_dim": entry["head_dim"],
        "vocab_size": 32000,
    }
    for key in ("qk_rope_head_dim", "qk_nope_head_dim", "rope_interleave", "sliding_window", "sliding_window_pattern"):
        if key in entry:
            config[key] = entry[key]
    if "qk_rope_head_dim" in entry:
        config["head_dim"] = None
    config |= FILE_KEYS.get(name, {})
    if family == "roformer":
        return {"model_type": family, "hidden_size": 768, "num_hidden_layers": 12, "rotary_value": False}
    scaling = entry.get("rope_scaling") or {}
    fraction = entry.get("partial_rotary_factor", 1.0)
    if old:
        return old_keys(config, entry, scaling, fraction)
    parameters = {"rope_type": "default"} | scaling | {"rope_theta": entry["rope_theta"]}
    if fraction != 1.0:
        parameters["partial_rotary_factor"] = fraction
    if family == "gemma3_text":
        local = {"rope_type": "default", "rope_theta": entry["rope_local_base_freq"]}
        return config | {"rope_parameters": {"full_attention": parameters, "sliding_attention": local}}
    if family == "gemma4_text":
        local = {"rope_type": "default", "rope_theta": 10_000.0}
        return config | {"rope_parameters": {"full_attention": parameters, "sliding_attention": local}}
    if family == "deepseek_v4":
        main = {"rope_type": "default", "rope_theta": entry["rope_theta"]}
        return config | {"rope_parameters": {"main": main, "compress": DEEPSEEK_V4 | {"rope_theta": 160_000.0}}}
    return config | {"rope_parameters": parameters}


def old_keys(config, entry, scaling, fraction):
    family = entry["model_type"]
    if scaling:
        scaling = {"type": scaling["rope_type"]} | {key: scaling[key] for key in scaling if key != "rope_type"}
        if "mrope_section" in scaling:
            scaling["type"] = "mrope"
        config["rope_scaling"] = scaling
    if family == "gptj":
        config |= {"rotary_dim": entry["rotary_dim"], "n_head": entry["num_attention_heads"], "n_positions": 2048}
        return {key: value for key, value in config.items() if key not in ("num_attention_heads", "head_dim")} | {
            "n_embd": 4096
        }
    if family == "gpt_neox":
        return config | {"rotary_pct": fraction, "rotary_emb_base": entry["rope_theta"]}
    config["rope_theta"] = entry["rope_theta"]
    if fraction != 1.0 and family != "deepseek_v4":
        config["partial_rotary_factor"] = fraction
    if family == "gemma3_text":
        config["rope_local_base_freq"] = entry["rope_local_base_freq"]
    return config


def expected(entry):
    """Inverse frequencies and amplitude by variant, from formulas written again here."""
    d, base, scaling = entry["rotary_dim"], float(entry["rope_theta"]), entry.get("rope_scaling") or {}
    i = np.arange(d // 2)
    plain = base ** (-2 * i / d)
    kind, f = scaling.get("rope_type", "default"), scaling.get("factor")
    o = scaling.get("original_max_position_embeddings")
    family = entry["model_type"]
    if family == "gemma3_text":
        local = entry["rope_local_base_freq"] ** (-2 * i / d)
        return {"full_attention": (plain / (f or 1.0), 1.0), "sliding_attention": (local, 1.0)}
    if family == "gemma4_text":
        turning = np.where(i < 64, plain, 0.0)  # a quarter of 256 pairs
        local = 10_000.0 ** (-np.arange(128) / 128)
        return {"full_attention": (turning, 1.0), "sliding_attention": (local, 1.0)}
    if family == "deepseek_v4":
        slow = yarn(160_000.0 ** (-2 * i / d), 160_000.0, d, scaling)
        return {"main": (plain, 1.0), "compress": (slow, 1.0)}
    if kind == "longrope":
        amplitude = math.sqrt(1 + math.log(entry["max_position_embeddings"] / o) / math.log(o))
        return {
            name: (plain / np.array(scaling[f"{name}_factor"], dtype=float), amplitude) for name in ("short", "long")
        }
    if kind == "yarn":
        gain = 0.1 * math.log(f) + 1
        return {"default": (yarn(plain, base, d, scaling), 1.0 if scaling.get("mscale_all_dim") else gain)}
    if kind == "llama3":
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        turns = plain * o / (2 * math.pi)
        smooth = (turns - low) / (high - low) if high > low else np.where(turns > low, 1.0, 0.0)
        smooth = np.clip(smooth, 0.0, 1.0)
        return {"default": ((1 - smooth) * plain / f + smooth * plain, 1.0)}
    if kind == "linear":
        return {"default": (plain / f, 1.0)}
    assert kind in ("default", "dynamic")  # dynamic at the original length is the default
    return {"default": (plain, 1.0)}


def yarn(plain, base, d, scaling):
    o, f = scaling["original_max_position_embeddings"], scaling["factor"]
    ends = [
        d * math.log(o / (2 * math.pi * turns)) / (2 * math.log(base))
        for turns in (scaling.get("beta_fast", 32), scaling.get("beta_slow", 1))
    ]
    if scaling.get("truncate", True):
        ends = [math.floor(ends[0]), math.ceil(ends[1])]
    low, high = max(ends[0], 0), min(ends[1], d - 1)
    ramp = np.clip((np.arange(d // 2) - low) / (high - low or 0.001), 0, 1)
    return plain / f * ramp + plain * (1 - ramp)


@pytest.mark.parametrize("old", [False, True], ids=["newer keys", "older keys"])
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_of_the_catalogue(read, name, old):
    entry = facts(name)
    found = read(configuration(name, old=old))
    assert (found.head_dim, found.rotary_dim) == (entry["head_dim"], entry["rotary_dim"])
    trailing = entry["model_type"] == "deepseek_v4"
    assert found.rotary_start == (entry["head_dim"] - entry["rotary_dim"] if trailing else 0)
    assert found.query_heads == entry["num_attention_heads"]
    latent = "qk_rope_head_dim" in entry
    assert found.key_heads == (1 if latent else entry["num_key_value_heads"])
    pairing = entry["hf_pairing"].split()[0].rstrip(",")
    assert found.pairing == pairing
    assert found.output_pairing == ("half" if "half-split output" in entry["hf_pairing"] else pairing)
    variants = expected(entry)
    assert [variant.name for variant in found.variants] == list(variants)
    for slot, variant in enumerate(found.variants):
        assert len(variant.inverse_frequency) == found.of(slot).rotary_dim // 2
        frequencies, amplitude = variants[variant.name]
        assert np.allclose(variant.inverse_frequency, frequencies, rtol=1e-12, atol=0)
        assert variant.amplitude == pytest.approx(amplitude, rel=1e-12)
    assert max(variant.max_position for variant in found.variants) == entry["max_position_embeddings"]


def test_both_styles_of_keys_give_the_same_geometry(read):
    for name in ENTRIES:
        old, new = (read(configuration(name, old=old)) for old in (True, False))
        assert old.variants == new.variants, name
        assert old.layers == new.layers, name


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_survives_json(read, name):
    found = read(configuration(name, old=False))
    again = geometry_from_json(json.loads(json.dumps(geometry_to_json(found))))
    assert geometry_to_json(again) == geometry_to_json(found)
