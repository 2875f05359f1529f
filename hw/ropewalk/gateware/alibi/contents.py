"""What the memory of an ALiBi unit holds at the start. The one source for gateware and emitted files."""

from ...designs.alibi import AlibiDesign
from ..contents import RomContents


def slope_contents(design: AlibiDesign) -> RomContents:
    """The slope table: bank 0 holds the model's slopes, bank 1 nothing."""
    return RomContents(design.slope_bits, 2 * design.capacity, list(design.slope_words), "ram")


def alibi_contents(design: AlibiDesign) -> dict[str, RomContents]:
    """Every memory with words at the start, by its name."""
    return {"slopes": slope_contents(design)}
