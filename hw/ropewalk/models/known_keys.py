"""Which keys of a configuration could change the geometry, and which of them are understood.

A key that sounds positional and is not understood is refused by name, because guessing would give wrong vectors
silently. Everything else (``vocab_size``, ...) is ignored.
"""

import re
from collections.abc import Iterable, Mapping

from ..errors import InputError
from ..strict_json import Keys

POSITIONAL = re.compile(
    r"rope(?!r)|rotary|(?<!com)(?<!dis)position|(^|_)x?pos(_|$)|alibi|yarn|theta|ntk|logn|mscale|attn_factor"
    r"|_freqs?$|_freq_|beta_(fast|slow)|(long|short)_factor|sinusoid",
    re.IGNORECASE,
)
"""What the name of a positional key looks like. (``properties`` and ``composition`` are none.)"""

HEAD_KEYS = frozenset(
    [
        "attention_head_dim",
        "d_head",
        "global_head_dim",
        "head_size",
        "kv_channels",
        "multi_query_group_num",
        "num_global_key_value_heads",
        "per_layer_config",
        "swa_head_dim",
        "swa_num_attention_heads",
        "swa_num_key_value_heads",
    ]
)
"""Keys that give heads another size or number than the usual ones do; most families have none of them."""

UNDERSTOOD = frozenset(
    [
        "alibi",
        "attention_head_dim",
        "compress_rope_theta",
        "global_head_dim",
        "global_rope_theta",
        "kv_channels",
        "local_rope_theta",
        "max_position_embeddings",
        "multi_query_group_num",
        "n_positions",
        "no_rope_layer_interval",
        "no_rope_layers",
        "num_global_key_value_heads",
        "original_max_position_embeddings",
        "partial_rotary_factor",
        "per_layer_config",
        "position_embedding_type",
        "qk_rope_head_dim",
        "rope_interleave",
        "rope_local_base_freq",
        "rope_parameters",
        "rope_ratio",
        "rope_scaling",
        "rope_theta",
        "rotary_dim",
        "rotary_emb_base",
        "rotary_pct",
    ]
)
"""Positional keys that some family's import reads."""

_HUNYUAN = frozenset(["hunyuan_v1_dense", "hunyuan_v1_moe"])
_GEMMA_4 = frozenset(["gemma4_text", "gemma4_unified_text"])

READ_BY: Mapping[str, frozenset[str]] = {
    "attention_head_dim": _HUNYUAN,
    "compress_rope_theta": frozenset(["deepseek_v4"]),
    "global_head_dim": _GEMMA_4,
    "global_rope_theta": frozenset(["modernbert"]),
    "kv_channels": frozenset(["chatglm"]),
    "local_rope_theta": frozenset(["modernbert"]),
    "multi_query_group_num": frozenset(["chatglm"]),
    "no_rope_layer_interval": frozenset(["llama4_text", "smollm3"]),
    "no_rope_layers": frozenset(["llama4_text", "smollm3"]),
    "num_global_key_value_heads": _GEMMA_4,
    "per_layer_config": _GEMMA_4,
    "rope_interleave": frozenset(["axk1", "axk2", "deepseek_v3", "glm4_moe_lite", "kimi_k2", "mistral4", "youtu"]),
    "rope_local_base_freq": frozenset(["gemma3_text", "gemma3n_text"]),
    "rope_ratio": frozenset(["chatglm"]),
    "rotary_dim": frozenset(["codegen", "gptj", "minimax_m2"]),
    "rotary_emb_base": frozenset(["gpt_neox"]),
    "rotary_pct": frozenset(["cohere2", "gpt_neox"]),
}
"""The families that read a key that only some families have."""

GENERAL = frozenset(["rotary_dim", "rotary_emb_base", "rotary_pct"])
"""Those of them that an unknown family may use too: they mean the same wherever they stand."""

SAYS_NOTHING: Mapping[str, tuple[object, ...]] = {
    "alibi": (False,),
    "position_embedding_type": ("rope", "rotary"),
    "original_rope": (True,),
    "rope_interleaved": (False,),
    "rotary": (True,),
    "rotary_value": (False,),
    "use_alibi": (False,),
    "use_dynamic_ntk": (False,),
    "use_logn_attn": (False,),
    "use_mrope": (False,),
    "use_rope": (True,),
    "use_rotary": (True,),
    "use_rotary_embeddings": (True,),
    "use_rotary_pos_emb": (True,),
}
"""Positional keys with values that state what is so anyway."""

STALE: Mapping[str, tuple[object, ...]] = {"position_embedding_type": ("absolute", "rope_gptj")}
"""More such values in files of known families, whose code does not look at the key (ModernBERT, Cohere 2)."""


def check_keys(keys: Keys, model_type: str, *, known: bool) -> None:
    """Refuse the positional keys that are not understood by ``model_type``, a ``known`` family or not.

    Raises
    ------
    InputError
        Naming the first such key, in alphabetical order.
    """
    for key in sorted(keys):
        if key in SAYS_NOTHING:
            _check_value(keys, key, SAYS_NOTHING[key] + (STALE.get(key, ()) if known else ()))
        elif key in UNDERSTOOD:
            families = READ_BY.get(key)
            if families is not None and model_type not in families and (known or key not in GENERAL):
                raise _refusal(keys, key, f"is a key of {_list(families)}, not of model_type {model_type!r}")
        elif POSITIONAL.search(key) or key in HEAD_KEYS:
            raise _refusal(keys, key, "could change the geometry, and is not understood")


def says_rotary(keys: Keys) -> bool:
    """Whether any key says that a model is a rotary one."""
    return any(re.search(r"rope(?!r)|rotary", key, re.IGNORECASE) and keys.values[key] is not False for key in keys)


def ignored_keys(keys: Keys) -> list[str]:
    """The keys that nobody read and that are not about positions, sorted."""
    return sorted(key for key in keys if key not in keys.read and not POSITIONAL.search(key))


def check_outer_keys(outer: Keys, inner: Keys) -> None:
    """Refuse positional keys beside a ``text_config`` that do not say what stands in it."""
    for key in sorted(outer):
        if POSITIONAL.search(key) and key not in SAYS_NOTHING and not _same(outer.values[key], inner.values.get(key)):
            raise _refusal(outer, key, "stands outside text_config and differs from what is in it")


def _same(outer: object, inner: object) -> bool:
    """Whether two values say the same; in rope parameters ``type`` may be the older name beside ``rope_type``."""
    if not isinstance(outer, dict) or not isinstance(inner, dict):
        return outer == inner
    return _renamed(outer) == _renamed(inner)


def _renamed(parameters: Mapping[str, object]) -> dict[str, object]:
    plain = {key: value for key, value in parameters.items() if key not in ("rope_type", "type") and value is not None}
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    return plain | {"rope_type": "default" if kind == "mrope" else kind}


def _check_value(keys: Keys, key: str, harmless: tuple[object, ...]) -> None:
    value = keys.values[key]
    if any(value is said or (isinstance(said, str) and value == said) for said in harmless):
        return
    if "alibi" in key or value == "alibi":
        raise _refusal(keys, key, "asks for ALiBi, which this family does not have")
    raise keys.error(key, " or ".join(str(said).lower() for said in SAYS_NOTHING[key]) + " in a rotary model")


def _refusal(keys: Keys, key: str, reason: str) -> InputError:
    return keys.refuse(f"the key {keys.name(key)} {reason}")


def _list(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))
