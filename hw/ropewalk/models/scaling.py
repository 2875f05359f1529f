"""The kinds of rotary frequencies (``rope_type``) and how each is read.

Adding one is a function and a row in :data:`ROPE_TYPES`.
"""

from collections.abc import Mapping

from ..strict_json import Keys, show
from .longrope import LONGROPE_KEYS, longrope
from .rope_types import FACTOR_LIMIT, Follow, Request, RopeType, Scaled
from .stretched import DYNAMIC_KEYS, LLAMA3_KEYS, default, dynamic, fixed_ntk, linear, llama3, proportional
from .yarn import YARN_KEYS, yarn

__all__ = ["FACTOR_LIMIT", "ROPE_TYPES", "Follow", "Request", "RopeType", "Scaled", "make_variants"]

GENERAL_KEYS = frozenset(["rope_type", "type", "rope_theta", "partial_rotary_factor"])
"""Keys of every rope type."""

HARMLESS_KEYS = frozenset(
    ["finetuned", "llama_4_scaling_beta", "max_position_embeddings", "original_max_position_embeddings"]
)
"""Keys that do not change the rotation of a type that does not have them.

(The second is a gain on queries, reported as ``attention_scale``.)
"""

MULTI_AXIS_KEYS = frozenset(["mrope_interleaved", "mrope_section"])
"""Keys that say which pair follows which axis, beside any rope type (:mod:`ropewalk.models.multi_axis`)."""

ROPE_TYPES: Mapping[str, RopeType] = {
    "default": RopeType(default),
    "dynamic": RopeType(dynamic, DYNAMIC_KEYS),
    "linear": RopeType(linear, frozenset(["factor"])),
    "llama3": RopeType(llama3, LLAMA3_KEYS),
    "longrope": RopeType(longrope, LONGROPE_KEYS),
    "ntk": RopeType(fixed_ntk, frozenset(["factor", "mixed_b"])),
    "proportional": RopeType(proportional, frozenset(["factor"])),
    "yarn": RopeType(yarn, YARN_KEYS),
}

OTHER_NAMES: Mapping[str, str] = {"deepseek_yarn": "yarn", "mrope": "default", "su": "longrope"}
"""Older names, and vLLM's."""

REFUSED: Mapping[str, str] = {
    "axial": "is for vision towers, whose rows and columns turn separately; Ropewalk covers language models",
    "xdrope": "has positions of four axes; Ropewalk has up to three",
}


def make_variants(keys: Keys, rope_type: str, request: Request) -> list[Scaled]:
    """The frequencies that the rope parameters ``keys`` mean.

    Raises
    ------
    InputError
        If the type is unknown, or if a key is unknown to it or has a wrong value.
    """
    if rope_type in REFUSED:
        raise keys.refuse(f"the rope type {rope_type!r} {REFUSED[rope_type]}")
    if rope_type not in ROPE_TYPES:
        raise keys.refuse(f"the rope type {show(rope_type)} is unknown; known are {', '.join(sorted(ROPE_TYPES))}")
    kind = ROPE_TYPES[rope_type]
    for key in sorted(keys):
        if key not in kind.keys | GENERAL_KEYS | HARMLESS_KEYS | MULTI_AXIS_KEYS:
            hint = "" if "rope_type" in keys or "type" in keys else " (no rope_type is given, which means default)"
            raise keys.refuse(f"{keys.name(key)} is not a key of the rope type {rope_type!r}{hint}")
    return kind.make(keys, request)
