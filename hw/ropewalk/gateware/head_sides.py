"""What accompanies the beats of whole heads from their coming to their going, kept for a head at a time."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import side_layout
from .pipeline import carried, delayed
from .queue import following


class HeadSides(Component):
    """Takes what accompanies each beat as it comes, and gives it for each beat that goes.

    Of a head it keeps its kind and its tag, the first beat that has the error, and the beat that is the last of its
    token: what comes behind that in the head stands in for beats that never came. A beat goes no earlier than four
    clocks after it came.

    Parameters
    ----------
    beats
        How many may have come and not gone yet.

    Members
    -------
    came, word, absent, arrival : In
        A beat came, the ``word``-th of its head; whether it stands in for one that never came; what accompanies it, if
        not.
    goes : In
        The next beat goes.
    side : Out
        What accompanies it, :attr:`latency` clocks later.
    stays, drops : Out
        Whether there is one then; one that stands in for one that never came, which is to be dropped, and is told
        apart here.
    """

    latency = 2

    def __init__(self, design: Design, *, beats: int):
        self._design = design
        # Some of those heads have not come as a whole, or have not gone.
        self._heads = 1 << (beats // design.beats_per_head + 1).bit_length()
        super().__init__(
            {
                "came": In(1),
                "word": In(range(max(2, design.beats_per_head))),
                "absent": In(1),
                "arrival": In(side_layout()),
                "goes": In(1),
                "side": Out(side_layout()),
                "stays": Out(1),
                "drops": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        end = self._design.beats_per_head - 1
        place = self.word.shape()
        head_layout = data.StructLayout(
            {"kind": 2, "tag": 8, "wrong": 1, "wrong_from": place, "ends": 1, "ends_with": place}
        )
        heads = m.submodules.heads = Memory(shape=head_layout.size, depth=self._heads, init=[])
        write, read = heads.write_port(), heads.read_port()

        # Coming: the head is written anew with each of its beats.
        came = carried(m, self.came, 1, name="came")
        absent = delayed(m, self.absent, 1, name="absent")
        its_place = delayed(m, self.word, 1, name="its_place")
        goes_on = delayed(m, self.word != 0, 1, name="goes_on")
        arrival = data.View(side_layout(), delayed(m, self.arrival, 1, name="arrival"))
        coming = Signal(range(self._heads))
        kept = Signal(head_layout, reset_less=True)
        head = Signal(head_layout)
        m.d.comb += [
            head.kind.eq(arrival.kind),
            head.tag.eq(arrival.tag),
            head.wrong.eq(arrival.error | (kept.wrong & goes_on)),
            head.wrong_from.eq(Mux(kept.wrong & goes_on, kept.wrong_from, its_place)),
            head.ends.eq(arrival.last),
            head.ends_with.eq(its_place),
            write.addr.eq(coming),
            write.data.eq(head),
            write.en.eq(came & ~absent),
        ]
        with m.If(write.en):
            m.d.sync += kept.eq(head)
        with m.If(came & (its_place == end)):
            m.d.sync += coming.eq(following(coming))

        # Going.
        going = Signal(range(self._heads))
        word = Signal(self.word.shape())
        at_end = Signal(init=end == 0)
        with m.If(self.goes):
            m.d.sync += [word.eq(word + 1), at_end.eq(word == (end - 1) % (end + 1))]
            with m.If(at_end):
                m.d.sync += [word.eq(0), going.eq(following(going))]
        found = data.View(head_layout, read.data)
        its_word = delayed(m, word, 1, name="word")
        side = Signal(side_layout(), reset_less=True)
        goes = carried(m, self.goes, 1, name="goes")
        ends = found.ends & (its_word == found.ends_with)
        # Beats go in turn, so what stands in comes behind a beat that ended its token. Of the head before that may
        # still be said, and is not meant.
        ended = Signal()
        stands_in = ended & delayed(m, word != 0, 1, name="word_is_later")
        with m.If(goes):
            m.d.sync += ended.eq(ends | stands_in)
        m.d.comb += [read.addr.eq(going), self.side.eq(side)]
        m.d.sync += [
            self.stays.eq(goes & ~stands_in),
            self.drops.eq(goes & stands_in),
            side.kind.eq(found.kind),
            side.tag.eq(found.tag),
            side.error.eq(found.wrong & (its_word >= found.wrong_from)),
            side.last.eq(ends),
        ]
        return m
