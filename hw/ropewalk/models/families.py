"""What a model family's code decides and its configuration files leave out.

One row per ``model_type``: pairing, and the class defaults that published files omit. Values were read from
transformers 5.24 (``configuration_*.py`` and ``modeling_*.py`` of each family). Adding a family is one row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..geometry.rotary import Pairing

Unrotated = Literal["interval", "full", "full-if-windowed"]


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models. ``None`` for a size means that a file must give it.

    Parameters
    ----------
    pairing, output_pairing
        Which elements pair, and the order that the family's code leaves them in (``None``: the same).
    base, local_base
        Default ``rope_theta``, and that of the windowed layers where it differs.
    two_bases
        The full-attention and the windowed layers are two variants; old scaling keys apply to the former only.
    window_scaled
        Old scaling keys apply to the windowed layers too.
    local_base_key, base_key
        The older keys of the two bases.
    rotary_fraction
        Rotated share of a head.
    latent
        Multi-head latent attention: only ``qk_rope_head_dim`` elements of a head are rotated, and one key is shared.
    full_every, full_first
        Every how many-th layer has full attention where the file does not list its layers; whether the first of each
        group is it rather than the last.
    other_kind
        The kind of the layers between.
    unrotated
        Which layers are not rotated: those of ``no_rope_layers`` or every ``no_rope_layer_interval``-th, or those
        with full attention (always, or in a model with a window).
    scaling
        Rope parameters where a file gives none.
    query_scale
        The file gives the square of what queries are divided by, ``query_pre_attn_scalar``.
    """

    pairing: Pairing = "half"
    output_pairing: Pairing | None = None
    base: float = 10_000.0
    local_base: float | None = None
    two_bases: bool = False
    window_scaled: bool = False
    base_key: str = "rope_theta"
    local_base_key: str | None = None
    rotary_fraction: float = 1.0
    latent: bool = False
    full_every: int | None = None
    full_first: bool = False
    other_kind: str = "sliding_attention"
    unrotated: Unrotated | None = None
    scaling: Mapping[str, Any] = field(default_factory=dict)
    query_scale: bool = False
    hidden_size: int | None = None
    query_heads: int | None = None
    key_heads: int | None = None
    head_dim: int | None = None
    rope_head_dim: int = 64
    rotary_dim: int | None = None
    layers: int | None = None
    max_position: int | None = None


_DEEPSEEK_V3 = Family(pairing="interleaved", output_pairing="half", latent=True, max_position=4096)
_GPT_OSS_SCALING = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
    "original_max_position_embeddings": 4096,
}
_MINISTRAL_3_SCALING = {
    "rope_type": "yarn",
    "rope_theta": 1e6,
    "factor": 16.0,
    "original_max_position_embeddings": 16384,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}
_MISTRAL_4_SCALING = {
    "rope_type": "yarn",
    "rope_theta": 10_000.0,
    "factor": 128.0,
    "original_max_position_embeddings": 8192,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}

