"""What the memories of a sinusoidal adder hold at the start, by their names."""

from ...designs.sinusoidal import SinusoidalDesign
from ...tables.sinusoidal_words import slot_steps
from ..contents import RomContents, sine_contents

STEP_BITS = 48
PLACES = 2
"""Places for a slot's steps: the one in use and the one that is loaded."""


def group_bits(design: SinusoidalDesign) -> int:
    """Bits of a group's number: a group is the pairs that all generators make in one clock."""
    return max(1, (design.groups - 1).bit_length())


def step_contents(design: SinusoidalDesign, generator: int) -> RomContents:
    """The steps of one generator: of the pairs whose number is ``generator`` modulo the generators; place 0 first."""
    words = list(slot_steps(design)[generator :: design.generators])
    return RomContents(STEP_BITS, PLACES << group_bits(design), words, "ram")


def rom_contents(design: SinusoidalDesign) -> dict[str, RomContents]:
    """Every memory of the unit that has words at the start."""
    steps = {steps_name(generator): step_contents(design, generator) for generator in range(design.generators)}
    return {**steps, "sine": sine_contents(design.sine)}


def steps_name(generator: int) -> str:
    """The name of a generator's step memory."""
    return f"steps_{generator}"
