"""What the fuzzers begin with: sound configurations, GGUF files, geometries, designs and arrays.

Configurations are those of all presets, and small ones with every way of scaling. GGUF files are written here for every
architecture that is read. Nothing is taken from the network.
"""

import io
import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from ropewalk.design import Design
from ropewalk.design_json import design_to_json
from ropewalk.geometry import geometry_to_json, only_rotary
from ropewalk.models import preset_names, read_model
from ropewalk.models.families import FAMILIES
from ropewalk.models.gguf_architectures import ARCHITECTURES, REFUSED

from .gguf_files import ARRAY, BOOL, F32, TEXT, U32, GgufFile, Tensor

SCALINGS: tuple[dict[str, Any], ...] = (
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 8.0},
    {"type": "dynamic", "factor": 8.0},
    {"type": "dynamic", "alpha": 8.0},
    {"type": "ntk", "factor": 8.0, "mixed_b": 0.6},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1},
    {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096, "mscale": 1.0, "mscale_all_dim": 0.7},
    {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096, "truncate": False},
    {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
     "original_max_position_embeddings": 8192},
    {"type": "su", "short_factor": [1.0] * 32, "long_factor": [2.0] * 32},
    {"rope_type": "longrope", "short_factor": [1.0] * 32, "long_factor": [2.0] * 32, "factor": 32.0,
     "original_max_position_embeddings": 4096},
    {"rope_type": "proportional", "partial_rotary_factor": 0.25},
    {"type": "mrope", "mrope_section": [8, 12, 12]},
    {"rope_type": "default", "mrope_section": [12, 10, 10], "mrope_interleaved": True},
)  # fmt: skip
SMALL: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 4,
    "max_position_embeddings": 32768,
    "rope_theta": 10000.0,
}
OF_ALL_SCHEMES = (
    "gemma-3-270m", "qwen2.5-7b-yarn", "qwen2.5-vl-3b", "gemma-4", "phi-3.5-mini", "bloom-176b", "gpt-2-small",
    "whisper-tiny-encoder",
)  # fmt: skip
LAYERS = ["full_attention", "sliding_attention", "full_attention", "sliding_attention"]


@cache
def configurations() -> tuple[dict[str, Any], ...]:
    """Sound configurations: the presets', every scaling on a small model, every family on a small model."""
    folder = files("ropewalk.models") / "presets"
    found = [json.loads((folder / f"{name}.json").read_text("utf-8")) for name in preset_names()]
    found += [SMALL | {"rope_scaling": scaling} for scaling in SCALINGS]
    found += [SMALL | {"rope_parameters": {"rope_theta": 1e6} | scaling} for scaling in SCALINGS]
    found += [
        SMALL | {"layer_types": LAYERS, "rope_parameters": {"full_attention": scaling, "sliding_attention": {}}}
        for scaling in SCALINGS
    ]
    found += [SMALL | {"model_type": family} for family in sorted(FAMILIES)]
    found += [{"model_type": "llava", "text_config": SMALL}, {"architectures": ["X"], "llm_config": SMALL}]
    return tuple(found)


@cache
def families() -> tuple[str, ...]:
    """Every ``model_type`` that is known by name."""
    return tuple(sorted({*FAMILIES, *(str(config.get("model_type")) for config in configurations()), "t5", "mamba"}))


@cache
def parts() -> tuple[tuple[str, Any], ...]:
    """Each key with a value that some sound configuration has, objects inside objects too."""
    found: list[tuple[str, Any]] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                found.append((key, item))
                walk(item)

    for config in configurations():
        walk(config)
    return tuple({(key, json.dumps(value)): (key, value) for key, value in found}.values())


