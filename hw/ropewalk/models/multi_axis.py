"""Which axis of a position each pair follows: ``mrope_section`` and the families that have it."""

from collections.abc import Callable

from ..geometry.axes import AXES, section_axes
from ..strict_json import Keys
from .family import Family

MAX_SECTIONS = 8


def pair_axes(
    parameters: Keys, rope_type: str | None, family: Family, pairs: int, note: Callable[[str], None]
) -> tuple[int, ...] | None:
    """The axis of each of ``pairs`` pairs, or ``None`` where positions have one axis.

    The sections are ``mrope_section`` in the rope ``parameters``, else the family's own. Their layout is the family's;
    where it has none, ``mrope_interleaved`` says it. Sections of 0 at the end count for nothing.

    Raises
    ------
    InputError
        If the sections are not whole numbers whose sum is ``pairs``, if there are more than three, or if
        ``rope_type`` is ``mrope`` and there are none.
    """
    interleaved = parameters.flag("mrope_interleaved")
    listed = parameters.items("mrope_section", MAX_SECTIONS)
    if listed is None:
        if family.axes is None or family.sections is None:
            if rope_type == "mrope" or interleaved is not None:
                raise parameters.error("mrope_section", "a list of the number of pairs of each axis")
            return None
        listed = list(family.sections)
    for item in listed:
        if isinstance(item, bool) or not isinstance(item, int) or item < 0:
            raise parameters.error("mrope_section", "a list of whole numbers")
    while listed and listed[-1] == 0:
        listed = listed[:-1]
    if len(listed) > AXES:
        raise parameters.refuse(f"{parameters.name('mrope_section')} has {len(listed)} axes; Ropewalk has up to {AXES}")
    if sum(listed) != pairs:
        raise parameters.refuse(
            f"{parameters.name('mrope_section')} must add up to {pairs} (rotary_dim / 2), not {sum(listed)}"
        )
    layout = family.axes or ("interleaved" if interleaved else "contiguous")
    if layout == "height-width" and len(listed) != AXES:
        raise parameters.error("mrope_section", f"a list of {AXES} in this family")
    if interleaved is not None and interleaved != (layout == "interleaved"):
        note(f"{parameters.name('mrope_interleaved')} is ignored: this family's sections are {layout}")
    return section_axes(listed, layout)
