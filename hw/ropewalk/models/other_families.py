"""What a model family's code decides about positions that are not rotary: one row per ``model_type``.

Read from transformers 5.24 (``configuration_*.py`` and ``modeling_*.py`` of each family), and for JinaBERT, Baichuan
and tensor2tensor from their authors' published code. Adding a family is one row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ..geometry.alibi import AlibiMode
from ..geometry.learned import MaskRule
from ..geometry.sinusoidal import Layout


@dataclass(frozen=True, kw_only=True)
class AlibiFamily:
    """A family with ALiBi.

    Parameters
    ----------
    mode
        As in :class:`~ropewalk.geometry.alibi.AlibiGeometry`.
    heads
        The class default of the number of heads, or None where a file must give it.
    scaled_after
        The biased scores are divided by the square root of the head size, not the scores before them.
    dead
        Keys about positions that this family's code does not look at.
    """

    mode: AlibiMode
    heads: int | None = None
    scaled_after: bool = False
    dead: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class TableFamily:
    """A family that adds a row to each token's embedding: of learned weights, or of sinusoids.

    Parameters
    ----------
    length_keys, length
        The keys of the number of rows or positions, the first one given wins, and the class default.
    width_keys, width
        The same of the elements of a row.
    extra_rows
        Rows of the table beyond the number that the length key gives.
    offset
        The row of position 0; ``padding`` is the padding token's number + 1.
    mask
        As in :class:`~ropewalk.geometry.learned.LearnedGeometry`.
    masked_row
        The row of masked tokens where they are counted, and the row of zeros among sinusoids; ``padding`` is the
        padding token's number.
    padding
        The class default of the padding token's number.
    patches
        The rows are those of an image's patches and so many before them; None for a text model.
    sinusoidal
        The rows are sinusoids.
    layout, timescales
        Of the sinusoids: the order of the elements, and whether the exponent's divisor is n - 1 (tensor2tensor).
    even
        The code takes an even width only.
    switch, switch_value, switched
        A key of the file, and the family that counts instead of this one where it has this value.
    """

    length_keys: tuple[str, ...] = ("max_position_embeddings", "n_positions")
    length: int | None = None
    width_keys: tuple[str, ...] = ("hidden_size",)
    width: int | None = None
    extra_rows: int = 0
    offset: int | Literal["padding"] = 0
    mask: MaskRule = "ignored"
    masked_row: int | Literal["padding"] | None = None
    padding: int | None = None
    patches: int | None = None
    sinusoidal: bool = False
    layout: Layout = "half"
    timescales: bool = False
    even: bool = False
    switch: str | None = None
    switch_value: bool = True
    switched: "TableFamily | None" = None


def _sinusoidal_if(key: str, family: TableFamily) -> TableFamily:
    """``family`` with XLM's sinusoids where the flag ``key`` is true."""
    return replace(family, switch=key, switched=replace(family, sinusoidal=True, layout="interleaved"))


_ROPE_KEYS = frozenset(["max_position_embeddings", "rope_parameters", "rope_scaling", "rope_theta"])

ALIBI_FAMILIES: Mapping[str, AlibiFamily] = {
    "baichuan": AlibiFamily(mode="relative", dead=frozenset(["max_position_embeddings"])),
    "bloom": AlibiFamily(mode="absolute", heads=8, dead=frozenset(["offset_alibi", "max_position_embeddings"])),
    "falcon": AlibiFamily(mode="absolute", heads=71, scaled_after=True, dead=_ROPE_KEYS),
    "jina_bert": AlibiFamily(mode="symmetric", dead=frozenset(["max_position_embeddings"])),
    "mpt": AlibiFamily(mode="mpt", heads=16),
    "RefinedWebModel": AlibiFamily(mode="absolute", scaled_after=True, dead=_ROPE_KEYS),
}

