"""Positions with several axes in a GGUF file: which pairs follow which."""

from ..geometry.axes import section_axes
from ..geometry.rotary import MAX_HEAD_DIM
from .gguf_model import Model


def read_sections(model: Model) -> list[int] | None:
    """``rope.dimension_sections`` where they share the pairs between axes."""
    keys = model.keys
    key = "rope.dimension_sections"
    listed = keys.get(key)
    if listed is None:
        if model.architecture.axes == "interleaved" or model.name in ("qwen2vl", "paddleocr"):
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
    if model.architecture.axes is None:
        raise keys.refuse(f"{keys.name(key)} asks for positions with several axes, which {model.name} does not have")
    if any(listed[3:]) or not listed[0] or not listed[1]:
        raise keys.error(key, "two or three axes, the first two above 0")
    return (listed + [0])[:3]


def pair_axes(model: Model, sections: list[int], pairs: int) -> tuple[int, ...]:
    """The axis of each pair: 0 (time), 1 (height) or 2 (width)."""
    if sum(sections) != pairs:
        raise model.keys.error("rope.dimension_sections", f"a list that sums to the {pairs} pairs (rotary_dim / 2)")
    return section_axes(sections, model.architecture.axes or "contiguous")


def still_pairs(model: Model, sections: list[int] | None, pairs: int) -> frozenset[int]:
    """The pairs of interleaved axes that no section reaches, and that the followed software gives to a fourth axis.

    Hugging Face gives them to the first one. In llama.cpp (``ggml_mrope_cache_init``) they follow the fourth position,
    which is 0 for texts and for these families' images, so that the pairs stand still.
    """
    if sections is None or model.architecture.axes != "interleaved":
        return frozenset()
    found = frozenset(pair for pair in range(pairs) if pair // 3 >= sections[pair % 3])
    if found:
        names = ", ".join(map(str, sorted(found)[:6])) + (", ..." if len(found) > 6 else "")
        model.note(
            f"the pairs {names} are of no section: Hugging Face turns them with the first axis, llama.cpp not at all"
        )
    return found if model.follow == "llama.cpp" else frozenset()
