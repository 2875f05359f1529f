"""The loader of slots: takes the words of a load one by one, checks them, and refuses what does not fit.

It looks at a word in steps, over some clocks, so words must not follow each other too fast: the register port keeps
them apart (:class:`~ropewalk.gateware.register_port.RegisterPort`).
"""

from itertools import pairwise

from amaranth.hdl import C, Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..design import POSITION_BITS, Design
from .compare import below
from .component import Component
from .slots import layout_fits, pair_bits, slot_layout

NOTHING, BUSY, NO_SLOT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(6)
"""Why a begin or a commit was refused."""

CLOCKS_BETWEEN = 6
"""Clocks, at least, from one write to the next."""

LOADER_MEMBERS: dict[str, wiring.Member] = {
    "begin": In(1),
    "begin_slot": In(8),
    "word_valid": In(1),
    "word": In(32),
    "commit": In(1),
    "refusal": Out(1),
    "refused": Out(3),
    "loading": Out(1),
    "words": Out(16),
}


class SlotLoader(Component):
    """Takes a load into the spare place.

    Members
    -------
    begin, begin_slot, word_valid, word, commit : In
        What the host writes, :data:`CLOCKS_BETWEEN` clocks apart or more. ``begin_slot`` and ``word`` hold still from
        two clocks before to two clocks after ``begin`` and ``word_valid``.
    refusal, refused : Out
        In the clock of a write: it is refused. Why the last one was.
    loading, words : Out
        A load is under way, with so many words.
    busy : In
        No load may begin.
    accepted : Out
        The words of the load become the content of its slot in this clock.
    header : Out
        The header of the load.
    entry_write, pair, entry_data : Out
        Writes the step of a pair.
    """

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                **LOADER_MEMBERS,
                "busy": In(1),
                "accepted": Out(1),
                "header": Out(slot_layout(design)),
                "entry_write": Out(1),
                "pair": Out(pair_bits(design)),
                "entry_data": Out(64),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        most = design.geometry.head_dim // 2
        word = self.word
        header = Signal(slot_layout(design), reset_less=True)
        low = Signal(32, reset_less=True)
        m.d.comb += [self.header.eq(header), self.entry_data.eq(Cat(low, word))]

        # A word is taken in the clock after it came. Which one comes next, a bit each.
        take = Signal()
        m.d.sync += take.eq(self.word_valid & self.loading)
        at = Signal(6, reset_less=True)
        bad = Signal(reset_less=True)
        faults = self._faults(m, header, low)
        start, layout, limit, amplitude, low_half, high_half = (take & one for one in at)
        with m.If(take):
            m.d.sync += [
                at.eq(Cat(C(0, 1), at[:3], at[3] | at[5], at[4])),
                bad.eq(bad | (at & faults).any()),
            ]
        with m.If(start):
            m.d.sync += [header.start.eq(word), header.pairs.eq(word[16:])]
        with m.If(layout):
            m.d.sync += header.layout.eq(word)
        with m.If(limit):
            m.d.sync += header.limit.eq(word)
        with m.If(amplitude):
            m.d.sync += header.amplitude.eq(word)
        with m.If(low_half):
            m.d.sync += low.eq(word)
        # Words beyond those that a head can have are counted and not written: commit refuses them.
        pair = Signal(len(self.pair), reset_less=True)
        past = Signal(reset_less=True)
        m.d.comb += [self.entry_write.eq(high_half & ~past), self.pair.eq(pair)]
        with m.If(high_half):
            m.d.sync += [pair.eq(pair + 1), past.eq(past | (pair == most - 1))]

        # Four words and two for each pair, so half of them is two more than the pairs. It is at least that before the
        # first word, too, so that no load without words is complete.
        words = Signal(16, reset_less=True)
        half = Signal(17, init=2, reset_less=True)
        full, equal, acceptable = Signal(reset_less=True), Signal(2, reset_less=True), Signal()
        complete = equal.all()
        expected = half << 1
        m.d.sync += [
            full.eq(words.all()),
            equal.eq(Cat(words[:8] == expected[:8], words[8:] == expected[8:])),
            acceptable.eq(self.loading & complete & ~bad),
        ]
        m.d.comb += self.words.eq(words)
        with m.If(take & ~full):
            m.d.sync += words.eq(words + 1)
        with m.If(start):
            m.d.sync += half.eq(word[16:] + 2)

        exists, possible, restart = Signal(reset_less=True), Signal(), Signal(init=1)
        m.d.sync += [
            exists.eq(below(self.begin_slot, design.slots)),
            possible.eq(exists & ~self.busy),
            restart.eq(self.begin),
        ]
        m.d.comb += [
            self.accepted.eq(self.commit & acceptable),
            self.refusal.eq((self.begin & ~possible) | (self.word_valid & ~self.loading) | (self.commit & ~acceptable)),
        ]
        with m.If(restart):
            m.d.sync += [words.eq(0), pair.eq(0), at.eq(1), bad.eq(0), past.eq(0)]
        with m.If(self.begin):
            m.d.sync += self.loading.eq(possible)
            with m.If(~exists):
                m.d.sync += self.refused.eq(NO_SLOT)
            with m.Elif(~possible):
                m.d.sync += self.refused.eq(BUSY)
            with m.Else():
                m.d.sync += self.refused.eq(NOTHING)
        with m.If((self.word_valid | self.commit) & ~self.loading):
            m.d.sync += self.refused.eq(NOT_BEGUN)
        with m.If(self.commit):
            m.d.sync += self.loading.eq(0)
            with m.If(self.loading & ~complete):
                m.d.sync += self.refused.eq(WRONG_COUNT)
            with m.Elif(self.loading & bad):
                m.d.sync += self.refused.eq(OUT_OF_RANGE)
        return m

    def _faults(self, m: Module, header, low: Signal) -> Signal:
        """For each kind of word whether ``word`` is out of its range, two clocks after it came."""
        design = self._design
        word = self.word
        most = design.geometry.head_dim // 2
        bits = most.bit_length()
        amplitude_bits = len(header.amplitude)

        def register(value: Value, name: str) -> Signal:
            one = Signal(value.shape(), name=name, reset_less=True)
            m.d.sync += one.eq(value)
            return one

        # In the first clock, which parts of the word are not 0.
        cuts = {*range(0, 33, 8), 2, bits, 16 + bits, 30, amplitude_bits, POSITION_BITS, POSITION_BITS + 1}
        cuts |= {max(design.phase_bits - 32, 0)}
        parts = {part: register(word[slice(*part)].any(), f"part_{part[0]}") for part in pairwise(sorted(cuts))}

        def some(start: int, end: int) -> Value:
            return Cat(one for (first, last), one in parts.items() if start <= first and last <= end).any()

        end = register(word[:bits] + word[16 : 16 + bits], "end")
        misfit = register(~layout_fits(design, word[:2], header.start, header.pairs), "misfit")
        no_axis = register(~below(word[30:], design.axes), "no_axis")
        long_step = register(low[min(design.phase_bits, 32) :].any(), "long_step")
        return register(
            Cat(
                ~some(16, 16 + bits) | some(bits, 16) | some(16 + bits, 32) | ~below(end, most + 1),
                misfit | some(2, 32),
                some(POSITION_BITS + 1, 32) | (word[POSITION_BITS] == some(0, POSITION_BITS)),
                ~some(0, amplitude_bits) | some(amplitude_bits, 32),
                C(0, 1),
                no_axis | long_step | some(max(design.phase_bits - 32, 0), 30),
            ),
            "faults",
        )