_BERT = TableFamily(length=512, width=768)
_ROBERTA = TableFamily(length=512, width=768, offset="padding", mask="counted", masked_row="padding", padding=1)
_GPT_2 = TableFamily(
    length_keys=("n_positions", "max_position_embeddings"), length=1024, width_keys=("n_embd", "hidden_size"), width=768
)
_D_MODEL = ("d_model", "hidden_size")
_BART = TableFamily(length=1024, width_keys=_D_MODEL, width=1024, extra_rows=2, offset=2)
_PLUS_TWO = TableFamily(length=512, width=768, extra_rows=2, offset=2)
_FAIRSEQ = TableFamily(
    length=1024,
    width_keys=_D_MODEL,
    width=1024,
    offset="padding",
    mask="counted",
    masked_row="padding",
    padding=1,
    sinusoidal=True,
    timescales=True,
)
_MARIAN = TableFamily(length=1024, width_keys=_D_MODEL, width=1024, sinusoidal=True)
_XLM = _sinusoidal_if(
    "sinusoidal_embeddings", TableFamily(length=512, width_keys=("emb_dim", "hidden_size"), width=2048)
)

TABLE_FAMILIES: Mapping[str, TableFamily] = {
    "albert": TableFamily(length=512, width_keys=("embedding_size",), width=128),
    "bart": _BART,
    "bert": _BERT,
    "bert-generation": TableFamily(length=512, width=1024),
    "big_bird": TableFamily(length=4096, width=768),
    "bigbird_pegasus": TableFamily(length=4096, width_keys=_D_MODEL, width=1024),
    "biogpt": TableFamily(length=1024, width=1024, extra_rows=2, offset=2, mask="counted", masked_row=1),
    "blenderbot": TableFamily(length=128, width_keys=_D_MODEL, width=2560),
    "blenderbot-small": TableFamily(length=512, width_keys=_D_MODEL, width=512),
    "camembert": _ROBERTA,
    "clip_text_model": TableFamily(length=77, width=512),
    "convbert": TableFamily(length=512, width_keys=("embedding_size",), width=768),
    "ctrl": TableFamily(
        length_keys=("n_positions", "max_position_embeddings"),
        length=256,
        width_keys=("n_embd", "hidden_size"),
        width=1280,
        sinusoidal=True,
    ),
    "data2vec-text": _ROBERTA,
    "deit": TableFamily(width=768, patches=2),
    "distilbert": _sinusoidal_if(
        "sinusoidal_pos_embds", TableFamily(length=512, width_keys=("dim", "hidden_size"), width=768)
    ),
    "electra": TableFamily(length=512, width_keys=("embedding_size",), width=128),
    "ernie": TableFamily(length=512, width=768),
    "esm": TableFamily(length=1026, width=768, offset="padding", mask="counted", masked_row="padding"),
    "flaubert": _XLM,
    "fnet": TableFamily(length=512, width=768),
    "fsmt": _FAIRSEQ,
    "gpt2": _GPT_2,
    "gpt_bigcode": _GPT_2,
    "gpt_neo": TableFamily(length=2048, width=2048),
    "imagegpt": TableFamily(
        length_keys=("n_positions", "max_position_embeddings"),
        length=1024,
        width_keys=("n_embd", "hidden_size"),
        width=512,
    ),
    "led": TableFamily(
        length_keys=("max_encoder_position_embeddings", "max_decoder_position_embeddings"),
        length=16384,
        width_keys=_D_MODEL,
        width=1024,
    ),
    "longformer": _ROBERTA,
    "luke": _ROBERTA,
    "m2m_100": _FAIRSEQ,
    "marian": _MARIAN,
    "mbart": _BART,
    "megatron-bert": TableFamily(length=512, width=1024),
    "mobilebert": TableFamily(length=512, width=512),
    "mra": _PLUS_TWO,
    "mvp": _BART,
    "nllb-moe": _FAIRSEQ,
    "nystromformer": replace(_PLUS_TWO, length=510),
    "openai-gpt": TableFamily(
        length_keys=("n_positions", "max_position_embeddings"),
        length=512,
        width_keys=("n_embd", "hidden_size"),
        width=768,
    ),
    "opt": TableFamily(length=2048, width=768, extra_rows=2, offset=2, mask="counted", masked_row=1),
    "pegasus": _MARIAN,
    "plbart": TableFamily(length=1024, width_keys=_D_MODEL, width=768, extra_rows=2, offset=2),
    "rembert": TableFamily(length=512, width_keys=("input_embedding_size",), width=256),
    "roberta": _ROBERTA,
    "roberta-prelayernorm": _ROBERTA,
    "roc_bert": TableFamily(length=512, width=768),
    "speech_to_text": TableFamily(
        length_keys=("max_source_positions", "max_target_positions"),
        length=6000,
        width_keys=_D_MODEL,
        width=256,
        offset="padding",
        mask="counted",
        masked_row="padding",
        padding=1,
        sinusoidal=True,
        timescales=True,
    ),
    "splinter": TableFamily(length=512, width=768),
    "squeezebert": TableFamily(length=512, width_keys=("embedding_size",), width=768),
    "t2t": TableFamily(
        length_keys=("max_length", "max_position_embeddings"),
        length=256,
        width_keys=_D_MODEL,
        width=512,
        sinusoidal=True,
        timescales=True,
    ),
    "transformer": TableFamily(
        length_keys=("max_length", "max_position_embeddings"),
        length=256,
        width_keys=_D_MODEL,
        width=512,
        sinusoidal=True,
        layout="interleaved",
    ),
    "trocr": TableFamily(
        length=512,
        width_keys=_D_MODEL,
        width=1024,
        extra_rows=2,
        offset=2,
        switch="use_learned_position_embeddings",
        switch_value=False,
        switched=replace(_FAIRSEQ, length=512),
    ),
    "vit": TableFamily(width=768, patches=1),
    "whisper": TableFamily(
        length_keys=("max_source_positions",),
        length=1500,
        width_keys=_D_MODEL,
        width=384,
        sinusoidal=True,
        timescales=True,
        even=True,
    ),
    "xglm": TableFamily(
        length=2048,
        width_keys=_D_MODEL,
        width=1024,
        offset=2,
        masked_row="padding",
        padding=1,
        sinusoidal=True,
        timescales=True,
    ),
    "xlm": _XLM,
    "xlm-roberta": _ROBERTA,
    "xlm-roberta-xl": TableFamily(
        length=514, width=2560, offset="padding", mask="counted", masked_row="padding", padding=1
    ),
    "xmod": _ROBERTA,
    "yoso": TableFamily(length=4096, width=768, extra_rows=2, offset=2),
}

