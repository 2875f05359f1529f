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
    ["d_head", "global_head_dim", "head_size", "kv_channels", "num_global_key_value_heads", "swa_head_dim"]
)
"""Keys that give heads another size than ``head_dim`` does, in families that are not understood yet."""

UNDERSTOOD = frozenset(
    [
        "alibi",
        "global_rope_theta",
        "local_rope_theta",
        "max_position_embeddings",
        "n_positions",
        "no_rope_layer_interval",
        "no_rope_layers",
        "original_max_position_embeddings",
        "partial_rotary_factor",
        "position_embedding_type",
        "qk_rope_head_dim",
        "rope_interleave",
        "rope_local_base_freq",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "rotary_dim",
        "rotary_emb_base",
        "rotary_pct",
    ]
)
"""Positional keys that some family's import reads."""

READ_BY: Mapping[str, frozenset[str]] = {
    "global_rope_theta": frozenset(["modernbert"]),
    "local_rope_theta": frozenset(["modernbert"]),
    "no_rope_layer_interval": frozenset(["llama4_text", "smollm3"]),
    "no_rope_layers": frozenset(["llama4_text", "smollm3"]),
    "rope_interleave": frozenset(["deepseek_v3", "glm4_moe_lite", "kimi_k2", "mistral4"]),
    "rope_local_base_freq": frozenset(["gemma3_text"]),
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
    "rotary": (True,),
    "use_alibi": (False,),
    "use_dynamic_ntk": (False,),
    "use_logn_attn": (False,),
    "use_mrope": (False,),
    "use_rope": (True,),
    "use_rotary": (True,),
    "use_rotary_embeddings": (True,),
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
        if POSITIONAL.search(key) and key not in SAYS_NOTHING and outer.values[key] != inner.values.get(key):
            raise _refusal(outer, key, "stands outside text_config and differs from what is in it")


def _check_value(keys: Keys, key: str, harmless: tuple[object, ...]) -> None:
    value = keys.values[key]
    if any(value is said or (isinstance(said, str) and value == said) for said in harmless):
        return
    if "alibi" in key or value == "alibi":
        raise _refusal(keys, key, "asks for ALiBi, which a later version of Ropewalk adds")
    raise keys.error(key, " or ".join(str(said).lower() for said in SAYS_NOTHING[key]) + " in a rotary model")


def _refusal(keys: Keys, key: str, reason: str) -> InputError:
    return keys.refuse(f"the key {keys.name(key)} {reason}")


def _list(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))
