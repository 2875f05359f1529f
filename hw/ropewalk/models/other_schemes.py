"""A Hugging Face ``config.json`` of a model that is not rotary: ALiBi, learned positions, sinusoids.

The families are rows of :mod:`ropewalk.models.other_families`; ``docs/geometry.md`` has the rules.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..geometry import AlibiGeometry, Geometry, LearnedGeometry, SinusoidalGeometry
from ..geometry.alibi import BIAS_MAX, MAX_BIAS_MAX, alibi_slopes
from ..geometry.learned import MAX_DIMENSION, MAX_ROWS
from ..geometry.precise import nearest, precise
from ..geometry.rotary import MAX_HEAD_DIM, MAX_HEADS
from ..geometry.sinusoidal import MAX_ROW_OFFSET, paper_frequencies, timescale_frequencies
from ..strict_json import Keys
from .known_keys import POSITIONAL, check_outer_keys
from .other_families import (
    ALIBI_FAMILIES,
    REFUSED,
    TABLE_FAMILIES,
    WHISPER_DECODER,
    AlibiFamily,
    TableFamily,
)

Note = Callable[[str], None]

ENCODERS = frozenset(["bert", "jina_bert"])
"""``model_type`` of JinaBERT's files; in those of ``bert`` ``position_embedding_type`` is ``alibi``."""

BAICHUAN_LAYERS: Mapping[int, bool] = {32: False, 40: True}
"""Whether a Baichuan model with so many layers (and heads) has ALiBi: 7B is rotary, 13B is not."""


def other_scheme(
    config: Mapping[str, Any], where: str, note: Note, ignored: Callable[[str], None] | None = None
) -> Geometry | None:
    """The geometry of a model that is not rotary, or None: it is rotary, or of a family that is not known here.

    Parameters
    ----------
    config
        The configuration; a ``text_config`` in it is looked at in its place where its family is known here.
    where
        Begins every error.
    note
        Takes sentences that the user should see.
    ignored
        Takes the name of each key of the configuration that was not looked at.

    Raises
    ------
    InputError
        If the family's scheme is one that Ropewalk does not cover, or a key that could change it is wrong, missing or
        not understood.
    """
    keys = Keys(config, where)
    model_type = keys.text("model_type")
    inner = config.get("text_config")
    if isinstance(inner, dict):
        nested = Keys(inner, where, "text_config.")
        nested_type = nested.text("model_type") or {"clip": "clip_text_model"}.get(model_type or "")
        if nested_type in TABLE_FAMILIES or nested_type in ALIBI_FAMILIES or nested_type in REFUSED:
            check_outer_keys(keys, nested)
            keys, model_type = nested, nested_type
    if model_type is None:
        return None
    if model_type in REFUSED:
        raise keys.refuse(f"model_type {model_type!r} {REFUSED[model_type]}")
    geometry = _alibi(keys, model_type, note) or _table(keys, model_type, note)
    if geometry is not None and ignored is not None:
        for key in sorted(key for key in keys if key not in keys.read):
            ignored(keys.name(key))
    return geometry


def _alibi(keys: Keys, model_type: str, note: Note) -> AlibiGeometry | None:
    """The biases of a family with ALiBi, if this file asks for them."""
    bias_max = BIAS_MAX
    if model_type == "mpt":
        attention = keys.object("attn_config") or keys
        if attention is not keys:
            _check_mpt_attention(attention)
        if attention.flag("alibi") is False:
            return None
        bias_max = _mpt_bias_max(attention, note)
    elif model_type in ("falcon", "RefinedWebModel"):
        if keys.flag("alibi") is not True:
            return None
    elif model_type in ENCODERS:
        if model_type == "bert" and keys.get("position_embedding_type") != "alibi":
            return None
        model_type = "jina_bert"
    elif model_type == "baichuan":
        if not _baichuan_has_alibi(keys):
            return None
    elif model_type not in ALIBI_FAMILIES:
        return None
    family = ALIBI_FAMILIES[model_type]
    heads = _first(keys, ("num_attention_heads", "n_heads", "n_head"), MAX_HEADS, family.heads, note)
    scale_after = _scale_after(keys, family, heads, note)
    if keys.get("position_embedding_type") not in (None, "alibi"):
        raise keys.error("position_embedding_type", "alibi in a model with ALiBi")
    if model_type != "mpt" and keys.number("alibi_bias_max", 0.0, MAX_BIAS_MAX) not in (None, BIAS_MAX):
        raise keys.error("alibi_bias_max", f"{BIAS_MAX:g} in a model of type {model_type}")
    understood = family.dead | {"alibi", "alibi_bias_max", "position_embedding_type"}
    keys.read |= {key for key in family.dead if key in keys}
    check_positional(keys, model_type, understood | ({"learned_pos_emb"} if model_type == "mpt" else set()))
    return AlibiGeometry(
        model_type=model_type,
        heads=heads,
        slopes=alibi_slopes(heads, bias_max),
        mode=family.mode,
        scale_after=scale_after,
    )