WHISPER_DECODER = TableFamily(length_keys=("max_target_positions",), length=448, width_keys=_D_MODEL, width=384)
"""Whisper's decoder reads learned rows where its encoder has sinusoids."""

_BUCKETS = "adds a bias per bucket of relative positions (T5's bucketed relative bias), which Ropewalk does not cover"
_RELATIVE = "uses relative positions inside attention (no table, rotation or slope), which Ropewalk does not cover"
_NOTHING = "has no positional encoding"

REFUSED: Mapping[str, str] = {
    **dict.fromkeys(["t5", "mt5", "umt5", "byt5", "longt5", "switch_transformers", "pop2piano", "udop"], _BUCKETS),
    **dict.fromkeys(
        [
            "beit",
            "deberta",
            "deberta-v2",
            "funnel",
            "mpnet",
            "nezha",
            "prophetnet",
            "transfo-xl",
            "xlm-prophetnet",
            "xlnet",
        ],
        _RELATIVE,
    ),
    **dict.fromkeys(["falcon_mamba", "jamba", "mamba", "mamba2", "rwkv", "xlstm"], _NOTHING),
    **dict.fromkeys(
        ["musicgen", "musicgen_decoder", "pegasus_x"], "has sinusoids in a layout that Ropewalk does not cover"
    ),
}
"""Why a ``model_type`` is not imported, whatever its file says."""
