"""The metadata of a GGUF file as a geometry: :func:`geometry_from_gguf`.

The pairing is always that of the file's own weights, which converters permute for llama.cpp in some families. What else
llama.cpp would read differently from what the model's author meant follows ``--follow``; ``docs/gguf.md`` has the rules.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..geometry import Geometry
from ..geometry.alibi import MAX_BIAS_MAX, AlibiGeometry, alibi_slopes
from ..geometry.axes import section_axes
from ..geometry.learned import MAX_DIMENSION, MAX_ROWS, LearnedGeometry
from ..geometry.rotary import MAX_HEAD_DIM, MAX_POSITIONS, Pairing, RotaryGeometry, Shape, Variant
from ..strict_json import Keys, show
from .gguf_architectures import ARCHITECTURES, REFUSED, Architecture
from .gguf_header import Header
from .gguf_layers import Layers, head_size, read_layers
from .gguf_scaling import Scaling, check_yarn_range, read_scaling, scaled_frequencies
from .gguf_tensors import read_divisors, read_gguf, table_shape
from .known_keys import POSITIONAL
from .layers import FULL, SLIDING
from .rope_objects import HIGH_BASE, LOW_BASE
from .scaling import Follow

POSITION_TABLE = "position_embd.weight"

BASE = 10_000.0
"""llama.cpp's base where ``rope.freq_base`` is absent."""

KNOWN = frozenset(
    [
        "attention.max_alibi_bias",
        "rope.dimension_count",
        "rope.dimension_count_swa",
        "rope.dimension_sections",
        "rope.freq_base",
        "rope.freq_base_swa",
        "rope.scale_linear",
        "rope.scaling.alpha",
        "rope.scaling.attn_factor",
        "rope.scaling.factor",
        "rope.scaling.finetuned",
        "rope.scaling.original_context_length",
        "rope.scaling.type",
        "rope.scaling.yarn_attn_factor",
        "rope.scaling.yarn_beta_fast",
        "rope.scaling.yarn_beta_slow",
        "rope.scaling.yarn_ext_factor",
        "rope.scaling.yarn_log_multiplier",
    ]
)
"""The positional keys of llama.cpp that are understood, without the architecture before them."""


def geometry_from_gguf(
    path: Path,
    *,
    sequence_length: int | None = None,
    pairing: Pairing | None = None,
    follow: Follow = "hf",
    note: Callable[[str], None],
    ignored: Callable[[str], None],
) -> Geometry:
    """The geometry of the model in the GGUF file ``path``.

    ``note`` takes sentences that the user should see, ``ignored`` the name of each key that was not looked at. The
    other parameters are those of :func:`ropewalk.models.read_model`. ``model_type`` is the architecture's name.

    Raises
    ------
    InputError
        If the file cannot be read, is not a model that this version imports, or anything in it that could change the
        geometry is wrong, missing or not understood.
    """
    header = read_gguf(path)
    general = Keys(header.metadata, header.where)
    kind = general.get("general.type")
    if kind not in (None, "model"):
        raise general.error("general.type", "model")
    name = general.required_text("general.architecture")
    prefix = f"{name}."
    keys = Keys(
        {key.removeprefix(prefix): value for key, value in header.metadata.items() if key.startswith(prefix)},
        header.where,
        prefix,
    )
    architecture = _architecture(keys, name, pairing, note)
    model = _Model(header, keys, name, architecture, follow, sequence_length, note)
    scheme = model.scheme()
    if scheme == "rope":
        found: Geometry = model.rotary(pairing)
    else:
        found = model.alibi() if scheme == "alibi" else model.learned()
    for key in sorted(header.metadata):
        if key.removeprefix(prefix) not in keys.read or not key.startswith(prefix):
            ignored(show(key)[1:-1])
    return found


