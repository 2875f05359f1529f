"""The metadata of a GGUF file as a geometry: :func:`geometry_from_gguf`.

The pairing is always that of the file's own weights, which converters permute for llama.cpp in some families. What else
llama.cpp would read differently from what the model's author meant follows ``--follow``; ``docs/gguf.md`` has the
rules.
"""

from collections.abc import Callable
from pathlib import Path

from ..geometry import AlibiGeometry, Geometry, LearnedGeometry
from ..geometry.alibi import MAX_BIAS_MAX, alibi_slopes
from ..geometry.learned import MAX_DIMENSION, MAX_ROWS
from ..geometry.rotary import MAX_LAYERS
from ..geometry.shape import Pairing
from ..strict_json import Keys, show
from .gguf_architectures import ARCHITECTURES, REFUSED, Architecture, Scheme
from .gguf_compressed import BASE_KEY, compressed_geometry
from .gguf_layers import read_layers
from .gguf_model import Model
from .gguf_rotary import rotary_geometry
from .gguf_tensors import read_gguf, table_shape
from .known_keys import POSITIONAL
from .scaling import Follow

POSITION_TABLE = "position_embd.weight"

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
    model = Model(
        header=header,
        keys=keys,
        name=name,
        architecture=architecture,
        follow=follow,
        sequence_length=sequence_length,
        note=note,
    )
    scheme = _scheme(model)
    found: Geometry
    if scheme == "rope":
        found = (compressed_geometry if architecture.compressed else rotary_geometry)(model, pairing)
    else:
        if sequence_length is not None or pairing is not None:
            note("the sequence length and the pairing change nothing: this model is not a rotary one")
        found = _alibi(model) if scheme == "alibi" else _learned(model)
    for key in sorted(header.metadata):
        if key.removeprefix(prefix) not in keys.read or not key.startswith(prefix):
            ignored(show(key)[1:-1])
    return found


def _architecture(keys: Keys, name: str, pairing: Pairing | None, note: Callable[[str], None]) -> Architecture:
    """The row of the architecture, after refusing positional keys that nobody understands."""
    if name in REFUSED:
        raise keys.refuse(f"the architecture {name} {REFUSED[name]}")
    found = ARCHITECTURES.get(name)
    known = KNOWN | {BASE_KEY} if found is not None and found.compressed else KNOWN
    for key in sorted(keys):
        if key not in known and (key.startswith("rope.") or POSITIONAL.search(key)):
            raise keys.refuse(f"the key {keys.name(key)} could change the geometry, and is not understood")
    if found is not None:
        return found
    if "rope.dimension_count" not in keys and "rope.freq_base" not in keys:
        raise keys.refuse(f"the architecture {name} is unknown and none of its keys says that it is a rotary model")
    if pairing is None:
        note(f"the architecture {name} is unknown: half pairing is assumed (--pairing interleaved overrides)")
    return Architecture()


def _scheme(model: Model) -> Scheme:
    """What the file's positions are; some architectures have several kinds of models."""
    keys, architecture = model.keys, model.architecture
    bias = keys.number("attention.max_alibi_bias", 0.0, MAX_BIAS_MAX)
    if architecture.alibi_layers is not None:
        return "alibi" if keys.integer("block_count", 1, MAX_LAYERS) == architecture.alibi_layers else "rope"
    if architecture.scheme == "alibi" and architecture.bias_max is None and not bias:
        if POSITION_TABLE in model.header.tensors:
            return "learned"
        raise keys.error("attention.max_alibi_bias", "above 0, as there is no position table")
    if bias and architecture.scheme != "alibi":
        name = keys.name("attention.max_alibi_bias")
        raise keys.refuse(f"{name} asks for ALiBi, which llama.cpp does not have in {model.name}")
    return architecture.scheme


def _alibi(model: Model) -> AlibiGeometry:
    keys, architecture = model.keys, model.architecture
    heads = read_layers(keys, architecture).heads
    if len(set(heads)) > 1:
        raise keys.error("attention.head_count", "the same in every layer")
    bias = keys.number("attention.max_alibi_bias", 0.0, MAX_BIAS_MAX)
    if architecture.bias_max is not None:
        bias = architecture.bias_max
    mode = architecture.alibi
    if mode not in ("relative", "symmetric"):
        if model.follow == "llama.cpp":
            model.note(f"the biases are relative, as llama.cpp computes them; the model's author made them {mode}")
            mode = "relative"
        else:
            model.note(f"the biases are {mode}, as the model's author made them; llama.cpp makes them relative")
    return AlibiGeometry(model_type=model.name, heads=heads[0], slopes=alibi_slopes(heads[0], bias or 0.0), mode=mode)


def _learned(model: Model) -> LearnedGeometry:
    keys = model.keys
    rows = keys.required_integer("context_length", 1, MAX_ROWS)
    dimension = keys.required_integer("embedding_length", 1, MAX_DIMENSION)
    shape = table_shape(model.header, POSITION_TABLE)
    if shape is None:
        model.note(f"there is no tensor {POSITION_TABLE}: the number of its rows is taken from context_length")
    elif shape != (rows, dimension):
        raise keys.refuse(
            f"the tensor {POSITION_TABLE} has {shape[0]} rows of {shape[1]}, but context_length is {rows} and "
            f"embedding_length {dimension}"
        )
    return LearnedGeometry(model_type=model.name, rows=rows, row_offset=0, dimension=dimension)
