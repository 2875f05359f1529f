"""What the engine knows of each slot besides its steps."""

from amaranth.lib import data

from ..design import AMPLITUDE, POSITION_BITS, Design
from ..tables.steps import amplitude_word
from .layouts import source_bits


def slot_layout(design: Design) -> data.StructLayout:
    """A slot besides its steps.

    ``limit`` is exclusive, so it takes one bit more than a position. ``unit_amplitude`` says that rows at amplitude 1
    can be had: always from the generator, and from a table only where the variant has no other amplitude. ``source``
    is the amplitude word, or the place of the variant's first row in the table.
    """
    return data.StructLayout(
        {"loaded": 1, "limit": POSITION_BITS + 1, "unit_amplitude": 1, "source": source_bits(design)}
    )


def slot_words(design: Design) -> list[int]:
    """One word per loaded slot, in slot order."""
    words = []
    base = 0
    for variant, limit in zip(design.variants, design.limits, strict=True):
        amplitude = amplitude_word(variant.amplitude)
        synth = design.source == "synth"
        words.append(
            slot_layout(design)
            .const(
                {
                    "loaded": 1,
                    "limit": limit,
                    "unit_amplitude": int(synth or amplitude == AMPLITUDE.one),
                    "source": amplitude if synth else base,
                }
            )
            .as_value()
            .value
        )
        base += limit * design.pairs
    return words