FAMILIES: Mapping[str, Family] = {
    "apertus": Family(base=12e6, max_position=65536),
    "arcee": Family(max_position=4096),
    "bitnet": Family(base=500_000.0, max_position=2048),
    "codegen": Family(pairing="interleaved", rotary_dim=64, max_position=2048),
    "cohere": Family(pairing="interleaved", base=500_000.0, max_position=8192),
    "cohere2": Family(pairing="interleaved", full_every=4, unrotated="full", max_position=8192),
    "deepseek_v2": Family(pairing="interleaved", latent=True, max_position=2048),
    "deepseek_v3": _DEEPSEEK_V3,
    "deepseek_v32": Family(pairing="interleaved", output_pairing="half", latent=True, max_position=163840),
    "ernie4_5": Family(pairing="interleaved", base=500_000.0, head_dim=128, max_position=131072),
    "exaone4": Family(full_every=4, unrotated="full-if-windowed", max_position=2048),
    "falcon": Family(max_position=2048),
    "gemma": Family(head_dim=256, max_position=8192),
    "gemma2": Family(head_dim=256, query_scale=True, max_position=8192),
    "gemma3_text": Family(
        base=1e6,
        local_base=10_000.0,
        two_bases=True,
        local_base_key="rope_local_base_freq",
        full_every=6,
        query_scale=True,
        hidden_size=2304,
        query_heads=8,
        key_heads=4,
        head_dim=256,
        layers=26,
        max_position=131072,
    ),
    "glm": Family(pairing="interleaved", rotary_fraction=0.5, key_heads=2, head_dim=128, max_position=131072),
    "glm4": Family(pairing="interleaved", rotary_fraction=0.5, key_heads=2, head_dim=128, max_position=131072),
    "glm4_moe": Family(rotary_fraction=0.5, key_heads=8, max_position=131072),
    "glm4_moe_lite": Family(pairing="interleaved", output_pairing="half", latent=True, max_position=202752),
    "gpt_neox": Family(rotary_fraction=0.25, base_key="rotary_emb_base", max_position=2048),
    "gpt_oss": Family(
        base=150_000.0,
        full_every=2,
        scaling=_GPT_OSS_SCALING,
        query_heads=64,
        key_heads=8,
        head_dim=64,
        max_position=131072,
    ),
    "gptj": Family(pairing="interleaved", rotary_dim=64, max_position=2048),
    "granite": Family(max_position=2048),
    "granitemoe": Family(max_position=2048),
    "helium": Family(pairing="interleaved", base=100_000.0, head_dim=128, max_position=4096),
    "internlm2": Family(),
    "kimi_k2": _DEEPSEEK_V3,
    "llama": Family(max_position=2048),
    "llama4_text": Family(
        pairing="interleaved",
        base=500_000.0,
        unrotated="interval",
        key_heads=8,
        head_dim=128,
        layers=48,
        max_position=131072,
    ),
    "longcat_flash": Family(pairing="interleaved", output_pairing="half", latent=True, base=1e7, max_position=131072),
    "minimax_m2": Family(base=5e6, key_heads=8, head_dim=128, max_position=196608),
    "ministral": Family(key_heads=8, max_position=131072),
    "ministral3": Family(base=1e6, scaling=_MINISTRAL_3_SCALING, key_heads=8, head_dim=128, max_position=262144),
    "mistral": Family(key_heads=8, max_position=131072),
    "mistral4": Family(
        pairing="interleaved",
        output_pairing="half",
        latent=True,
        scaling=_MISTRAL_4_SCALING,
        max_position=1048576,
    ),
    "mixtral": Family(base=1e6, key_heads=8, max_position=131072),
    "modernbert": Family(
        base=160_000.0,
        local_base=10_000.0,
        two_bases=True,
        window_scaled=True,
        base_key="global_rope_theta",
        local_base_key="local_rope_theta",
        full_every=3,
        full_first=True,
        max_position=8192,
    ),
    "nemotron": Family(rotary_fraction=0.5, max_position=4096),
    "olmo": Family(max_position=2048),
    "olmo2": Family(max_position=2048),
    "olmo3": Family(base=500_000.0, two_bases=True, full_every=4, max_position=2048),
    "olmoe": Family(max_position=4096),
    "persimmon": Family(rotary_fraction=0.5, max_position=16384),
    "phi": Family(rotary_fraction=0.5, max_position=2048),
    "phi3": Family(max_position=4096),
    "phimoe": Family(base=1e6, key_heads=8, max_position=131072),
    "qwen2": Family(max_position=32768),
    "qwen2_moe": Family(max_position=32768),
    "qwen3": Family(head_dim=128, max_position=32768),
    "qwen3_5_text": Family(
        rotary_fraction=0.25,
        full_every=4,
        other_kind="linear_attention",
        key_heads=4,
        head_dim=256,
        max_position=32768,
    ),
    "qwen3_moe": Family(key_heads=4, max_position=32768),
    "qwen3_next": Family(
        rotary_fraction=0.25,
        full_every=4,
        other_kind="linear_attention",
        key_heads=2,
        head_dim=256,
        max_position=32768,
    ),
    "seed_oss": Family(key_heads=8, head_dim=128, max_position=524288),
    "smollm3": Family(base=2e6, unrotated="interval", key_heads=4, layers=36, max_position=32768),
    "stablelm": Family(rotary_fraction=0.25, max_position=4096),
    "starcoder2": Family(key_heads=2, max_position=4096),
}

TEXT_PARTS: Mapping[str, str] = {
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "llama4": "llama4_text",
    "llava": "llama",
    "mistral3": "mistral",
    "paligemma": "gemma",
    "qwen3_5": "qwen3_5_text",
}
"""The ``model_type`` of a multimodal model's ``text_config`` where that does not say."""

TEXT_DEFAULTS: Mapping[str, Mapping[str, int]] = {
    "llama": {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32},
    "mistral": {"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32},
}
"""Class defaults that published ``text_config`` objects leave out (LLaVA's), and files of their own never do."""

LATER = "which a later version of Ropewalk adds"

NOT_YET: Mapping[str, str] = {
    **dict.fromkeys(["bloom", "mpt", "jina_bert"], f"uses ALiBi, {LATER}"),
    **dict.fromkeys(
        [
            "albert",
            "bart",
            "bert",
            "blenderbot",
            "camembert",
            "clip",
            "deberta-v2",
            "distilbert",
            "electra",
            "gpt2",
            "gpt_bigcode",
            "gpt_neo",
            "openai-gpt",
            "opt",
            "roberta",
            "vit",
            "xlm-roberta",
        ],
        f"uses a learned position table, {LATER}",
    ),
    **dict.fromkeys(
        ["fsmt", "m2m_100", "marian", "speech_to_text", "whisper", "xglm", "xlm"], f"uses sinusoidal positions, {LATER}"
    ),
    **dict.fromkeys(("t5", "mt5", "umt5"), "uses bucketed relative positions, which Ropewalk does not cover"),
    **dict.fromkeys(
        [
            "qwen2_vl",
            "qwen2_vl_text",
            "qwen2_5_vl",
            "qwen2_5_vl_text",
            "qwen3_vl",
            "qwen3_vl_text",
            "qwen3_vl_moe",
            "qwen3_vl_moe_text",
            "glm4v",
            "glm4v_text",
        ],
        f"uses positions with several axes, {LATER}",
    ),
    **dict.fromkeys(
        ["deepseek_v4", "gemma3n", "gemma3n_text", "gemma4", "gemma4_text"],
        f"has rotary layers of several shapes, {LATER}",
    ),
    "baichuan": f"is rotary at 7B and ALiBi at 13B, {LATER}",
    "chatglm": f"uses rotary keys of its own, {LATER}",
    "qwen": f"uses rotary keys of its own, {LATER}",
    "roformer": f"rotates with a sinusoidal table, {LATER}",
}
"""Why a ``model_type`` is not imported."""
