"""What two rotary designs do differently, as far as the geometry digest covers it."""

from typing import Any

from ..design import Design
from ..geometry.rotary import Variant
from ..tables.steps import amplitude_word, step_words
from .difference import Difference, plain
from .steps import compare_steps

SHAPE_TEXTS = {
    "head_dim": "head_dim",
    "rotary_dim": "rotary_dim",
    "rotary_start": "rotary_start",
    "pairing": "the pairing",
    "output_pairing": "the order of the result (output_pairing)",
}
"""What of a shape the digest covers, and what it is called in a sentence."""


def compare_rotary(a: Design, b: Design) -> list[Difference]:
    """The differences of two designs; none if and only if their digests are equal."""
    differences = plain("phase_bits", a.phase_bits, b.phase_bits, "the number of phase bits")
    differences += plain("angle_model", a.angle_model, b.angle_model, "the angle model")
    slots, unmatched = _matched(a, b)
    differences += unmatched
    shapes = [_shapes(a, b, one, other) for one, other, _ in slots]
    if shapes and all(_same(found, shapes[0]) for found in shapes):
        differences += shapes[0]  # all variants differ alike: say it once
        shapes = [[] for _ in slots]
    several = max(len(a.variants), len(b.variants)) > 1
    for (one, other, name), found in zip(slots, shapes, strict=True):
        label = name if several else None
        differences += [_labelled(difference, label) for difference in found]
        differences += _variants(a, b, one, other, label)
    return differences


def remarks_rotary(a: Design, b: Design) -> list[str]:
    """What differs and is not part of the geometry, in sentences."""
    said = plain("model_type", a.geometry.model_type, b.geometry.model_type, "the model type")
    for key, text in (("query_heads", "the number of query heads"), ("key_heads", "the number of key heads")):
        counts = [[getattr(shape, key) for shape in design.shapes] for design in (a, b)]
        if len(counts[0]) == len(counts[1]) and any(len(set(each)) > 1 for each in counts):
            one, other = (", ".join(map(str, each)) for each in counts)
            said += plain(key, one, other, f"{text} of each slot")
        else:
            said += plain(key, counts[0][0], counts[1][0], text)
    if a.geometry.layers is not None and b.geometry.layers is not None:
        said += plain("layers", len(a.geometry.layers), len(b.geometry.layers), "the number of layers")
        if not said or said[-1].what != "layers":
            said += _layers(a, b)
    names = [[variant.name for variant in design.variants] for design in (a, b)]
    if len(names[0]) == len(names[1]) and set(names[0]) != set(names[1]):
        said += plain("names", ", ".join(names[0]), ", ".join(names[1]), "the list of the variants' names")
    said += plain("attention_scale", a.geometry.attention_scale, b.geometry.attention_scale, "attention_scale")
    return [difference.sentence for difference in said]


def _layers(a: Design, b: Design) -> list[Difference]:
    """The first layer that another variant rotates."""
    layers = zip(a.geometry.layers or (), b.geometry.layers or (), strict=True)
    names = {variant.name for variant in a.variants} == {variant.name for variant in b.variants}
    for layer, (one, other) in enumerate(layers):
        if (one is None) != (other is None) or (names and one != other):
            return plain("layers", one or "none", other or "none", f"the variant of layer {layer}")
    return []


