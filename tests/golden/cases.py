"""The cases: a configuration as one software stack ran it, with the exact frequencies and the design of its own."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import Design
from ropewalk.geometry import only_rotary
from ropewalk.models import read_model
from ropewalk_sim.exact import exact_axes, exact_inverse_frequency

from .frequencies import exact_amplitude, exact_frequencies
from .vectors import (
    CONFIGURATIONS,
    POSITIONS,
    RAW,
    RAW_AMPLITUDE,
    arrays,
    config_of,
    inputs_of,
    known_of,
    parameters_of,
)

LANES, AXES, HEADS = 4, 3, (2, 1)
"""Of every engine; of every token: the golden vectors are two queries and a key."""

LIMIT = 1 << 20
"""The golden positions go past the models' own limits: each slot is loaded with this one."""

Number = Any


@dataclass(frozen=True, kw_only=True, eq=False)
class Load:
    """What one slot is loaded with, and the tokens of its case that use it.

    ``design`` and ``variant`` are the model's own; the engine was made for another. ``frequencies`` (of
    :mod:`.frequencies`), ``axis`` and ``amplitude`` say what is right. ``software`` are the stack's own frequencies,
    ``None`` where they were not recorded.
    """

    design: Design
    variant: int
    tokens: np.ndarray
    frequencies: list[Number]
    axis: list[int] | None
    amplitude: float
    software: np.ndarray | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A configuration as ``stack`` (``hf``, ``vllm``, ``llama.cpp``) ran it.

    ``position`` is ``[tokens]`` or ``[tokens, axes]``, ``vectors`` doubles ``[3, head_dim]`` in the stack's own element
    order: two queries and a key. Of some only the first, or the queries, have a result.
    """

    name: str
    stack: str
    position: np.ndarray
    vectors: np.ndarray
    loads: tuple[Load, ...]

    @property
    def design(self) -> Design:
        """That of the first load: shape and element order are the same for all."""
        return self.loads[0].design


def all_cases() -> Iterator[Case]:
    """Every configuration under every stack that has a result of it."""
    for name in [*CONFIGURATIONS, *RAW]:
        for stack in ("hf", "vllm", "llama.cpp"):
            if f"{stack}/{name}/q_rot_f32" in arrays():
                yield case_of(name, stack)


def cases_of(head_dim: int) -> list[Case]:
    """Those of one head size."""
    return [case for case in all_cases() if case.vectors.shape[1] == head_dim]


@cache
def case_of(name: str, stack: str) -> Case:
    """One of them."""
    vectors = inputs_of(name)
    position = positions_of(name, stack)
    return Case(
        name=name,
        stack=stack,
        position=position,
        vectors=np.resize(vectors, (sum(HEADS), vectors.shape[1])),  # multi-axis models have one vector: three times
        loads=tuple(_loads(name, stack, position)),
    )


def positions_of(name: str, stack: str) -> np.ndarray:
    """``[tokens]``, or ``[tokens, 3]`` of the multi-axis models."""
    if f"hf/{name}/thw" in arrays():
        return arrays()[f"hf/{name}/thw"]
    if stack == "vllm":
        return arrays()[f"vllm/{name}/positions"]
    return POSITIONS[: arrays()[f"{stack}/{name}/q_rot_f32"].shape[1]]


def _loads(name: str, stack: str, position: np.ndarray) -> Iterator[Load]:
    """One per set of frequencies: longrope's lists, and dynamic NTK frozen at each length, have several."""
    parameters, known = parameters_of(name), known_of(name)
    everything = np.arange(len(position))
    limit = known.get("max_position_embeddings", 32768)
    if parameters["rope_type"] == "longrope":
        long = position + 1 > parameters["original_max_position_embeddings"] if stack == "hf" else everything >= 0
        for which in (False, True):
            if (long == which).any():
                variant, key = int(which), f"hf/{name}/inv_freq_{'long_' * which}f32"
                yield _load(name, stack, np.flatnonzero(long == which), key=key, variant=variant, long=which)
    elif parameters["rope_type"] == "dynamic" and stack == "hf":
        length = np.maximum(position + 1, limit)  # vLLM stays at the first
        for one in np.unique(length).tolist():
            key = f"hf/{name}/inv_freq_f32" + (f"_seq{one}" if one > limit else "")
            yield _load(name, stack, np.flatnonzero(length == one), key=key, length=one)
    else:
        yield _load(name, stack, everything, key=f"hf/{'llama2_7b' if name in RAW else name}/inv_freq_f32")


def _load(
    name: str, stack: str, tokens: np.ndarray, *, key: str, variant: int = 0, length: int = 0, long: bool = False
) -> Load:
    parameters, known = parameters_of(name), known_of(name)
    design = _own_design(name, stack, length)
    axis, limit = None, known.get("max_position_embeddings", 32768)
    if "mrope_section" in parameters:
        frequencies = exact_inverse_frequency(parameters["rope_theta"], known["head_dim"])
        axis = exact_axes(parameters["mrope_section"], interleaved="imrope" in name)
    else:
        frequencies = exact_frequencies(
            parameters, known["rotary_dim"], max_position=limit, length=length, long=long,
            whole_pairs=stack == "llama.cpp",
        )  # fmt: skip
    return Load(
        design=design,
        variant=variant,
        tokens=tokens,
        frequencies=frequencies,
        axis=axis,
        amplitude=RAW_AMPLITUDE.get(name) or exact_amplitude(parameters, limit),
        software=arrays().get(key) if stack != "llama.cpp" else None,
    )


def _own_design(name: str, stack: str, length: int) -> Design:
    """The design of the configuration as the stack runs it, made from a configuration file as a user would."""
    known = known_of(name)
    pairing, follow = None, stack
    if stack == "vllm":
        pairing = "half" if known.get("vllm_half", True) else "interleaved"
    elif stack == "llama.cpp":
        pairing = "interleaved" if known["llama_cpp"]["mode"] == "norm" else "half"
        # ggml was given transformers' amplitude; llama.cpp's own loader would take both mscales to be equal here
        follow = "hf" if name == "deepseek_mscale_only" else stack
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config_of(name)))
        geometry = only_rotary(read_model(str(path), sequence_length=length or None, pairing=pairing, follow=follow))
    variants = geometry.variants
    if name in RAW_AMPLITUDE:
        variants = tuple(replace(variant, amplitude=RAW_AMPLITUDE[name], recipe=None) for variant in variants)
    geometry = replace(geometry, query_heads=HEADS[0], key_heads=HEADS[1], variants=variants)
    return Design(geometry=geometry, lanes=LANES, positions=LIMIT, position_axes=AXES)