def _check_mpt_attention(attention: Keys) -> None:
    """Refuse what changes MPT's scheme, or could."""
    if attention.flag("rope") is True:
        raise attention.refuse(f"{attention.name('rope')} is true: MPT with rotary positions is not understood")
    if attention.flag("prefix_lm") is True:
        raise attention.refuse(f"{attention.name('prefix_lm')} is true: programs disagree about its biases")
    known = {"alibi", "alibi_bias_max"}
    check_positional(attention, "mpt", known | {key for key in attention if key.startswith("rope")})


def _mpt_bias_max(attention: Keys, note: Note) -> float:
    """``alibi_bias_max``, the exponent of the last head's slope."""
    given = attention.number("alibi_bias_max", 2.0**-10, MAX_BIAS_MAX)
    if given is None:
        return BIAS_MAX
    if given != BIAS_MAX:
        note(f"alibi_bias_max {given:g} is used, as MPT's own code and llama.cpp do; transformers 5.24 takes 8 always")
    return given


def _baichuan_has_alibi(keys: Keys) -> bool:
    """Whether this Baichuan is the 13B one, which only its size tells (llama.cpp goes by the layers too)."""
    layers = keys.integer("num_hidden_layers", 1, MAX_HEADS)
    if layers is None:
        layers = keys.integer("num_attention_heads", 1, MAX_HEADS)  # both models have as many of the one as the other
    if layers is None:
        raise keys.error("num_hidden_layers", "32 (Baichuan 7B, rotary) or 40 (13B, ALiBi)")
    if layers not in BAICHUAN_LAYERS:
        raise keys.refuse(f"a Baichuan of {layers} layers is unknown: 32 layers (7B) are rotary, 40 (13B) have ALiBi")
    return BAICHUAN_LAYERS[layers]


def _scale_after(keys: Keys, family: AlibiFamily, heads: int, note: Note) -> float:
    if not family.scaled_after:
        return 1.0
    size = keys.integer("head_dim", 1, MAX_HEAD_DIM)
    if size is None:
        widest = MAX_HEADS * MAX_HEAD_DIM
        width = keys.integer("n_embed", 1, widest) or keys.required_integer("hidden_size", 1, widest)
        if width % heads:
            raise keys.refuse(f"the number of heads, {heads}, does not divide hidden_size {width}")
        size = width // heads
    note(
        f"this family adds the biases to q.k as it is, and divides the sum by the square root of the head size, {size}"
        " (scale_after); its code rounds slopes and biases to bfloat16, these slopes are exact"
    )
    return nearest(1 / precise.sqrt(precise.mpf(size)))


def _table(keys: Keys, model_type: str, note: Note) -> LearnedGeometry | SinusoidalGeometry | None:
    """The rows of a family that adds them to the embeddings."""
    if model_type == "mpt":
        return _mpt_learned(keys, note)
    family = TABLE_FAMILIES.get(model_type)
    if family is None:
        return None
    kind = keys.get("position_embedding_type")
    if model_type == "esm" and kind == "rotary":
        return None
    if kind in ("relative_key", "relative_key_query"):
        raise keys.error("position_embedding_type", "absolute: relative positions are not covered")
    if kind is not None and kind not in ("absolute", "learned", "learned_absolute"):
        raise keys.error("position_embedding_type", f"absolute in a model of type {model_type}")
    understood = {"position_embedding_type", "max_position_embeddings", "n_positions", *family.length_keys}
    if family.switch is not None:
        understood.add(family.switch)
        if keys.flag(family.switch) is family.switch_value and family.switched is not None:
            family = family.switched
    if model_type == "whisper":
        family = _whisper_half(keys, family, note)
        understood |= {"max_source_positions", "max_target_positions"}
    _check_tables_flags(keys, family, understood)
    check_positional(keys, model_type, understood)
    padding = _padding(keys, family)
    offset = padding + 1 if family.offset == "padding" else family.offset
    masked = padding if family.masked_row == "padding" else family.masked_row
    length = _patches(keys, family.patches, note) if family.patches is not None else _length(keys, family, note)
    width = _first(keys, family.width_keys, MAX_DIMENSION, family.width, note)
    if family.sinusoidal:
        return _sinusoids(keys, model_type, family, width, length, offset, masked)
    rows = length + family.extra_rows
    if offset >= rows:
        raise keys.refuse(f"a table of {rows} rows has none for position 0, which reads row {offset}")
    return LearnedGeometry(
        model_type=model_type, rows=rows, row_offset=offset, dimension=width, mask=family.mask, masked_row=masked
    )


