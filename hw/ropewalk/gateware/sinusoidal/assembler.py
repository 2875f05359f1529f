"""Groups of items become words: what the generators make in a clock is a part of what a beat needs.

A row of ``count`` items comes in groups of ``group`` (the last one may be short); they are laid into words of ``size``
items, the first at place ``start`` of the row's first word. Places that no item of the row falls on hold anything.
"""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Shape, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..component import Component


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How the items of a row lie in words: the numbers of above, and ``wanted``, the words that a row is used for.

    A row's last word may hold nothing but the last item, and that may not be wanted (an odd dimension has a cosine
    less than sines): then ``wanted`` is one less than the words there would be, and that word is not made.

    Raises
    ------
    ValueError
        If a group would end two words: if a row's last group ran over the end of one word into another. It does not for
        the starts that the unit has: ``start`` is 0, or ``count`` modulo ``size`` where ``size`` is ``2 * k * group``.
    """

    size: int
    group: int
    start: int
    count: int
    wanted: int

    def __post_init__(self) -> None:
        if max(self.ended) > 1 or not 0 <= sum(self.ended) - self.wanted <= 1:
            raise ValueError(f"no more than one word can end with a group, and one not be wanted: {self}")

    @property
    def ended(self) -> list[int]:
        """How many words each group of a row ends, the last one wanted or not."""
        groups = -(-self.count // self.group)
        through = [(self.start + number * self.group) // self.size for number in range(groups)]
        through.append(-(-(self.start + self.count) // self.size))
        return [after - before for before, after in zip(through[:-1], through[1:], strict=True)]

    @property
    def phases(self) -> int:
        """Groups of a word."""
        return self.size // self.group

    @property
    def first(self) -> int:
        """The phase of a row's first group: the part of a word that it falls into."""
        return self.start // self.group

    @property
    def shift(self) -> int:
        """Places past the start of its part at which each group stands: it runs over the end by so many."""
        return self.start % self.group

    def most(self, clocks: int) -> int:
        """The most words that end in so many clocks, when groups follow each other without a gap."""
        ended = self.ended
        several = ended * (clocks // len(ended) + 2)
        return max(sum(several[begin : begin + clocks]) for begin in range(len(ended)))


def follow(m: Module, plan: Plan, *, valid: Value, last: Value, name: str) -> tuple[Signal, Signal]:
    """The phase of the group that is there where ``valid``, and whether it ends a word that is wanted."""
    phase = Signal(range(max(2, plan.phases)), init=plan.first, name=f"{name}_phase")
    done = Signal(name=f"{name}_done")
    ends = phase == plan.phases - 1
    # A last word that is not wanted has only the row's last group in it, which then does not fill it.
    m.d.comb += done.eq(valid & (ends if plan.wanted < sum(plan.ended) else ends | last))
    with m.If(valid):
        m.d.sync += phase.eq(Mux(last, plan.first, Mux(ends, 0, phase + 1)))
    return phase, done


class Assembler(Component):
    """Lays groups into words. Latency 1 clock from a word's last group; a group per clock, at most one word per group.

    Members
    -------
    items, valid, last : In
        A group; whether there is one; whether it is the last of its row.
    word, done : Out
        A word; whether there is one.
    """

    def __init__(self, shape: Shape | data.Layout, plan: Plan):
        self._shape, self._plan = shape, plan
        super().__init__(
            {
                "items": In(data.ArrayLayout(shape, plan.group)),
                "valid": In(1),
                "last": In(1),
                "word": Out(data.ArrayLayout(shape, plan.size)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        plan = self._plan
        phase, done = follow(m, plan, valid=self.valid, last=self.last, name="word")
        m.d.sync += self.done.eq(done)
        word = Signal(self.word.shape(), reset_less=True)
        m.d.comb += self.word.eq(word)

        # Each place is filled by one of the generators, in one of the phases. Groups that are shifted run over the end
        # of a word: they end it, and begin the next.
        for place in range(plan.size):
            generator = (place - plan.shift) % plan.group
            at = ((place - plan.shift) // plan.group) % plan.phases
            of_next = at == plan.phases - 1 and place < plan.shift
            held = Signal(self._shape, name=f"held_{place}", reset_less=True)
            here = Signal(name=f"here_{place}")
            m.d.comb += here.eq(phase == at)
            with m.If(self.valid):
                m.d.sync += word[place].eq(held if of_next else Mux(here, self.items[generator], held))
                with m.If(here):
                    m.d.sync += held.eq(self.items[generator])
        return m
