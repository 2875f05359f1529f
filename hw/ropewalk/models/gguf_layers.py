"""Layers and heads of a GGUF model: which layers attend to a window, which are rotated, how many heads they have."""

from dataclasses import dataclass

from ..geometry.rotary import MAX_HEAD_DIM, MAX_HEADS, MAX_LAYERS
from ..strict_json import Keys
from .gguf_architectures import Architecture
from .layers import FULL, SLIDING
from .sizes import MAX_HIDDEN


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The layers of a model in order.

    Parameters
    ----------
    kinds
        ``full_attention``, ``sliding_attention``, or None for a layer that is not rotated.
    windowed
        Some layers attend to a window only.
    heads, key_heads
        Per layer; 0 in layers without attention.
    """

    kinds: tuple[str | None, ...]
    windowed: bool
    heads: tuple[int, ...]
    key_heads: tuple[int, ...]

    def most(self, kind: str) -> tuple[int, int]:
        """The largest query and key head count of the layers of one kind."""
        chosen = [layer for layer, found in enumerate(self.kinds) if found == kind]
        return max(self.heads[layer] for layer in chosen), max(self.key_heads[layer] for layer in chosen)

    def uneven(self, kind: str) -> bool:
        """Whether the layers of one kind have different head counts."""
        counts = zip(self.kinds, self.heads, self.key_heads, strict=True)
        return len({(heads, keys) for found, heads, keys in counts if found == kind}) > 1


def read_layers(keys: Keys, architecture: Architecture) -> Layers:
    """The layers, without the extra ones that only predict further tokens (``nextn_predict_layers``).

    Raises
    ------
    InputError
        If a count or a pattern is missing, out of range or of another length than ``block_count``.
    """
    blocks = keys.required_integer("block_count", 1, MAX_LAYERS)
    extra = keys.integer("nextn_predict_layers", 0, MAX_LAYERS) or 0
    if extra >= blocks:
        raise keys.error("nextn_predict_layers", f"below block_count {blocks}")
    count = blocks - extra
    heads = _per_layer(keys, "attention.head_count", blocks)
    if heads is None:
        raise keys.error("attention.head_count", f"an integer from 1 to {MAX_HEADS}")
    key_heads = _per_layer(keys, "attention.head_count_kv", blocks) or heads
    if not any(heads):
        raise keys.error("attention.head_count", "above 0 in at least one layer")
    windowed = _windowed(keys, architecture)
    sliding = _pattern(keys, architecture, blocks, count) if windowed else [False] * count
    attends = _attending(keys, architecture, count)
    kinds: list[str | None] = []
    for layer in range(count):
        kind = SLIDING if sliding[layer] else FULL
        turns = attends[layer] and heads[layer] and key_heads[layer]
        kinds.append(kind if turns and not _unrotated(architecture, layer, sliding[layer], windowed) else None)
    if not any(kinds):
        raise keys.refuse("no layer of it is rotated")
    for layer, kind in enumerate(kinds):
        if kind and not architecture.latent and heads[layer] % key_heads[layer]:
            raise keys.refuse(
                f"{keys.name('attention.head_count_kv')} {key_heads[layer]} does not divide attention.head_count "
                f"{heads[layer]} in layer {layer}"
            )
    return Layers(kinds=tuple(kinds), windowed=windowed, heads=heads[:count], key_heads=key_heads[:count])


def head_size(keys: Keys, heads: tuple[int, ...]) -> int:
    """``attention.key_length``, else ``embedding_length`` over the head count of the first layer that has one.

    Raises
    ------
    InputError
        If it is missing, out of range, odd, or does not divide.
    """
    size = keys.integer("attention.key_length", 2, MAX_HEAD_DIM)
    if size is None:
        width = keys.integer("embedding_length", 1, MAX_HIDDEN)
        if width is None:
            raise keys.error("embedding_length", f"an integer from 1 to {MAX_HIDDEN}, as there is no key_length")
        count = next(filter(None, heads))
        if width % count:
            raise keys.refuse(f"{keys.name('attention.head_count')} {count} does not divide embedding_length {width}")
        size = width // count
        if not 2 <= size <= MAX_HEAD_DIM:
            raise keys.refuse(f"embedding_length / head_count must be from 2 to {MAX_HEAD_DIM}, not {size}")
    if size % 2:
        raise keys.refuse(f"the head size (attention.key_length) must be even, not {size}")
    return size


def _per_layer(keys: Keys, key: str, blocks: int) -> tuple[int, ...] | None:
    """One count per layer: an array of that length, or one number for all."""
    value = keys.get(key)
    if not isinstance(value, list):
        number = keys.integer(key, 1, MAX_HEADS)
        return None if number is None else (number,) * blocks
    wanted = f"a number, or a list of block_count = {blocks} numbers from 0 to {MAX_HEADS}"
    if len(value) != blocks or any(type(item) is not int or not 0 <= item <= MAX_HEADS for item in value):
        raise keys.error(key, wanted)
    return tuple(value)


def _windowed(keys: Keys, architecture: Architecture) -> bool:
    size = keys.integer("attention.sliding_window", 0, 1 << 32)
    window = architecture.window
    if window is None:
        return False
    if architecture.unrotated == "fourth":  # Llama 4: only an explicit 0 means none
        return size != 0
    return bool(size) or not window.optional


def _pattern(keys: Keys, architecture: Architecture, blocks: int, count: int) -> list[bool]:
    """Whether each layer attends to a window only."""
    window = architecture.window
    key = "attention.sliding_window_pattern"
    listed = keys.get(key)
    if isinstance(listed, list):
        if not count <= len(listed) <= blocks or any(
            not isinstance(item, bool) and item not in (0, 1) for item in listed
        ):
            raise keys.error(key, f"a number, or a list of {blocks} flags")
        return [bool(item) for item in listed[:count]]
    every = keys.integer(key, 0, MAX_LAYERS)
    if window is None or (not window.every and every is None):
        raise keys.error(key, f"a list of {blocks} flags")
    every = window.every if every is None else every
    if every == 0:
        return [True] * count
    full = 0 if window.full_first else every - 1
    return [layer % every != full for layer in range(count)]


def _attending(keys: Keys, architecture: Architecture, count: int) -> list[bool]:
    """Whether each layer has attention at all, where that is a rule and not a head count of 0."""
    if not architecture.recurrent_every:
        return [True] * count
    listed = keys.get("attention.recurrent_layers")
    if isinstance(listed, list):
        if len(listed) < count or any(not isinstance(item, bool) and item not in (0, 1) for item in listed):
            raise keys.error("attention.recurrent_layers", f"a list of {count} flags")
        return [not item for item in listed[:count]]
    every = keys.integer("full_attention_interval", 1, MAX_LAYERS) or architecture.recurrent_every
    return [layer % every == every - 1 for layer in range(count)]


def _unrotated(architecture: Architecture, layer: int, sliding: bool, windowed: bool) -> bool:
    match architecture.unrotated:
        case "full":
            return windowed and not sliding
        case "fourth":
            return windowed and layer % 4 == 3
        case "every-fourth":
            return layer % 4 == 3
    return False