def _mpt_learned(keys: Keys, note: Note) -> LearnedGeometry:
    """MPT without ALiBi: a learned table, unless that is switched off too."""
    if keys.flag("learned_pos_emb") is False:
        raise keys.refuse("neither attn_config.alibi nor learned_pos_emb is true: this MPT has no positional encoding")
    check_positional(keys, "mpt", {"learned_pos_emb"})
    rows = _first(keys, ("max_seq_len",), MAX_ROWS, 2048, note)
    width = _first(keys, ("d_model", "hidden_size"), MAX_DIMENSION, 2048, note)
    return LearnedGeometry(model_type="mpt", rows=rows, row_offset=0, dimension=width)


def _whisper_half(keys: Keys, family: TableFamily, note: Note) -> TableFamily:
    """The encoder's sinusoids, or the decoder's table where the file has nothing about the encoder's positions."""
    if "max_target_positions" in keys and "max_source_positions" not in keys:
        return WHISPER_DECODER
    if "max_target_positions" in keys:
        keys.get("max_target_positions")
        note(
            "this is the encoder's sinusoidal encoding; the decoder has a learned table, which a file without "
            "max_source_positions means"
        )
    return family


def _check_tables_flags(keys: Keys, family: TableFamily, understood: set[str]) -> None:
    """Two keys of older files, that must say what is so anyway."""
    static = keys.flag("static_position_embeddings")
    if static is not None and static is not family.sinusoidal:
        raise keys.error("static_position_embeddings", f"{str(family.sinusoidal).lower()} in a model of this type")
    keys.integer("extra_pos_embeddings", 0, 4)
    understood |= {"static_position_embeddings", "extra_pos_embeddings"}


def _padding(keys: Keys, family: TableFamily) -> int:
    """The number of the padding token, where positions are counted from it; else 0."""
    if "padding" not in (family.offset, family.masked_row):
        return 0
    given = keys.integer("pad_token_id", 0, MAX_ROW_OFFSET - 1)
    if given is not None:
        return given
    if family.padding is None:
        raise keys.error("pad_token_id", "the number of the padding token: positions are counted from it")
    return family.padding


def _length(keys: Keys, family: TableFamily, note: Note) -> int:
    """What the length key gives; of an encoder's and a decoder's, the encoder's."""
    given = [key for key in family.length_keys if key in keys]
    if len(given) > 1 and keys.get(given[0]) != keys.get(given[1]):
        note(f"{keys.name(given[0])} is used, not {given[1]}")
    return _first(keys, family.length_keys, MAX_ROWS, family.length, note)


def _patches(keys: Keys, before: int, note: Note) -> int:
    """Rows of a vision model: one per patch of its image, and ``before`` of them."""
    image = _first(keys, ("image_size",), 1 << 16, 224, note)
    patch = _first(keys, ("patch_size",), 1 << 16, 16, note)
    if patch > image:
        raise keys.refuse(f"patch_size {patch} is larger than image_size {image}")
    note(f"rows are those of {image // patch} x {image // patch} patches; software interpolates them for other images")
    return (image // patch) ** 2 + before


def _sinusoids(
    keys: Keys, model_type: str, family: TableFamily, width: int, length: int, offset: int, masked: int | None
) -> SinusoidalGeometry:
    least = 4 if family.timescales else 2
    if width < least:
        raise keys.refuse(f"sinusoids of {width} elements cannot be made: this family's formula needs {least} or more")
    if family.even and width % 2:
        raise keys.refuse(f"sinusoids of {width} elements cannot be made: this family's code wants an even number")
    return SinusoidalGeometry(
        model_type=model_type,
        dimension=width,
        layout=family.layout,
        max_position=length,
        inverse_frequency=timescale_frequencies(width) if family.timescales else paper_frequencies(width),
        row_offset=offset,
        zero_row=masked,
        mask=family.mask,
    )


def check_positional(keys: Keys, model_type: str, understood: set[str] | frozenset[str]) -> None:
    """Refuse the first positional key that is not ``understood``, as the reader of rotary models does."""
    for key in sorted(keys):
        if POSITIONAL.search(key) and key not in understood:
            raise keys.refuse(
                f"the key {keys.name(key)} could change the geometry, and is not understood in a model of type "
                f"{model_type}"
            )


def _first(keys: Keys, names: tuple[str, ...], most: int, default: int | None, note: Note) -> int:
    """The first of the keys that the file has, else the class default, with a note."""
    found = [keys.integer(name, 1, most) for name in names]
    for value in found:
        if value is not None:
            return value
    if default is None:
        raise keys.error(names[0], f"an integer from 1 to {most}")
    note(f"the file leaves out {keys.name(names[0])}: the class default, {default}, is used")
    return default