GGUF_KEYS: dict[str, tuple[int, Any]] = {
    "block_count": (U32, 4),
    "context_length": (U32, 4096),
    "embedding_length": (U32, 256),
    "attention.head_count": (U32, 4),
    "attention.head_count_kv": (U32, 2),
    "attention.key_length": (U32, 64),
    "attention.sliding_window": (U32, 128),
    "rope.freq_base": (F32, 5e5),
}
GGUF_YARN: dict[str, tuple[int, Any]] = {
    "rope.scaling.type": (TEXT, b"yarn"),
    "rope.scaling.factor": (F32, 4.0),
    "rope.scaling.original_context_length": (U32, 1024),
}
GGUF_LONG: dict[str, tuple[int, Any]] = {
    "rope.scaling.type": (TEXT, b"longrope"),
    "rope.scaling.original_context_length": (U32, 1024),
}
GGUF_MORE: dict[str, tuple[int, Any]] = {
    "attention.compress_ratios": (ARRAY, (U32, [0, 4, 128, 4])),
    "attention.compress_rope_freq_base": (F32, 16e4),
    "attention.key_length_swa": (U32, 32),
    "attention.max_alibi_bias": (F32, 8.0),
    "attention.recurrent_layers": (ARRAY, (BOOL, [True, False, True, False])),
    "attention.scale": (F32, 0.125),
    "attention.sliding_window_pattern": (ARRAY, (BOOL, [True, False, True, False])),
    "attention.temperature_scale": (F32, 0.1),
    "attention.temperature_length": (U32, 4096),
    "full_attention_interval": (U32, 4),
    "nextn_predict_layers": (U32, 1),
    "rope.dimension_count": (U32, 32),
    "rope.dimension_count_swa": (U32, 32),
    "rope.dimension_sections": (ARRAY, (U32, [12, 10, 10, 0])),
    "rope.freq_base_swa": (F32, 1e4),
    "rope.scale_linear": (F32, 4.0),
    "rope.scaling.alpha": (F32, 8.0),
    "rope.scaling.attn_factor": (F32, 1.2),
    "rope.scaling.finetuned": (BOOL, 1),
    "rope.scaling.yarn_attn_factor": (F32, 1.0),
    "rope.scaling.yarn_beta_fast": (F32, 32.0),
    "rope.scaling.yarn_beta_slow": (F32, 1.0),
    "rope.scaling.yarn_ext_factor": (F32, 1.0),
    "rope.scaling.yarn_log_multiplier": (F32, 0.1),
}
DIVISORS = np.linspace(1, 8, 32, dtype="<f4").tobytes()


def architectures() -> tuple[str, ...]:
    """The architectures that files are written for: all that are read, and some that are refused."""
    return (*sorted(ARCHITECTURES), *sorted(REFUSED)[:4], "unknown")


def gguf_file(name: str, scaling: int = 0, tensors: int = 0) -> GgufFile:
    """A sound file of the architecture ``name``; ``scaling`` 0 to 2 and ``tensors`` 0 to 3 choose what it has."""
    keys = dict(GGUF_KEYS)
    wanted = []
    architecture = ARCHITECTURES.get(name)
    if architecture is not None:
        if architecture.scheme == "alibi" and architecture.bias_max is None:
            wanted += ["attention.max_alibi_bias"]
        if architecture.compressed:
            wanted += ["attention.compress_ratios", "attention.compress_rope_freq_base", "rope.dimension_count"]
        if architecture.latent:
            wanted += ["rope.dimension_count"]
        if architecture.axes:
            wanted += ["rope.dimension_sections"]
        if architecture.window and not architecture.window.every:
            wanted += ["attention.sliding_window_pattern"]
    keys |= {key: GGUF_MORE[key] for key in wanted} | ({}, GGUF_YARN, GGUF_LONG)[scaling]
    entries: list[list[Any]] = [[b"general.architecture", TEXT, name.encode()], [b"general.alignment", U32, 32]]
    entries += [[f"{name}.{key}".encode(), kind, value] for key, (kind, value) in keys.items()]
    entries.append([b"tokenizer.ggml.tokens", ARRAY, (TEXT, [b"a", b"bc", b""])])
    held = (
        [],
        [Tensor(b"rope_freqs.weight", [32], 0, DIVISORS)],
        [
            Tensor(b"rope_factors_long.weight", [32], 0, DIVISORS),
            Tensor(b"rope_factors_short.weight", [32], 0, DIVISORS),
        ],
        [Tensor(b"position_embd.weight", [8, 6], 0, bytes(192))],
    )[tensors]
    return GgufFile(entries, list(held))


@cache
def geometries() -> tuple[dict[str, Any], ...]:
    """The JSON documents of geometries of all schemes."""
    return tuple(geometry_to_json(read_model(name)) for name in OF_ALL_SCHEMES)


@cache
def designs() -> tuple[Design, ...]:
    """Small designs: one variant, two, and a table."""
    gemma, llama = only_rotary(read_model("gemma-3-270m")), only_rotary(read_model("tinyllama-1.1b"))
    return (
        Design(geometry=llama, lanes=4),
        Design(geometry=gemma, lanes=8, coefficient_width=16, phase_bits=40, value_heads=1),
        Design(geometry=llama, lanes=2, source="table", positions=64, angle_model="hf_f32"),
    )


@cache
def design_documents() -> tuple[dict[str, Any], ...]:
    """What ``design.json`` holds for :func:`designs`."""
    return tuple(design_to_json(design, {"latency": 1}) for design in designs())


def arrays(design: Design) -> dict[str, np.ndarray]:
    """Sound arrays of a run of three tokens."""
    query, key, value = design.heads
    head = design.geometry.head_dim
    numbers = np.random.default_rng(1)
    made = {"q": numbers.integers(-99, 99, (3, query, head)), "k": numbers.integers(-99, 99, (3, key, head))}
    if value:
        made["v"] = numbers.integers(-99, 99, (3, value, head))
    return made | {"position": np.array([0, 1, 5]), "variant": np.array([0, 0, 0]), "inverse": np.array([0, 1, 0])}


def npy(array: np.ndarray) -> bytes:
    """The bytes of an npy file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
