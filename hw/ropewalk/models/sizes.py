"""How wide a model's heads are, how many there are, and which part of them is rotated."""

from dataclasses import dataclass

from ..geometry.rotary import MAX_HEAD_DIM, MAX_HEADS
from ..strict_json import Keys
from .family import Family

MAX_HIDDEN = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The size of a head as the engine sees it, and how many there are."""

    head_dim: int
    query_heads: int
    key_heads: int


def read_sizes(keys: Keys, family: Family, model_type: str, *, full: bool = False) -> Sizes:
    """The head size and head counts of a configuration's layers; ``full``: those of its full-attention layers.

    The head size is ``head_dim``, else the family's own, else ``hidden_size / num_attention_heads``. With latent
    attention it is ``qk_rope_head_dim``, and there is one key head.

    Raises
    ------
    InputError
        If a size is missing, out of range, odd, or does not divide.
    """
    query_heads = _first(keys, ("num_attention_heads", "n_head"), MAX_HEADS) or family.query_heads
    if query_heads is None:
        raise keys.error("num_attention_heads", f"an integer from 1 to {MAX_HEADS}")
    if family.latent:
        head_dim = keys.integer("qk_rope_head_dim", 2, MAX_HEAD_DIM) or family.rope_head_dim
        if head_dim % 2:
            raise keys.error("qk_rope_head_dim", "even")
        return Sizes(head_dim=head_dim, query_heads=query_heads, key_heads=1)
    head_dim = keys.integer("head_dim", 2, MAX_HEAD_DIM) or family.head_dim
    if head_dim is None:
        head_dim = _divided(keys, family, query_heads)
    if head_dim % 2:
        raise keys.refuse(f"head_dim must be even, not {head_dim}")
    key_heads = _key_heads(keys, family, model_type, query_heads)
    if full and family.full_head_dim is not None:
        head_dim, key_heads = _full_sizes(keys, family.full_head_dim, key_heads)
    if query_heads % key_heads:
        raise keys.refuse(f"num_key_value_heads {key_heads} does not divide num_attention_heads {query_heads}")
    return Sizes(head_dim=head_dim, query_heads=query_heads, key_heads=key_heads)


def rotary_fraction(keys: Keys, parameters: Keys) -> float | None:
    """``partial_rotary_factor`` in the rope ``parameters``, else beside them, else None."""
    inside = parameters.number("partial_rotary_factor", 0.0, 1.0)
    outside = keys.number("partial_rotary_factor", 0.0, 1.0)
    return outside if inside is None else inside


def rotary_width(keys: Keys, parameters: Keys, family: Family, sizes: Sizes) -> int:
    """How many elements of a head the formulas rotate; where it is odd, the software rotates one more.

    The fraction is ``partial_rotary_factor`` in the rope ``parameters``, else beside them, else ``rotary_pct``, else
    the family's own; the product is truncated, as the usual software does. ``rotary_dim`` says it outright.
    """
    fraction = rotary_fraction(keys, parameters)
    if family.latent:
        rest = keys.integer("qk_nope_head_dim", 0, MAX_HEAD_DIM) or 0
        if fraction not in (None, 1.0) and int((rest + sizes.head_dim) * fraction) != sizes.head_dim:
            raise keys.refuse(f"partial_rotary_factor {fraction:g} contradicts qk_rope_head_dim {sizes.head_dim}")
        return sizes.head_dim
    if fraction is None:
        width = keys.integer("rotary_dim", 2, sizes.head_dim) or family.rotary_dim
        if width is not None:
            if width > sizes.head_dim:
                raise keys.refuse(f"rotary_dim {width} is more than head_dim {sizes.head_dim}")
            return width
        fraction = keys.number("rotary_pct", 0.0, 1.0)
    if fraction is None:
        fraction = family.rotary_fraction
    width = int(sizes.head_dim * fraction)
    if width < 2:
        raise keys.refuse(f"partial_rotary_factor {fraction:g} of head_dim {sizes.head_dim} leaves nothing to rotate")
    return width


def _full_sizes(keys: Keys, head_dim: int, key_heads: int) -> tuple[int, int]:
    """Head size and key heads of Gemma 4's full-attention layers."""
    listed = keys.object("per_layer_config")
    if listed is not None:  # how transformers 5.24 saves it: an object per layer with full attention
        found = [listed.object(layer) or listed for layer in listed]
        if not found or any(other.values != found[0].values for other in found):
            raise keys.error("per_layer_config", "one and the same object for each full-attention layer")
        head_dim = found[0].integer("head_dim", 2, MAX_HEAD_DIM) or head_dim
        if head_dim % 2:
            raise found[0].error("head_dim", "even")
        return head_dim, found[0].integer("num_key_value_heads", 1, MAX_HEADS) or key_heads
    head_dim = keys.integer("global_head_dim", 2, MAX_HEAD_DIM) or head_dim
    if head_dim % 2:
        raise keys.error("global_head_dim", "even")
    given = keys.integer("num_global_key_value_heads", 1, MAX_HEADS)
    if keys.flag("attention_k_eq_v") is False:
        return head_dim, key_heads  # the key says nothing then, in transformers 5.24
    return head_dim, given or key_heads


def _first(keys: Keys, names: tuple[str, ...], high: int) -> int | None:
    for name in names:
        value = keys.integer(name, 1, high)
        if value is not None:
            return value
    return None


def _divided(keys: Keys, family: Family, query_heads: int) -> int:
    hidden = _first(keys, ("hidden_size", "n_embd"), MAX_HIDDEN) or family.hidden_size
    if hidden is None:
        raise keys.error("hidden_size", f"an integer from 1 to {MAX_HIDDEN}, as there is no head_dim")
    if hidden % query_heads:
        raise keys.refuse(f"num_attention_heads {query_heads} does not divide hidden_size {hidden}")
    if not 2 <= hidden // query_heads <= MAX_HEAD_DIM:
        raise keys.refuse(f"hidden_size / num_attention_heads must be from 2 to {MAX_HEAD_DIM}")
    return hidden // query_heads


def _key_heads(keys: Keys, family: Family, model_type: str, query_heads: int) -> int:
    if model_type == "falcon":  # its code has three rules
        given = _first(keys, ("num_kv_heads", "num_key_value_heads"), MAX_HEADS)
        if keys.flag("new_decoder_architecture"):
            return given or query_heads
        if given and "multi_query" not in keys and "new_decoder_architecture" not in keys:
            return given  # a file that says nothing of either
        return query_heads if keys.flag("multi_query") is False else 1
    given = _first(keys, ("num_key_value_heads",), MAX_HEADS)
    return given or family.key_heads or query_heads
