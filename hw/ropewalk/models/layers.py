"""Which variant rotates each layer of a model."""

from collections.abc import Callable, Mapping, Sequence

from ..geometry.rotary import MAX_LAYERS
from ..strict_json import Keys, show
from .family import Family

FULL = "full_attention"
SLIDING = "sliding_attention"

ROTATED_KINDS = frozenset(
    [
        FULL,
        SLIDING,
        "attention",
        "chunked_attention",
        "deepseek_sparse_attention",
        "hybrid",
        "hybrid_sliding",
        "indexed_attention",
        "minimax_m3_sparse",
        "qwen_sparse_attention",
        "reference_sliding_attention",
    ]
)
"""Kinds of layers in ``layer_types`` that have rotary attention."""

OTHER_KINDS = frozenset(["conv", "linear_attention", "mamba", "moe", "recurrent"])
"""Kinds of layers without rotation."""

ATTENTION_LISTS: Mapping[str, str] = {"attn_layer_indices": "mamba", "full_attn_idxs": "conv"}
"""Keys that list the layers with attention, and the kind of the others (Bamba, LFM 2)."""


def layer_kinds(keys: Keys, family: Family, note: Callable[[str], None]) -> tuple[str, ...] | None:
    """The kind of each layer: ``layer_types``, else the family's pattern; ``None`` where the count is unknown.

    A family without a pattern gives ``full_attention`` throughout.
    """
    count = keys.integer("num_hidden_layers", 1, MAX_LAYERS) or keys.integer("n_layer", 1, MAX_LAYERS) or family.layers
    listed = keys.items("layer_types", MAX_LAYERS)
    if listed:
        if count is not None and len(listed) != count:
            raise keys.refuse(f"layer_types lists {len(listed)} layers, but num_hidden_layers is {count}")
        for kind in listed:
            if not isinstance(kind, str):
                raise keys.error("layer_types", "a list of names")
        if family.last_full and listed[-1] != FULL:
            note(f"layer_types: the last layer has full attention in this family, not {show(listed[-1])}")
            listed = [*listed[:-1], FULL]
        return tuple(listed)
    if count is None:
        return None
    for key, other in ATTENTION_LISTS.items():
        indices = keys.items(key, MAX_LAYERS)
        if indices is not None:
            return tuple(FULL if layer in indices else other for layer in range(count))
    every = _full_every(keys, family)
    if every is None:
        return (FULL,) * count
    last = 0 if family.full_first else every - 1
    kinds = [FULL if layer % every == last else family.other_kind for layer in range(count)]
    if family.last_full:
        kinds[-1] = FULL
    return tuple(kinds)


def _full_every(keys: Keys, family: Family) -> int | None:
    """Every how many-th layer has full attention, or None for all of them."""
    if family.full_every is None:
        return None
    if family.unrotated == "full-if-windowed" and "sliding_window" not in keys:
        return None
    for key in (
        "sliding_window_pattern",
        "_sliding_window_pattern",
        "global_attn_every_n_layers",
        "full_attention_interval",
    ):
        pattern = keys.get(key)
        if isinstance(pattern, str):  # EXAONE 4 writes LLLG
            if not 1 <= len(pattern) <= 64 or pattern != "L" * (len(pattern) - 1) + "G":
                raise keys.error(key, "a number, or L's and one G at the end")
            return len(pattern)
        every = keys.integer(key, 1, MAX_LAYERS)
        if every is not None:
            return every
    return family.full_every


def layer_variants(
    keys: Keys,
    family: Family,
    kinds: Sequence[str] | None,
    in_force: Mapping[str, str],
    absent: Sequence[str] = (),
) -> tuple[str | None, ...] | None:
    """The variant's name per layer, ``None`` for a layer without rotation; ``None`` where the layers are unknown.

    Parameters
    ----------
    keys, family
        The configuration and its family.
    kinds
        From :func:`layer_kinds`.
    in_force
        The variant that each set of rope parameters gives its layers. A single ``default`` serves every rotated layer.
    absent
        Kinds that the configuration declares to be without rotation.
    """
    if kinds is None:
        return None
    unrotated = _unrotated(keys, family, kinds)
    layers: list[str | None] = []
    for layer, kind in enumerate(kinds):
        name = family.kind_variants.get(kind, kind)
        if layer in unrotated or kind in OTHER_KINDS or kind in absent:
            layers.append(None)
        elif name in in_force:
            layers.append(in_force[name])
        elif list(in_force) == ["default"] and kind in ROTATED_KINDS:
            layers.append(in_force["default"])
        else:
            reason = "has no rope parameters" if kind in ROTATED_KINDS else "is not understood"
            raise keys.refuse(f"layer_types: the kind {show(kind)} of layer {layer} {reason}")
    return tuple(layers)


def _unrotated(keys: Keys, family: Family, kinds: Sequence[str]) -> frozenset[int]:
    """The layers that the family's code leaves without rotation."""
    if family.unrotated is None:
        return frozenset()
    if family.unrotated == "interval":
        listed = keys.items("no_rope_layers", MAX_LAYERS)
        if listed:
            if len(listed) != len(kinds) or any(isinstance(flag, bool) or flag not in (0, 1) for flag in listed):
                raise keys.error("no_rope_layers", f"a list of {len(kinds)} zeros (no rotation) and ones")
            return frozenset(layer for layer, flag in enumerate(listed) if flag == 0)
        every = keys.integer("no_rope_layer_interval", 1, MAX_LAYERS) or 4
        return frozenset(range(every - 1, len(kinds), every))
    if family.unrotated == "full-if-windowed" and "sliding_window" not in keys:
        return frozenset()
    return frozenset(layer for layer, kind in enumerate(kinds) if kind == FULL)
