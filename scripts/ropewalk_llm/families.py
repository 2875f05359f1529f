"""The models that ``ropewalk llm`` knows how to take apart, by their ``model_type`` in transformers."""

from ropewalk.errors import InputError
from ropewalk.geometry import DESCRIPTIONS, Geometry, scheme_of
from ropewalk.strict_json import show

ROTARY = {
    "Gemma": ("gemma", "gemma2", "gemma3_text"),
    "Llama": ("llama",),
    "Mistral": ("mistral", "ministral", "ministral3", "mixtral"),
    "Qwen": ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe"),
}
"""Families whose attention calls ``apply_rotary_pos_emb(q, k, cos, sin)`` of its own module, on whole heads."""

LEARNED = ("bert",)
"""Encoders that add ``position_embeddings`` to their embeddings."""

ALIBI = ("bloom",)
"""Models that hand a bias to their attention, which adds it to the scores."""


def check_family(model_type: str, geometry: Geometry) -> str:
    """The scheme of a supported model: ``rope``, ``learned`` or ``alibi``.

    Raises
    ------
    InputError
        If it is of a family whose positional encoding this command cannot replace.
    """
    scheme = scheme_of(geometry)
    known = {"rope": sum(ROTARY.values(), ()), "learned": LEARNED, "alibi": ALIBI}.get(scheme, ())
    if model_type in known:
        return scheme
    raise InputError(
        f"model_type {show(model_type)} has {DESCRIPTIONS[scheme]} that llm cannot replace; it supports {supported()}"
    )


def supported() -> str:
    """The families, in words."""
    rotary = "; ".join(f"{name} ({', '.join(types)})" for name, types in ROTARY.items())
    return f"{rotary}; with learned positions: {', '.join(LEARNED)}; with ALiBi: {', '.join(ALIBI)}"
