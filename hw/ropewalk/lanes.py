"""How many lanes an engine can have: a matter of head_dim, and of the slices where elements are moved."""

from math import gcd

from .geometry.rotary import RotaryGeometry
from .order import StreamPairing, order_fits, own_pairing, slot_pairings

MAX_HEAD_DIM = 4096
"""Elements of a head that an engine is made for. Published models stay at or below 512."""


def own_pairings(
    geometry: RotaryGeometry, input_pairing: StreamPairing | None = None, output_pairing: StreamPairing | None = None
) -> tuple[StreamPairing, StreamPairing]:
    """The orders on the two sides of an engine, with the model's own where ``None`` is given."""
    shapes = [geometry.of(slot) for slot in range(len(geometry.variants))]
    return (
        input_pairing or own_pairing(shape.pairing for shape in shapes),
        output_pairing or own_pairing(shape.output_pairing for shape in shapes),
    )


def fitting_lanes(
    geometry: RotaryGeometry, input_pairing: StreamPairing | None = None, output_pairing: StreamPairing | None = None
) -> tuple[int, ...]:
    """The powers of two that can be the lanes of an engine for ``geometry``, in rising order."""
    pairings = own_pairings(geometry, input_pairing, output_pairing)
    shapes = [geometry.of(slot) for slot in range(len(geometry.variants))]
    return tuple(
        1 << bit
        for bit in range(MAX_HEAD_DIM.bit_length() - 1)
        if all(shape.head_dim % (2 << bit) == 0 and order_fits(shape, 1 << bit, *pairings) for shape in shapes)
    )


def lanes_rule(geometry: RotaryGeometry, input_pairing: StreamPairing, output_pairing: StreamPairing) -> str:
    """What lanes must fit, in words."""
    rule = f"head_dim {geometry.head_dim}: 2 x lanes must divide it"
    shapes = [(geometry.of(slot), variant) for slot, variant in enumerate(geometry.variants)]
    # The slice that fewest lanes fit comes first.
    for shape, variant in sorted(shapes, key=lambda pair: gcd(pair[0].pairs, pair[0].rotary_start, MAX_HEAD_DIM)):
        moved = [pairing for pairing in slot_pairings(shape, input_pairing, output_pairing) if pairing != "interleaved"]
        if moved:
            of = f" of variant {variant.name}" if len(geometry.variants) > 1 else ""
            return (
                f"{rule}, and for {moved[0]} order lanes must divide rotary_dim / 2 = {shape.pairs} and "
                f"rotary_start = {shape.rotary_start}{of}"
            )
    return rule


def default_lanes(
    geometry: RotaryGeometry, input_pairing: StreamPairing | None = None, output_pairing: StreamPairing | None = None
) -> int:
    """The largest of 4, 2 and 1 lanes that fits."""
    fitting = fitting_lanes(geometry, input_pairing, output_pairing)
    return max((lanes for lanes in fitting if lanes <= 4), default=1)
