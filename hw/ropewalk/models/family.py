"""What a model family's code decides about rotation: the vocabulary of :mod:`ropewalk.models.families`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..geometry.axes import Layout
from ..geometry.shape import Pairing

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
    axes, sections
        How the axes of a position share the pairs, and the default of ``mrope_section``.
    rotated_last
        The last elements of a head are rotated, not the first.
    kind_variants
        The variant of each kind of layer, where it is not of the same name.
    kind_scaling
        Rope parameters of a kind of layer where a file gives none.
    last_full
        The last layer has full attention, whatever the file says.
    full_head_dim
        The head size of the full-attention layers, where it differs; the file's key is ``global_head_dim``.
    aliases
        The family's own names of general keys: other name to general one.
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
    axes: Layout | None = None
    sections: tuple[int, ...] | None = None
    rotated_last: bool = False
    kind_variants: Mapping[str, str] = field(default_factory=dict)
    kind_scaling: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    last_full: bool = False
    full_head_dim: int | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    hidden_size: int | None = None
    query_heads: int | None = None
    key_heads: int | None = None
    head_dim: int | None = None
    rope_head_dim: int = 64
    rotary_dim: int | None = None
    layers: int | None = None
    max_position: int | None = None
