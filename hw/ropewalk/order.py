"""The order of a head's elements on the streams: which layouts there are, and what the gateware must know of them.

A *chunk* is as many elements as the engine has lanes; beat b of a head carries chunks 2b and 2b + 1. In half pairing
the rotary slice is r chunks of first elements and then r chunks of second ones, from chunk S on. The engine works on
*pair beats*, which hold a chunk of first elements and the chunk of their partners. Pair beats take the places of the
slice's own beats, so the elements outside it stay in theirs; if S is odd, the slice takes half a beat too much at
either end, and the two chunks left over, S - 1 and S + 2r, share the beat after the last pair beat.

    beat j of a head, s = S // 2, p = j - s          first chunk        second chunk
    0 <= p < r, split (half)                         S + p              S + r + p
    0 <= p < r, otherwise (interleaved)              S + 2p             S + 2p + 1
    p = r, S odd                                     S - 1              S + 2r
    else                                             2j                 2j + 1

That is also the order in which ``paired`` input comes, whose pair beats are split.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .geometry.shape import Pairing, Shape

StreamPairing = Literal["half", "interleaved", "paired", "both"]
"""The order on one side of an engine; ``both``: each slot says whether its heads are in half or interleaved order."""

SlotPairing = Literal["half", "interleaved", "paired"]
"""The order of the heads of one slot on one side."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """The order of the heads of one slot at one number of lanes, in and out.

    Parameters
    ----------
    first
        Place of the first pair among a head's pairs as the engine works on them: pair i is lane
        ``(first + i) % lanes`` of beat ``(first + i) // lanes``.
    pairs
        Pairs of the slice.
    odd
        Whether the slice starts with the second chunk of a beat, and chunks are moved because of it.
    input_pairing, output_pairing
        The orders on the two sides.
    """

    first: int
    pairs: int
    odd: bool
    input_pairing: SlotPairing
    output_pairing: SlotPairing

    @property
    def split_in(self) -> bool:
        """Whether a pair's elements come in different chunks."""
        return self.input_pairing != "interleaved"

    @property
    def split_out(self) -> bool:
        """Whether a pair's elements go in different chunks."""
        return self.output_pairing != "interleaved"

    @property
    def natural(self) -> bool:
        """Whether heads come and go in interleaved order: nothing is moved."""
        return not (self.split_in or self.split_out)

    @property
    def input_buffer(self) -> bool:
        """Whether beats have to wait for each other before the rotator."""
        return self.input_pairing == "half" or (self.odd and not self.split_in)

    @property
    def output_buffer(self) -> bool:
        """Whether beats have to wait for each other behind the rotator."""
        return self.output_pairing == "half" or (self.odd and not self.split_out)


def slot_pairings(shape: Shape, input_pairing: StreamPairing, output_pairing: StreamPairing) -> list[SlotPairing]:
    """The orders of a slot's heads, in and out: the engine's, or the model's own where the engine has both."""
    return [
        shape.pairing if input_pairing == "both" else input_pairing,
        shape.output_pairing if output_pairing == "both" else output_pairing,
    ]


def order_of(shape: Shape, lanes: int, input_pairing: StreamPairing, output_pairing: StreamPairing) -> Order:
    """What the orders on the streams mean for the slice of ``shape``."""
    start = shape.rotary_start // 2
    coming, going = slot_pairings(shape, input_pairing, output_pairing)
    natural = coming == going == "interleaved"
    odd = not natural and start % lanes != 0
    return Order(
        first=start if natural else start - start % lanes,
        pairs=shape.rotary_dim // 2,
        odd=odd,
        input_pairing=coming,
        output_pairing=going,
    )


def order_fits(shape: Shape, lanes: int, input_pairing: StreamPairing, output_pairing: StreamPairing) -> bool:
    """Whether the slice consists of whole chunks where chunks are moved."""
    moved = set(slot_pairings(shape, input_pairing, output_pairing)) != {"interleaved"}
    return not moved or (shape.rotary_start % lanes == 0 and shape.rotary_dim // 2 % lanes == 0)


def own_pairing(pairings: Iterable[Pairing]) -> StreamPairing:
    """The order on one side of an engine whose slots have these orders."""
    found = set(pairings)
    return found.pop() if len(found) == 1 else "both"


def working_chunks(order: Order, lanes: int, beats: int, *, split: bool) -> list[tuple[int, int]]:
    """The two chunks of each beat of a head that the engine works on, the table at the top written out."""
    first, count = order.first // lanes, order.pairs // lanes
    start = 2 * first + order.odd
    chunks = []
    for beat in range(beats):
        pair = beat - first
        if 0 <= pair < count:
            chunks.append((start + pair, start + count + pair) if split else (start + 2 * pair, start + 2 * pair + 1))
        elif pair == count and order.odd:
            chunks.append((start - 1, start + 2 * count))
        else:
            chunks.append((2 * beat, 2 * beat + 1))
    return chunks