def _matched(a: Design, b: Design) -> tuple[list[tuple[int, int, str]], list[Difference]]:
    """The slots to compare, A's and B's, with a name; and what differs in their number or order.

    Variants are matched by name where the sides have the same names, or one has more and they share some; else by slot.
    """
    names = [[variant.name for variant in design.variants] for design in (a, b)]
    common = [name for name in names[0] if name in names[1]]
    differences: list[Difference] = []
    if common and (len(names[0]) != len(names[1]) or set(names[0]) == set(names[1])):
        for side, mine, others in (("A", *names), ("B", *names[::-1])):
            for name in mine:
                if name not in others:
                    there, missing = (name, None) if side == "A" else (None, name)
                    sentence = f"variant {name} is in {side} only (in its slot {mine.index(name)})"
                    differences.append(Difference("variants", there, missing, sentence, name))
        slots = [(names[0].index(name), names[1].index(name), name) for name in common]
        moved = [(one, other, name) for one, other, name in slots if one != other]
        if moved:
            one, other, name = moved[0]
            differences += plain("slot", one, other, "its slot", name)
        return slots, differences
    slots = [(slot, slot, _both(*pair)) for slot, pair in enumerate(zip(*names, strict=False))]
    if len(names[0]) != len(names[1]):
        differences += plain("variants", len(names[0]), len(names[1]), "the number of variants")
    return slots, differences


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a} (in B {b})"


def _shapes(a: Design, b: Design, slot_a: int, slot_b: int) -> list[Difference]:
    shape_a, shape_b = a.geometry.of(slot_a), b.geometry.of(slot_b)
    found: list[Difference] = []
    for key, text in SHAPE_TEXTS.items():
        one, other = getattr(shape_a, key), getattr(shape_b, key)
        found += plain(key, one, other, text)
    return found


def _same(one: list[Difference], other: list[Difference]) -> bool:
    return [(each.what, each.a, each.b) for each in one] == [(each.what, each.a, each.b) for each in other]


def _labelled(difference: Difference, variant: str | None) -> Difference:
    if variant is None:
        return difference
    return plain(difference.what, difference.a, difference.b, SHAPE_TEXTS[difference.what], variant)[0]


def _variants(a: Design, b: Design, slot_a: int, slot_b: int, name: str | None) -> list[Difference]:
    one, other = a.variants[slot_a], b.variants[slot_b]
    limits = a.limits[slot_a], b.limits[slot_b]
    differences = plain("max_position", *limits, "the number of positions", name)
    amplitudes = amplitude_word(one.amplitude), amplitude_word(other.amplitude)
    if amplitudes[0] != amplitudes[1]:
        differences += plain("amplitude", one.amplitude, other.amplitude, "the amplitude", name) or plain(
            "amplitude", *amplitudes, "the amplitude word", name
        )
    axes = _axes(one), _axes(other)
    if axes[0] != axes[1]:
        pair = next(
            (pair for pair, (left, right) in enumerate(zip(*axes, strict=False)) if left != right), min(map(len, axes))
        )
        if pair < min(map(len, axes)):
            text = f"pair {pair} is the first that follows another axis of the position: it"
            for difference in plain("axis", axes[0][pair], axes[1][pair], text, name):
                differences.append(
                    Difference("axis", difference.a, difference.b, difference.sentence, name, {"first_pair": pair})
                )
    differences += compare_steps(
        step_words(one.inverse_frequency, a.phase_bits),
        step_words(other.inverse_frequency, b.phase_bits),
        (a.phase_bits, b.phase_bits),
        min(limits),
        (one.inverse_frequency, other.inverse_frequency),
        name,
    )
    if a.angle_model == b.angle_model != "exact":
        differences += _software(a, one, other, name)
    return differences


def _axes(variant: Variant) -> tuple[int, ...]:
    return variant.axis if variant.axis is not None else (0,) * len(variant.inverse_frequency)


def _software(a: Design, one: Variant, other: Variant, name: str | None) -> list[Difference]:
    """Whether the software that both sides follow starts from different numbers."""
    # here, because it takes numpy, which no other comparison needs
    from ..tables.angle_models import software_words

    model: Any = a.angle_model
    words = software_words(one, model), software_words(other, model)
    if words[0] == words[1]:
        return []
    place = next((place for place, (left, right) in enumerate(zip(*words, strict=False)) if left != right), -1)
    begin = f"variant {name}: " if name is not None else ""
    sentence = f"{begin}the float32 values that {model} angles are made of differ (word {place} of them is the first)"
    return [Difference("software", words[0][place], words[1][place], sentence, name)]
