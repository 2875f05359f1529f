"""Groups of items become words: what the generators make in a clock is a part of what a beat needs.

A row of ``count`` items comes in groups of ``group`` (the last one may be short); they are laid into words of ``size``
items, the first at place ``start`` of the row's first word. Places that no item of the row falls on hold anything.
"""

from amaranth.hdl import Module, Mux, Shape, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..component import Component


class Assembler(Component):
    """Lays groups into words. Latency 1 clock from a word's last group; a group per clock, at most one word per group.

    Two words would end in one clock if a row's last group ran over the end of one word into another. It does not for
    the starts that the unit has: ``start`` is 0, or ``count`` modulo ``size`` where ``size`` is ``2 * k * group``.
    :func:`words_of_groups` proves it for each design.

    Members
    -------
    items, valid, last : In
        A group; whether there is one; whether it is the last of its row.
    word, done : Out
        A word; whether there is one.
    """

    def __init__(self, shape: Shape, *, size: int, group: int, start: int, count: int, words: int):
        self._size, self._group, self._start = size, group, start
        self._drop_last = words < sum(words_of_groups(size=size, group=group, start=start, count=count))
        super().__init__(
            {
                "items": In(data.ArrayLayout(shape, group)),
                "valid": In(1),
                "last": In(1),
                "word": Out(data.ArrayLayout(shape, size)),
                "done": Out(1),
            }
        )
        self._shape = shape

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        size, group = self._size, self._group
        phases = size // group
        # The part of a word that a group falls into, and how many places past that part's start it stands.
        first, shift = self._start // group, self._start % group
        phase = Signal(range(max(2, phases)), init=first)
        with m.If(self.valid):
            m.d.sync += phase.eq(Mux(self.last, first, Mux(phase == phases - 1, 0, phase + 1)))

        # Groups that are shifted run over the end of a word: they end it, and begin the next.
        ends = Signal()
        m.d.comb += ends.eq(phase == phases - 1)
        done = ends | self.last
        if self._drop_last:
            # The row's last word would hold nothing that is wanted; only the last group can make it.
            done = ends
        m.d.sync += self.done.eq(self.valid & done)
        word = Signal(self.word.shape(), reset_less=True)
        m.d.comb += self.word.eq(word)

        # Each place is filled by one of the generators, in one of the phases.
        for place in range(size):
            generator = (place - shift) % group
            at = ((place - shift) // group) % phases
            held = Signal(self._shape, name=f"held_{place}", reset_less=True)
            here = Signal(name=f"here_{place}")
            m.d.comb += here.eq(phase == at)
            with m.If(self.valid & here):
                m.d.sync += held.eq(self.items[generator])
            of_next = at == phases - 1 and place < shift
            with m.If(self.valid):
                m.d.sync += word[place].eq(held if of_next else Mux(here, self.items[generator], held))
        return m


def words_of_groups(*, size: int, group: int, start: int, count: int) -> list[int]:
    """How many words each group of a row ends.

    Raises
    ------
    ValueError
        If a group would end two.
    """
    groups = -(-count // group)
    ended = []
    done = 0
    for number in range(groups):
        filled = start + min(count, (number + 1) * group)
        through = start + (number + 1) * group
        words = -(-filled // size) if number == groups - 1 else through // size
        ended.append(words - done)
        done = words
    if max(ended) > 1:
        raise ValueError(f"a group of {group} items from place {start} ends two words of {size}")
    return ended