def _architecture(keys: Keys, name: str, pairing: Pairing | None, note: Callable[[str], None]) -> Architecture:
    """The row of the architecture, after refusing positional keys that nobody understands."""
    if name in REFUSED:
        raise keys.refuse(f"the architecture {name} {REFUSED[name]}")
    for key in sorted(keys):
        if key not in KNOWN and (key.startswith("rope.") or POSITIONAL.search(key)):
            raise keys.refuse(f"the key {keys.name(key)} could change the geometry, and is not understood")
    found = ARCHITECTURES.get(name)
    if found is not None:
        return found
    if "rope.dimension_count" not in keys and "rope.freq_base" not in keys:
        raise keys.refuse(f"the architecture {name} is unknown and none of its keys says that it is a rotary model")
    if pairing is None:
        note(f"the architecture {name} is unknown: half pairing is assumed (--pairing interleaved overrides)")
    return Architecture()


@dataclass(frozen=True)
class _Kind:
    """The rotation of one kind of layers."""

    name: str
    shape: Shape
    base: float
    scaled: bool


class _Model:
    """One file while it is read."""

    def __init__(
        self,
        header: Header,
        keys: Keys,
        name: str,
        architecture: Architecture,
        follow: Follow,
        sequence_length: int | None,
        note: Callable[[str], None],
    ) -> None:
        self.header = header
        self.keys = keys
        self.name = name
        self.architecture = architecture
        self.follow = follow
        self.sequence_length = sequence_length
        self.note = note

    def scheme(self) -> str:
        """What the file's positions are; some architectures have several kinds of models."""
        bias = self.keys.number("attention.max_alibi_bias", 0.0, MAX_BIAS_MAX)
        architecture = self.architecture
        if architecture.alibi_layers is not None:
            return "alibi" if self.keys.integer("block_count", 1, MAX_HEAD_DIM) == architecture.alibi_layers else "rope"
        if architecture.scheme == "alibi" and architecture.bias_max is None and not bias:
            if POSITION_TABLE in self.header.tensors:
                return "learned"
            raise self.keys.error("attention.max_alibi_bias", "above 0, as there is no position table")
        if bias and architecture.scheme != "alibi":
            raise self.keys.refuse(
                f"{self.keys.name('attention.max_alibi_bias')} asks for ALiBi, which llama.cpp does not have in {self.name}"
            )
        return architecture.scheme

    def alibi(self) -> AlibiGeometry:
        architecture, keys = self.architecture, self.keys
        layers = read_layers(keys, architecture)
        heads = layers.heads[0]
        if not heads or any(count != heads for count in layers.heads):
            raise keys.error("attention.head_count", "the same in every layer")
        bias = keys.number("attention.max_alibi_bias", 0.0, MAX_BIAS_MAX)
        bias = architecture.bias_max if architecture.bias_max is not None else bias
        mode = architecture.alibi
        if mode not in ("relative", "symmetric"):
            ours = self.follow == "llama.cpp"
            self.note(
                f"the biases are {mode if not ours else 'relative'}, as "
                + ("llama.cpp computes them" if ours else "the model's author did")
                + f"; {mode if ours else 'relative'} ones differ from them by the same number for all keys of a query"
            )
            mode = "relative" if ours else mode
        return AlibiGeometry(model_type=self.name, heads=heads, slopes=alibi_slopes(heads, bias or 0.0), mode=mode)

    def learned(self) -> LearnedGeometry:
        keys = self.keys
        rows = keys.required_integer("context_length", 1, MAX_ROWS)
        dimension = keys.required_integer("embedding_length", 1, MAX_DIMENSION)
        shape = table_shape(self.header, POSITION_TABLE)
        if shape is None:
            self.note(f"there is no tensor {POSITION_TABLE}: its size is taken from context_length")
        elif shape != (rows, dimension):
            raise keys.refuse(
                f"the tensor {POSITION_TABLE} has {shape[0]} rows of {shape[1]}, but context_length is {rows} and "
                f"embedding_length {dimension}"
            )
        return LearnedGeometry(model_type=self.name, rows=rows, row_offset=0, dimension=dimension)

    def rotary(self, override: Pairing | None) -> RotaryGeometry:
        keys, architecture = self.keys, self.architecture
        if architecture.switch and keys.flag("rope.scaling.finetuned") is False:
            raise keys.refuse(
                f"{keys.name('rope.scaling.finetuned')} is false, which turns rotation off in {self.name}"
            )
        keys.flag("rope.scaling.finetuned")
        layers = read_layers(keys, architecture)
        kinds = self.kinds(layers, override)
        width = kinds[0].shape.rotary_dim
        long = read_divisors(self.header, "rope_factors_long.weight", width // 2)
        short = read_divisors(self.header, "rope_factors_short.weight", width // 2)
        if (long is None) != (short is None):
            raise keys.refuse("of rope_factors_long.weight and rope_factors_short.weight only one is there")
        divisors = self.divisors(kinds)
        lists = (short, long) if short and long and divisors is None else None
        scaling = read_scaling(keys, self.name, architecture, self.follow, lists is not None, self.note)
        if lists and len(kinds) > 1:
            raise keys.refuse("longrope's two lists together with two kinds of layers are not understood")
        variants = self.longrope(kinds[0], scaling, lists) if lists else self.variants(kinds, scaling, divisors)
        names = {kind.name for kind in kinds}
        single = self.list_in_force(scaling) if lists else "default"
        if self.sequence_length is not None and not lists:
            self.note("the sequence length changes nothing: only longrope's choice of a list depends on it")
        top = kinds[0].shape
        geometry = RotaryGeometry(
            model_type=self.name,
            head_dim=top.head_dim,
            rotary_dim=top.rotary_dim,
            rotary_start=0,
            query_heads=top.query_heads,
            key_heads=top.key_heads,
            pairing=top.pairing,
            output_pairing=top.output_pairing,
            layers=tuple(kind and (kind if kind in names else single) for kind in layers.kinds),
            variants=tuple(variants),
            attention_scale=self.score_scale(layers, top, scaling),
        )
        return geometry if lists else geometry.with_shapes(tuple(kind.shape for kind in kinds))

    def kinds(self, layers: Layers, override: Pairing | None) -> list[_Kind]:
        """The kinds of layers that are rotated differently, global ones first; one named ``default`` where all agree."""
        keys, architecture = self.keys, self.architecture
        axes = self.sections() is not None
        pairing = override or ("half" if axes else architecture.pairing)
        base = keys.number("rope.freq_base", LOW_BASE, HIGH_BASE)
        base = self.stretched(BASE if base is None else base, layers)
        found = []
        for name in (FULL, SLIDING):
            if name in layers.kinds:
                shape = self.shape(layers, name, pairing)
                scaled = name == FULL or architecture.window is None or architecture.window.scaled
                found.append(_Kind(name, shape, base if name == FULL else self.windowed_base(base), scaled))
            elif name == SLIDING:
                self.unused_window_keys(base)
        first = found[0]
        if len(found) > 1:
            same = found[0].shape == found[1].shape and found[0].base == found[1].base
            if architecture.two_bases or not same or (found[0].scaled != found[1].scaled and self.is_scaled()):
                return found
        return [_Kind("default", first.shape, first.base, first.scaled)]

    def is_scaled(self) -> bool:
        """Whether any key asks for scaling, so that unscaled layers differ."""
        return any(key in self.keys for key in ("rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor"))

    def shape(self, layers: Layers, name: str, pairing: Pairing) -> Shape:
        keys, architecture = self.keys, self.architecture
        heads, key_heads = layers.most(name)
        if layers.uneven(name):
            self.note(f"head counts differ between layers; the largest are taken, {heads} and {key_heads}")
        if architecture.latent:
            width = keys.required_integer("rope.dimension_count", 2, MAX_HEAD_DIM)
            size, key_heads = width, 1
        else:
            size = head_size(keys, layers.heads)
            width = keys.integer("rope.dimension_count", 2, MAX_HEAD_DIM) or size
        if architecture.halved and name == FULL:
            width //= 2
        if name == SLIDING:
            size = keys.integer("attention.key_length_swa", 2, MAX_HEAD_DIM) or size
            width = keys.integer("rope.dimension_count_swa", 2, MAX_HEAD_DIM) or width
        if width % 2 or size % 2 or not 2 <= width <= size:
            raise keys.refuse(
                f"{keys.name('rope.dimension_count')} {width} must be even and at most the head size {size}, also even"
            )
        if architecture.whole_head and width != size:
            raise keys.refuse(
                f"{keys.name('rope.dimension_count')} {width} must be the head size {size}: llama.cpp refuses anything else "
                f"in {self.name}"
            )
        return Shape(
            head_dim=size,
            rotary_dim=width,
            rotary_start=0,
            query_heads=heads,
            key_heads=key_heads,
            pairing=pairing,
            output_pairing=pairing,
        )

    def stretched(self, base: float, layers: Layers) -> float:
        """The base after ``rope.scaling.alpha``, which one architecture has (static NTK)."""
        alpha = self.keys.number("rope.scaling.alpha", 0.0, 1e9)
        if not alpha:
            return base
        if self.name != "hunyuan_vl":
            raise self.keys.refuse(f"the key {self.keys.name('rope.scaling.alpha')} is not one of {self.name}")
        size = head_size(self.keys, layers.heads)
        if size <= 2:
            raise self.keys.error("attention.key_length", "above 2, as there is a rope.scaling.alpha")
        stretched = base * math.pow(alpha, size / (size - 2))
        if not LOW_BASE <= stretched <= HIGH_BASE:
            raise self.keys.refuse(f"rope.freq_base x alpha ** (d / (d - 2)) must be from 1 to {HIGH_BASE:g}")
        return stretched

    def windowed_base(self, base: float) -> float:
        own = self.keys.number("rope.freq_base_swa", LOW_BASE, HIGH_BASE)
        if own is not None:
            return own
        window = self.architecture.window
        if window is None or window.base is None:
            return base
        self.note(
            f"{self.keys.name('rope.freq_base_swa')} is absent: {window.base:g}, as llama.cpp takes it in {self.name}"
        )
        return window.base

    def unused_window_keys(self, base: float) -> None:
        """Keys of windowed layers in a model without any: harmless where they say what holds anyway."""
        own = self.keys.number("rope.freq_base_swa", LOW_BASE, HIGH_BASE)
        if own is not None and own != base:
            self.note(
                f"{self.keys.name('rope.freq_base_swa')} {own:g} is ignored: no layer that is rotated has a window"
            )

    def divisors(self, kinds: list[_Kind]) -> tuple[float, ...] | None:
        """``rope_freqs.weight``, as long as the first kind's pairs."""
        found = read_divisors(self.header, "rope_freqs.weight", kinds[0].shape.rotary_dim // 2)
        if found is not None and len(kinds) > 1 and not self.architecture.divisors_on_full:
            if kinds[0].shape.rotary_dim != kinds[1].shape.rotary_dim:
                raise self.keys.refuse("rope_freqs.weight is for one width, and the layers rotate two")
        return found

    def variants(self, kinds: list[_Kind], scaling: Scaling, divisors: tuple[float, ...] | None) -> list[Variant]:
        found = []
        axes = self.sections()
        for kind in kinds:
            own = None if kind.name == SLIDING and self.architecture.divisors_on_full else divisors
            if kind.scaled:
                check_yarn_range(self.keys, kind.base, kind.shape.rotary_dim, scaling, self.note)
            found.append(
                Variant(
                    name=kind.name,
                    inverse_frequency=scaled_frequencies(
                        kind.base, kind.shape.rotary_dim, scaling if kind.scaled else None, own
                    ),
                    amplitude=scaling.amplitude if kind.scaled else 1.0,
                    max_position=scaling.max_position if kind.scaled else scaling.context,
                    axis=None if axes is None else self.axis(axes, kind.shape.rotary_dim // 2),
                )
            )
        return found

    def longrope(
        self, kind: _Kind, scaling: Scaling, lists: tuple[tuple[float, ...], tuple[float, ...]]
    ) -> list[Variant]:
        return [
            Variant(
                name=name,
                inverse_frequency=scaled_frequencies(kind.base, kind.shape.rotary_dim, scaling, divisors),
                amplitude=scaling.amplitude,
                max_position=limit,
            )
            for name, divisors, limit in (
                ("short", lists[0], scaling.original),
                ("long", lists[1], scaling.context),
            )
        ]

    def list_in_force(self, scaling: Scaling) -> str:
        """Which of longrope's lists the layers use at the length that was asked for."""
        original, length = scaling.original, self.sequence_length
        if self.follow == "hf":
            self.note(
                f"longrope: Hugging Face uses the long list for all tokens of a call whose highest position is "
                f"{original} or more, else the short one; llama.cpp chooses one for good (--follow llama.cpp)"
            )
            return "long" if length is not None and length > original else "short"
        length = length or scaling.context
        chosen = "long" if length > original else "short"
        self.note(
            f"longrope: {self.follow} chooses one list for good by the length it is started with ({length} against "
            f"{original}: {chosen})"
        )
        return chosen

    def sections(self) -> list[int] | None:
        """``rope.dimension_sections`` where they share the pairs between axes."""
        keys = self.keys
        key = "rope.dimension_sections"
        listed = keys.get(key)
        if listed is None:
            if self.architecture.axes == "interleaved" or self.name in ("qwen2vl", "paddleocr"):
                raise keys.error(key, "a list of the pairs of each axis")
            return None
        if (
            not isinstance(listed, list)
            or not 1 <= len(listed) <= 4
            or any(type(item) is not int or not 0 <= item <= MAX_HEAD_DIM for item in listed)
        ):
            raise keys.error(key, "a list of 3 or 4 numbers, the pairs of each axis")
        if sum(1 for item in listed if item) <= 1:
            return None
        if self.architecture.axes is None:
            raise keys.refuse(f"{keys.name(key)} asks for positions with several axes, which {self.name} does not have")
        if any(listed[3:]):
            raise keys.error(key, "without a fourth axis")
        return listed[:3]

    def axis(self, sections: list[int], pairs: int) -> tuple[int, ...]:
        layout = self.architecture.axes or "contiguous"
        # where no axis claims a pair, llama.cpp gives it to a fourth one
        claimed = all(pair // 3 < sections[pair % 3] for pair in range(pairs) if pair % 3 < len(sections))
        if sum(sections) != pairs or (layout == "interleaved" and not claimed):
            raise self.keys.error("rope.dimension_sections", f"the {pairs} pairs (rotary_dim / 2), each claimed once")
        return section_axes(sections, layout)

    def score_scale(self, layers: Layers, shape: Shape, scaling: Scaling) -> float | str | None:
        """What the model multiplies scores or queries with, beside 1 / sqrt(head size)."""
        keys = self.keys
        if scaling.score_scale is not None:
            return scaling.score_scale
        beta = keys.number("attention.temperature_scale", 0.0, 1e6)
        if beta and self.name in ("mistral3", "mistral4", "deepseek2"):
            length = keys.integer("attention.temperature_length", 1, MAX_POSITIONS) or scaling.original
            return f"queries x (1 + {beta:g} ln(1 + floor(position / {length})))"
        if self.architecture.unrotated == "fourth" and layers.windowed:
            return "queries of layers without rotation x (1 + 0.1 ln(1 + floor((position + 1) / 8192)))"
        own = keys.number("attention.scale", 0.0, 1e6)
        if own:
            scale = own * math.sqrt(shape.head_dim)
            return None if abs(scale - 1) < 1e-6 else scale
        width: Any = keys.get("embedding_length")
        if len(layers.kinds) == self.architecture.narrow_layers and isinstance(width, int):
            square = width // layers.heads[0]
            return None if square in (0, shape.head_dim) else math.sqrt(shape.head_dim / square)
        return None
