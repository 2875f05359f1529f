"""DeepSeek-V4 in GGUF: layers that compress their keys are rotated with a base and scaling of their own.

Source: llama.cpp, ``src/models/deepseek4.cpp``. The last ``rope.dimension_count`` elements of a head are rotated.
Layers whose ``attention.compress_ratios`` is 0 use ``rope.freq_base`` as it is, the others
``attention.compress_rope_freq_base`` with the file's scaling and an amplitude of 1.
"""

from dataclasses import replace

from ..geometry.rotary import MAX_HEAD_DIM, RotaryGeometry, Variant
from ..geometry.shape import Pairing
from .gguf_layers import head_size, read_layers
from .gguf_model import Model
from .gguf_scaling import file_recipe, read_scaling, scaled_frequencies
from .gguf_yarn import check_yarn_range
from .rope_objects import HIGH_BASE, LOW_BASE

MAIN, COMPRESS = "main", "compress"

BASE_KEY = "attention.compress_rope_freq_base"


def compressed_geometry(model: Model, override: Pairing | None) -> RotaryGeometry:
    """The geometry of a DeepSeek-V4 model; ``override`` replaces its pairing.

    Raises
    ------
    InputError
        If a key is missing, out of range or contradicts another.
    """
    keys = model.keys
    layers = read_layers(keys, model.architecture)
    size = head_size(keys, layers.heads)
    width = keys.required_integer("rope.dimension_count", 2, MAX_HEAD_DIM)
    if width % 2 or width > size:
        raise keys.error("rope.dimension_count", f"even and at most the head size {size}")
    ratios = keys.get("attention.compress_ratios")
    if (
        not isinstance(ratios, list)
        or len(ratios) < len(layers.kinds)
        or any(type(ratio) is not int or ratio < 0 for ratio in ratios)
    ):
        raise keys.error("attention.compress_ratios", f"a list of {len(layers.kinds)} numbers, 0 for none")
    base = keys.number("rope.freq_base", LOW_BASE, HIGH_BASE) or 10_000.0
    compress_base = keys.required_number(BASE_KEY, LOW_BASE, HIGH_BASE)
    scaling = replace(
        read_scaling(keys, model.name, model.architecture, model.follow, False, model.note), amplitude=1.0
    )
    check_yarn_range(keys, compress_base, width, scaling, model.note)
    pairing = override or model.architecture.pairing
    return RotaryGeometry(
        model_type=model.name,
        head_dim=size,
        rotary_dim=width,
        rotary_start=size - width,
        query_heads=max(layers.heads),
        key_heads=1,
        pairing=pairing,
        output_pairing=pairing,
        layers=tuple(COMPRESS if ratio else MAIN for ratio in ratios[: len(layers.kinds)]),
        variants=(
            Variant(
                name=MAIN,
                inverse_frequency=scaled_frequencies(base, width, None, None),
                amplitude=1.0,
                max_position=scaling.context,
                recipe=file_recipe(base, width, None, None),
            ),
            Variant(
                name=COMPRESS,
                inverse_frequency=scaled_frequencies(compress_base, width, scaling, None),
                amplitude=scaling.amplitude,
                max_position=scaling.max_position,
                recipe=file_recipe(compress_base, width, scaling, None),
            ),
        ),
    )
