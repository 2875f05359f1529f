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

from dataclasses import dataclass
from typing import Literal

InputPairing = Literal["half", "interleaved", "paired"]
OutputPairing = Literal["half", "interleaved"]


@dataclass(frozen=True, kw_only=True)
class Order:
    """The order of one geometry at one number of lanes, in and out.

    Parameters
    ----------
    first
        Place of the first pair among a head's pairs as the engine works on them: pair i is lane
        ``(first + i) % lanes`` of beat ``(first + i) // lanes``.
    pairs
        Pairs of the slice.
    odd
        Whether the slice starts with the second chunk of a beat, and chunks are moved because of it.
    split_in, split_out
        Whether a pair's elements come, or go, in different chunks.
    input_buffer, output_buffer
        Whether beats have to wait for each other before the rotator, and behind it.
    """

    first: int
    pairs: int
    odd: bool
    split_in: bool
    split_out: bool
    input_buffer: bool
    output_buffer: bool

    @property
    def buffered(self) -> bool:
        """Whether a head passes any buffer, so that the engine works on whole heads only."""
        return self.input_buffer or self.output_buffer

    @property
    def natural(self) -> bool:
        """Whether heads come and go in interleaved order: nothing is moved."""
        return not (self.split_in or self.split_out)


def order_of(
    rotary_start: int, rotary_dim: int, lanes: int, input_pairing: InputPairing, output_pairing: OutputPairing
) -> Order:
    """What the layouts mean for a rotary slice; all counted in elements, ``lanes`` in pairs per clock."""
    start, pairs = rotary_start // 2, rotary_dim // 2
    split_in, split_out = input_pairing != "interleaved", output_pairing == "half"
    natural = not (split_in or split_out)
    odd = not natural and start % lanes != 0
    return Order(
        first=start if natural else start - start % lanes,
        pairs=pairs,
        odd=odd,
        split_in=split_in,
        split_out=split_out,
        input_buffer=input_pairing == "half" or (odd and not split_in),
        output_buffer=split_out or odd,
    )


def order_fits(
    rotary_start: int, rotary_dim: int, lanes: int, input_pairing: InputPairing, output_pairing: OutputPairing
) -> bool:
    """Whether the slice consists of whole chunks where chunks are moved."""
    moved = input_pairing != "interleaved" or output_pairing != "interleaved"
    return not moved or (rotary_start % lanes == 0 and rotary_dim // 2 % lanes == 0)


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
