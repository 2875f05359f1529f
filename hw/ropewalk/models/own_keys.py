"""Families whose files have keys of their own, rewritten in the general ones."""

from collections.abc import Callable, Mapping
from typing import Any

from ..geometry.rotary import MAX_HEAD_DIM, MAX_LAYERS
from ..strict_json import Keys
from .family import Family
from .rope_objects import parameters_key

Note = Callable[[str], None]

COMPRESS_BASE = 160_000.0
"""DeepSeek-V4's default base of the layers that compress."""

COMPRESS_KINDS: Mapping[object, str] = {
    0: "sliding_attention",
    4: "compressed_sparse_attention",
    128: "heavily_compressed_attention",
}
"""DeepSeek-V4's kinds of layers by their ``compress_ratios``."""


def general_keys(keys: Keys, family: Family, model_type: str, note: Note) -> Keys:
    """``keys``, or the same said in general keys where the family has its own."""
    aliases = {own: general for own, general in family.aliases.items() if own in keys}
    changes: dict[str, Any] = dict.fromkeys(aliases)
    changes |= {general: keys.get(own) for own, general in aliases.items() if general not in keys}
    rewritten = _changed(keys, changes)
    if model_type == "chatglm":
        return _chatglm(rewritten)
    if model_type == "deepseek_v4":
        return _deepseek_v4(rewritten, note)
    return rewritten


def _changed(keys: Keys, changes: Mapping[str, Any]) -> Keys:
    """``keys`` with ``changes``; what is None is absent."""
    if not changes:
        return keys
    changed = Keys({**keys.values, **changes}, keys.where, keys.prefix)
    changed.read = keys.read
    return changed


def _chatglm(keys: Keys) -> Keys:
    """ChatGLM 2, 3 and 4: ``rope_ratio`` multiplies the base, and few key heads are used only where it says so."""
    ratio = keys.number("rope_ratio", 1.0, 1e9)
    changes: dict[str, Any] = {"rope_ratio": None, "multi_query_attention": None}
    if ratio is not None:
        changes["rope_theta"] = 10_000.0 * ratio
    if not keys.flag("multi_query_attention"):
        changes["num_key_value_heads"] = None
    return _changed(keys, changes)


def _deepseek_v4(keys: Keys, note: Note) -> Keys:
    """DeepSeek-V4: rope parameters ``main`` and ``compress``, and kinds of layers by compression.

    Flat parameters are those of the compressing layers, with the base ``compress_rope_theta``; the sliding layers have
    plain RoPE. YaRN does not change the amplitude.
    """
    key = parameters_key(keys)
    given = keys.values[key] if key else {}
    if "main" in given or "compress" in given:
        if not isinstance(given.get("main"), dict) or not isinstance(given.get("compress"), dict):
            raise keys.refuse(f"{keys.name(key or '')} must hold main and compress, two objects, in this family")
        main, compress = given["main"], dict(given["compress"])
    else:
        main = {"rope_type": "default", "rope_theta": keys.get("rope_theta")}
        base = keys.get("compress_rope_theta")
        compress = {**given, "rope_theta": COMPRESS_BASE if base is None else base}
    kind = compress.get("rope_type") or compress.get("type")
    if kind == "yarn" and compress.get("attention_factor") is None:
        compress["attention_factor"] = 1.0
        note("YaRN's amplitude is 1 in this family, as its own code has it")
    changes: dict[str, Any] = {
        "rope_parameters": {"main": main, "compress": compress},
        "rope_scaling": None,
        "rope_theta": None,
        "compress_rope_theta": None,
        "compress_ratios": None,
        "qk_rope_head_dim": None,
    }
    if "partial_rotary_factor" not in keys:
        changes["rotary_dim"] = keys.integer("qk_rope_head_dim", 2, MAX_HEAD_DIM)
    count = keys.integer("num_hidden_layers", 1, MAX_LAYERS) or 43
    kinds = keys.items("layer_types", MAX_LAYERS)
    ratios = keys.items("compress_ratios", MAX_LAYERS)
    if kinds is None and ratios is not None:
        kinds = []
        for ratio in ratios:
            if isinstance(ratio, (bool, float, list, dict)) or ratio not in COMPRESS_KINDS:
                raise keys.error("compress_ratios", "a list of 0, 4 and 128")
            kinds.append(COMPRESS_KINDS[ratio])
    if kinds is None:
        kinds = [COMPRESS_KINDS[4] if layer > 1 and layer % 2 else COMPRESS_KINDS[128] for layer in range(count)]
    changes["layer_types"] = kinds[:count]  # the rest are layers that predict further tokens
    return _changed(keys, changes)
