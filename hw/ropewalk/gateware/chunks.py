"""Where the chunks of a head belong: the table of ``ropewalk.order`` as logic, and the banks that hold chunks.

Two banks hold the chunks of a head, those of beat b at the same address in both. Chunk c lies in bank c mod 2, and in
the other one where its beat is *crossed*: in the second half of a slice whose halves have an even number of chunks.
So the two chunks of any beat, natural or of pairs, lie in different banks, and every beat is one read and one write.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component


def word_bits(design: Design) -> int:
    """Bits of a beat's number in a head."""
    return max(1, (design.beats_per_head - 1).bit_length())


def order_layout(design: Design) -> data.StructLayout:
    """The fields of :class:`ropewalk.order.Order` that logic needs. Heads that are not rotated have 0 pairs."""
    places = design.beats_per_head * design.lanes
    return data.StructLayout(
        {"first": range(max(2, places)), "pairs": range(places + 1), "odd": 1, "split_in": 1, "split_out": 1}
    )


def unmoved(order) -> dict:
    """``order`` for a head that is not rotated: the arrangement on the wires stays, nothing is moved."""
    return {"first": 0, "pairs": 0, "odd": 0, "split_in": order.split_in, "split_out": order.split_out}


def slice_beats(design: Design, order) -> tuple[Value, Value]:
    """The first pair beat of a head, and the number of its pair beats."""
    lane_bits = (design.lanes - 1).bit_length()
    return order.first >> lane_bits, order.pairs >> lane_bits


def crossed(design: Design, order, split: Value, word: Value) -> Value:
    """Whether the chunks of beat ``word`` lie in each other's banks."""
    first, count = slice_beats(design, order)
    half = count >> 1
    return split & ~count[0] & (word >= first + half) & (word < first + count)


class ChunkMap(Component):
    """The two chunks of a beat that the engine works on. No clock.

    Members
    -------
    word, order, split : In
        The beat's number in its head, the head's order, and whether the pair beats are split.
    inside : Out
        Whether it is a pair beat.
    chunks : Out
        The numbers of its chunks, the first always lower.
    banks : Out
        The banks that they lie in, always different ones.
    """

    def __init__(self, design: Design):
        self._design = design
        bits = word_bits(design)
        super().__init__(
            {
                "word": In(bits),
                "order": In(order_layout(design)),
                "split": In(1),
                "inside": Out(1),
                "chunks": Out(data.ArrayLayout(bits + 1, 2)),
                "banks": Out(data.ArrayLayout(1, 2)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, order, word = self._design, self.order, self.word
        first, count = slice_beats(design, order)
        behind = Signal(len(word) + 1)
        m.d.comb += [
            behind.eq(first + count),
            self.inside.eq((word >= first) & (word < behind)),
        ]
        low, high = self.chunks
        with m.If(self.inside & self.split):
            # S + p = 2s + odd + j - s
            m.d.comb += [low.eq(word + first + order.odd), high.eq(word + behind + order.odd)]
        with m.Elif(self.inside):
            m.d.comb += [low.eq((word << 1) + order.odd), high.eq((word << 1) + order.odd + 1)]
        with m.Elif(order.odd & (word == behind)):
            m.d.comb += [low.eq(first << 1), high.eq((word << 1) + 1)]
        with m.Else():
            m.d.comb += [low.eq(word << 1), high.eq((word << 1) + 1)]
        for bank, chunk in zip(self.banks, (low, high), strict=True):
            m.d.comb += bank.eq(chunk[0] ^ crossed(design, order, self.split, chunk[1:]))
        return m


def halves(design: Design, elements) -> tuple[list, list]:
    """The elements of a beat as its first chunk and its second."""
    return [elements[lane] for lane in range(design.lanes)], [
        elements[design.lanes + lane] for lane in range(design.lanes)
    ]


def zipped(first: list, second: list) -> list:
    """The elements of two chunks in turn, as the lanes of the rotator take pairs."""
    return [element for pair in zip(first, second, strict=True) for element in pair]


def arrangement(design: Design, elements, zip_up: Value) -> Value:
    """A beat with the elements of its two chunks in turn if ``zip_up``, else as it is."""
    return Mux(zip_up, Cat(zipped(*halves(design, elements))), Cat(elements[index] for index in range(design.elements)))
