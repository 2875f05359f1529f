"""What llama.cpp's code decides for each architecture, and GGUF files leave out.

One row per ``general.architecture``. Read from llama.cpp as vendored in llama-cpp-python 0.3.36:
``src/llama-model.cpp`` (``llama_model_rope_type``), ``src/models/*.cpp`` (``load_arch_hparams`` and the graphs), and
the converters in ``conversion/``. Adding an architecture is one row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..geometry.alibi import AlibiMode
from ..geometry.shape import Pairing

Scheme = Literal["rope", "alibi", "learned"]

Unrotated = Literal["full", "fourth", "every-fourth"]


@dataclass(frozen=True, kw_only=True)
class Window:
    """Which layers attend to a window only, and what they are rotated with.

    Parameters
    ----------
    every, full_first
        Every how many-th layer has full attention where the file lists no pattern (0: the file must list it); whether
        the first of each group is it rather than the last.
    optional
        Without ``attention.sliding_window``, or where that is 0, all layers have full attention. Else they have
        a window whatever the key says.
    base
        The windowed layers' base where ``rope.freq_base_swa`` is absent; None is the global one.
    scaled
        The windowed layers are scaled as the others are.
    """

    every: int = 0
    full_first: bool = False
    optional: bool = False
    base: float | None = None
    scaled: bool = True


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """An architecture as llama.cpp reads it.

    Parameters
    ----------
    pairing
        ``half`` is llama.cpp's NEOX, ``interleaved`` its NORM: the order of the file's weights, which converters
        permute for it in some families.
    latent
        Multi-head latent attention: ``rope.dimension_count`` is the whole of a head that is rotated, one key is shared.
    whole_head
        llama.cpp refuses files that rotate only a part of a head.
    halved
        The full-attention layers rotate half of ``rope.dimension_count``.
    window, two_bases
        See :class:`Window`; the two kinds of layers are variants of their own, whatever their bases.
    unrotated
        Layers without rotation: those with full attention where there is a window; of each four the last where there
        is a window; of each four the last, always.
    recurrent_every
        Every how many-th layer has attention at all, where ``full_attention_interval`` does not say; 0: all.
    axes
        How ``rope.dimension_sections`` share the pairs.
    divisors_on_full
        ``rope_freqs.weight`` is for the full-attention layers only.
    log_multiplier
        What ``rope.scaling.yarn_log_multiplier`` is for an mscale_all_dim of 1; None where the key is not read.
    yarn_keys
        llama.cpp reads the keys ``yarn_beta_fast`` and ``yarn_beta_slow`` (elsewhere it takes 32 and 1).
    yarn_ext
        llama.cpp reads ``yarn_ext_factor``.
    beta_fast
        llama.cpp's default.
    truncate
        What the model's author meant: YaRN's range is rounded to whole pairs.
    narrow_layers
        The layer count of the one size whose scores are divided by sqrt(embedding_length / head_count).
    bias_max, alibi
        ALiBi: the largest exponent (None: ``attention.max_alibi_bias``), and what the author multiplies a slope with.
    alibi_layers
        The layer count of the one size that has ALiBi.
    compressed
        Some layers compress their keys and have a base of their own (DeepSeek-V4).
    switch
        ``rope.scaling.finetuned`` false turns rotation off.
    """

    scheme: Scheme = "rope"
    pairing: Pairing = "half"
    latent: bool = False
    whole_head: bool = False
    halved: bool = False
    window: Window | None = None
    two_bases: bool = False
    unrotated: Unrotated | None = None
    recurrent_every: int = 0
    axes: Literal["contiguous", "interleaved"] | None = None
    divisors_on_full: bool = False
    log_multiplier: float | None = None
    yarn_keys: bool = False
    yarn_ext: bool = False
    beta_fast: float = 32.0
    truncate: bool = True
    narrow_layers: int | None = None
    bias_max: float | None = None
    alibi: AlibiMode = "relative"
    alibi_layers: int | None = None
    compressed: bool = False
    switch: bool = False


_NORM = Architecture(pairing="interleaved")
_NEOX = Architecture()
_LATENT = Architecture(pairing="interleaved", latent=True, log_multiplier=0.1)
_SWITCHED = Architecture(pairing="interleaved", switch=True)
_GEMMA_4 = Architecture(window=Window(base=10_000.0, scaled=False), two_bases=True, divisors_on_full=True)

ARCHITECTURES: Mapping[str, Architecture] = {
    **dict.fromkeys(
        [
            "arcee",
            "arctic",
            "bailingmoe",
            "chameleon",
            "chatglm",
            "command-r",
            "deepseek",
            "ernie4_5",
            "ernie4_5-moe",
            "internlm2",
            "llada",
            "maincoder",
            "minicpm",
            "neo-bert",
            "olmo",
            "xverse",
        ],
        _NORM,
    ),
    **dict.fromkeys(
        [
            "apertus",
            "bailingmoe2",
            "bitnet",
            "codeshell",
            "cogvlm",
            "dbrx",
            "dots1",
            "dream",
            "eurobert",
            "exaone",
            "falcon-h1",
            "gemma",
            "gptneox",
            "grovemoe",
            "hunyuan-dense",
            "hunyuan-moe",
            "hy_v3",
            "jais2",
            "jina-bert-v3",
            "lfm2",
            "lfm2moe",
            "llada-moe",
            "minimax-m2",
            "nemotron",
            "nomic-bert",
            "nomic-bert-moe",
            "olmoe",
            "openelm",
            "orion",
            "pangu-embedded",
            "phi2",
            "phi3",
            "phimoe",
            "plamo",
            "plamo2",
            "qwen",
            "qwen2",
            "qwen2moe",
            "qwen3",
            "qwen3moe",
            "rnd1",
            "seed_oss",
            "stablelm",
            "starcoder2",
        ],
        _NEOX,
    ),
    **dict.fromkeys(["llama", "llama-embed", "deci"], Architecture(pairing="interleaved", whole_head=True)),
    "falcon": Architecture(whole_head=True),
    "grok": Architecture(yarn_keys=True, yarn_ext=True, beta_fast=8.0),
    "mistral3": Architecture(pairing="interleaved", log_multiplier=1.0, yarn_keys=True),
    # one shared key, of which rope.dimension_count elements are rotated
    **dict.fromkeys(["deepseek2", "deepseek2-ocr", "mistral4"], _LATENT),
    "deepseek32": _LATENT,
    "deepseek4": Architecture(pairing="interleaved", compressed=True),
    "glm-dsa": Architecture(pairing="interleaved", latent=True),
    "minicpm3": Architecture(latent=True),
    "plm": Architecture(pairing="interleaved", latent=True),
    # windows
    "afmoe": Architecture(window=Window(every=4, optional=True), unrotated="every-fourth"),
    "cohere2": Architecture(pairing="interleaved", window=Window(every=4), unrotated="full"),
    "exaone-moe": Architecture(window=Window(every=4), unrotated="full"),
    "exaone4": Architecture(window=Window(every=4, optional=True), unrotated="full"),
    "gemma-embedding": Architecture(window=Window(every=6, base=10_000.0, scaled=False), two_bases=True),
    "gemma2": Architecture(window=Window(every=2), narrow_layers=46),
    "gemma3": Architecture(
        window=Window(every=6, optional=True, base=10_000.0, scaled=False), two_bases=True, narrow_layers=62
    ),
    "gemma3n": Architecture(window=Window(every=5, base=10_000.0, scaled=False), two_bases=True),
    "gemma4": _GEMMA_4,
    "gemma4-assistant": _GEMMA_4,
    "gpt-oss": Architecture(window=Window(every=2), truncate=False),
    "laguna": Architecture(window=Window(every=4, full_first=True, optional=True, scaled=False), two_bases=True),
    "llama4": Architecture(pairing="interleaved", window=Window(every=4), unrotated="fourth"),
    "mellum": Architecture(window=Window(every=4, optional=True, scaled=False)),
    "mimo2": Architecture(window=Window(base=10_000.0, scaled=False), two_bases=True),
    "modern-bert": Architecture(
        window=Window(every=3, full_first=True, optional=True, base=10_000.0, scaled=False), two_bases=True
    ),
    "muse-glimmer": Architecture(pairing="interleaved", window=Window(every=4, scaled=False), unrotated="full"),
    "olmo2": Architecture(window=Window(every=4, optional=True, scaled=False), two_bases=True),
    "plamo3": Architecture(window=Window(every=8, optional=True, base=10_000.0, scaled=False), two_bases=True),
    "smallthinker": Architecture(window=Window(every=4, full_first=True, optional=True), unrotated="full"),
    "smollm3": Architecture(pairing="interleaved", unrotated="every-fourth"),
    "spark2_5": Architecture(window=Window()),
    "step35": Architecture(
        window=Window(base=10_000.0, scaled=False), two_bases=True, halved=True, divisors_on_full=True
    ),
    # layers without attention between
    "minimax-01": Architecture(recurrent_every=8),
    "qwen3next": Architecture(recurrent_every=4),
    "qwen35": Architecture(recurrent_every=4, axes="interleaved"),
    "qwen35moe": Architecture(recurrent_every=4, axes="interleaved"),
    # positions with several axes
    "glm4": Architecture(pairing="interleaved", axes="contiguous"),
    "glm4moe": Architecture(axes="contiguous"),
    "hunyuan_vl": Architecture(axes="contiguous"),
    "paddleocr": Architecture(axes="contiguous"),
    "qwen2vl": Architecture(axes="contiguous"),
    "qwen3vl": Architecture(axes="interleaved"),
    "qwen3vlmoe": Architecture(axes="interleaved"),
    # rotation with a switch
    **dict.fromkeys(["granite", "granitemoe", "granitehybrid"], _SWITCHED),
    # other schemes
    "baichuan": Architecture(pairing="interleaved", alibi_layers=40, bias_max=8.0),
    "bert": Architecture(scheme="learned"),
    "bloom": Architecture(scheme="alibi", bias_max=8.0, alibi="absolute"),
    "gpt2": Architecture(scheme="learned"),
    "jais": Architecture(scheme="alibi"),
    "jina-bert-v2": Architecture(scheme="alibi", bias_max=8.0, alibi="symmetric"),
    "mpt": Architecture(scheme="alibi", alibi="mpt"),
    "refact": Architecture(scheme="alibi", bias_max=8.0),
    "starcoder": Architecture(scheme="learned"),
}

_NO_POSITIONS = "has no positional encoding"
_OWN_RULES = "has positional rules of its own, which Ropewalk does not know"

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(["t5", "t5encoder"], "uses bucketed relative positions, which Ropewalk does not cover"),
    **dict.fromkeys(
        [
            "arwkv7",
            "glm5-next",
            "jamba",
            "kimi-k3",
            "kimi-linear",
            "mamba",
            "mamba2",
            "nemotron_h",
            "nemotron_h_moe",
            "rwkv6",
            "rwkv6qwen2",
            "rwkv7",
            "wavtokenizer-dec",
        ],
        _NO_POSITIONS,
    ),
    "clip": "is an image encoder beside a language model; give the language model's file",
    **dict.fromkeys(
        [
            "bailingmoe3",
            "cohere2moe",
            "dflash",
            "dots3note",
            "eagle3",
            "gptj",
            "granite_swa",
            "graniteswitch",
            "hrm_text",
            "hy_v4",
            "maple",
            "minimax-m3",
            "nanbeige",
            "pockettts",
            "qwen3tts",
            "qwen4exp",
            "talkie",
        ],
        _OWN_RULES,
    ),
}
"""Why an architecture is not imported."""
