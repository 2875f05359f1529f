"""``--only`` and ``--variant``: which variants of which models an engine holds, and what a user must know of them."""

from ropewalk.design import Design
from ropewalk.design_checks import check_head_sizes
from ropewalk.errors import InputError
from ropewalk.gateware.register_map import register_map
from ropewalk.geometry import only_rotary
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk.geometry.several import with_variants
from ropewalk.strict_json import NAME, show

from .console import note
from .model_options import read


def select_variants(
    found: RotaryGeometry,
    *,
    sequence_length: int | None,
    follow: str,
    verbose: bool,
    only: str | None,
    added: tuple[str, ...],
) -> RotaryGeometry:
    """``found``, its variant ``only`` where that is given, with the variants that are ``added``.

    ``added`` are as on the command line, NAME=MODEL. What is to be said of the others is said with their names.

    Raises
    ------
    InputError
        If a model cannot be read or is not a rotary one, a name is bad, unknown or taken, or head sizes differ.
    """
    others = [split(text) for text in added]
    if only is not None:
        found = found.only(only)
    if others:
        check_head_sizes(found)
    for name, source in others:
        option = f"--variant {name}={source}"
        other = read(source, sequence_length, None, follow, verbose, f"{name}: ")
        try:
            found = with_variants(found, name, only_rotary(other))
        except InputError as refusal:
            raise InputError(f"{option}: {refusal}") from None
        if isinstance(other, RotaryGeometry) and other.attention_scale is not None:
            note(f"{name}: attention_scale {other.attention_scale} (the engine does not apply it)")
    return found


def split(text: str) -> tuple[str, str]:
    """NAME and MODEL of ``NAME=MODEL``."""
    name, separator, model = text.partition("=")
    if not separator or not model or not NAME.fullmatch(name):
        raise InputError(
            f"--variant must be NAME=MODEL, such as long=llama-3.1-8b, with a NAME of at most 64 letters, digits and "
            f"_ . -, not {show(text)}"
        )
    return name, model


def heads_note(design: Design) -> str | None:
    """What to write to which registers before tokens of variants with other head counts; None where there are none."""
    slots = design.slots_of_other_heads
    if not slots:
        return None
    registers = register_map()
    names = " and ".join(f"{name} (0x{registers[name].address:03x})" for name in ("query_heads", "key_heads"))
    counts = ", ".join(
        f"{design.shapes[slot].query_heads} and {design.shapes[slot].key_heads} before tokens of "
        f"{design.variants[slot].name} (slot {slot})"
        for slot in slots
    )
    return (
        f"after reset the registers {names} hold the head counts of {design.variants[0].name} (slot 0), "
        f"{design.heads[0]} and {design.heads[1]}; write {counts}."
    )
