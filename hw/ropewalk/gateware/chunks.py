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
from .pipeline import delayed


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


class SliceBeats:
    """The pair beats of a head: from ``first`` to before ``behind``. Those from ``middle`` on may be crossed.

    Registers, a clock behind ``order`` and ``split``.
    """

    latency = 1

    def __init__(self, m: Module, design: Design, order, split: Value, *, name: str):
        lane_bits = (design.lanes - 1).bit_length()
        first, count = order.first >> lane_bits, order.pairs >> lane_bits
        self.first, self.middle, self.behind = (
            Signal(word_bits(design) + 1, name=f"{name}_{place}", reset_less=True)
            for place in ("first", "middle", "behind")
        )
        self.crosses = Signal(name=f"{name}_crosses", reset_less=True)
        m.d.sync += [
            self.first.eq(first),
            self.middle.eq(first + (count >> 1)),
            self.behind.eq(first + count),
            self.crosses.eq(split & ~count[0]),
        ]

    def crossed(self, word: Value) -> Value:
        """Whether the chunks of beat ``word`` lie in each other's banks."""
        return self.crosses & (word >= self.middle) & (word < self.behind)


class ChunkMap(Component):
    """The two chunks of a beat that the engine works on, and where the banks have them.

    Latency :attr:`latency` clocks; a beat per clock.

    Parameters
    ----------
    place_bits
        Bits of a place in a bank.

    Members
    -------
    word, order, split, base : In
        The beat's number in its head, the head's order, whether the pair beats are split, and the place of the head's
        first beat.
    inside : Out
        Whether it is a pair beat.
    second_bank : Out
        The bank that the first chunk lies in. The other one lies in the other bank.
    low, high : Out
        The places of the first chunk, whose number is always lower, and of the other one.
    """

    latency = SliceBeats.latency + 3

    def __init__(self, design: Design, *, place_bits: int):
        self._design = design
        super().__init__(
            {
                "word": In(word_bits(design)),
                "order": In(order_layout(design)),
                "split": In(1),
                "base": In(place_bits),
                "inside": Out(1),
                "second_bank": Out(1),
                "low": Out(place_bits),
                "high": Out(place_bits),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        bits = len(self.word)
        word = [delayed(m, self.word, clocks, name=f"word_{clocks}") for clocks in range(3)]
        odd = [delayed(m, self.order.odd, clocks, name=f"odd_{clocks}") for clocks in range(3)]
        base = delayed(m, self.base, 3, name="base")
        split = delayed(m, self.split, 1, name="split")

        # Clock 1: the slice in beats.
        beats = SliceBeats(m, self._design, self.order, self.split, name="slice")
        started = delayed(
            m, self.word >= (self.order.first >> (self._design.lanes - 1).bit_length()), 1, name="started"
        )

        # Clock 2: what kind of beat it is, and the sums.
        kinds = data.StructLayout({"inside": 1, "split": 1, "left_over": 1})
        kind = Signal(kinds, reset_less=True)
        split_low, split_high = (Signal(bits + 1, name=f"split_{place}", reset_less=True) for place in ("low", "high"))
        m.d.sync += [
            kind.inside.eq(started & (word[1] < beats.behind)),
            kind.split.eq(split),
            kind.left_over.eq(odd[1] & (word[1] == beats.behind)),
            # S + p = 2s + odd + j - s
            split_low.eq(word[1] + beats.first + odd[1]),
            split_high.eq(word[1] + beats.behind + odd[1]),
        ]
        first, middle, behind, crosses = (
            delayed(m, getattr(beats, name), clocks, name=name)
            for name, clocks in (("first", 1), ("middle", 2), ("behind", 2), ("crosses", 2))
        )

        # Clock 3: the numbers of its chunks.
        low, high = (Signal(bits + 1, name=place, reset_less=True) for place in ("low", "high"))
        m.d.sync += [low.eq(word[2] << 1), high.eq((word[2] << 1) + 1)]
        with m.If(kind.inside & kind.split):
            m.d.sync += [low.eq(split_low), high.eq(split_high)]
        with m.Elif(kind.inside):
            m.d.sync += [low.eq((word[2] << 1) + odd[2]), high.eq((word[2] << 1) + odd[2] + 1)]
        with m.Elif(kind.left_over):
            m.d.sync += low.eq(first << 1)

        # Clock 4: where they are.
        crossed = crosses & (low >> 1 >= middle) & (low >> 1 < behind)
        second_bank = Signal(reset_less=True)
        low_place, high_place = (Signal(self.low.shape(), name=name, reset_less=True) for name in ("at", "high_at"))
        m.d.sync += [
            second_bank.eq(low[0] ^ crossed),
            low_place.eq(base + (low >> 1)),
            high_place.eq(base + (high >> 1)),
        ]
        m.d.comb += [
            self.inside.eq(delayed(m, kind.inside, 2, name="inside")),
            self.second_bank.eq(second_bank),
            self.low.eq(low_place),
            self.high.eq(high_place),
        ]
        return m


class SliceLanes(Component):
    """Which lanes of a beat hold pairs of the slice.

    Latency :attr:`latency` clocks; a beat per clock.

    Members
    -------
    word, start, end : In
        The beat's number in its head, and the places of the first pair of the slice and of the first one behind it.
    lanes : Out
        A bit per lane.
    """

    latency = 2

    def __init__(self, design: Design):
        self._lanes = design.lanes
        pairs = design.geometry.head_dim // 2
        super().__init__(
            {
                "word": In(word_bits(design)),
                "start": In(range(max(2, pairs))),
                "end": In(range(pairs + 1)),
                "lanes": Out(design.lanes),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        lane_bits = (self._lanes - 1).bit_length()
        start, end = self.start >> lane_bits, self.end >> lane_bits
        first_lane, end_lane = (
            delayed(m, bound[:lane_bits], 1, name=name)
            for name, bound in (("first_lane", self.start), ("end_lane", self.end))
        )
        # The beat against both bounds, by halves of its number: each is few inputs, and so is what joins them.
        low = len(self.word) // 2
        behind_start, at_start = _compared(m, self.word, start, low, name="start")
        behind_end, at_end = _compared(m, self.word, end, low, name="end")
        before_end = ~(behind_end | at_end)
        inside = [
            (behind_start | (at_start & (first_lane <= lane))) & (before_end | (at_end & (end_lane > lane)))
            for lane in range(self._lanes)
        ]
        m.d.comb += self.lanes.eq(delayed(m, Cat(inside), 1, name="inside"))
        return m


def _compared(m: Module, word: Value, bound: Value, low: int, *, name: str) -> tuple[Value, Value]:
    """Whether ``word`` is more than ``bound``, and whether it is that, a clock later: ``low`` bits, and the rest."""
    more, same = [], []
    for part, one, other in (("low", word[:low], bound[:low]), ("high", word[low:], bound[low:])):
        more.append(delayed(m, one > other, 1, name=f"{part}_behind_{name}"))
        same.append(delayed(m, one == other, 1, name=f"{part}_at_{name}"))
    return more[1] | (same[1] & more[0]), same[0] & same[1]


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
