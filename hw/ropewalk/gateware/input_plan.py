"""Works out ahead where the pair beats of heads lie in the buffer before the rotator."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from .aside import Aside
from .chunks import ChunkMap, SliceLanes, order_layout
from .component import Component
from .credits import Credits
from .layouts import ask_layout, bank_bits
from .pipeline import carried, delayed
from .queue import Queue

PLACES = 16
"""Beats for which that is known, or is being worked out."""


def head_layout(design: Design) -> data.StructLayout:
    """A head in the buffer."""
    return data.StructLayout({"order": order_layout(design), "turned": 1, "inverse": 1, "bank": bank_bits(design)})


def wait_layout(design: Design, place_bits: int) -> data.StructLayout:
    """What a pair beat waits for: row entries, and the beat that came last of those that its chunks came in."""
    return data.StructLayout({"ask": ask_layout(design), "high": place_bits})


def pair_beat_layout(design: Design, place_bits: int) -> data.StructLayout:
    """A pair beat: where its chunks lie, what becomes of it, and whether it is the last of its head."""
    return data.StructLayout(
        {
            "order": order_layout(design),
            "rotated": design.lanes,
            "inverse": 1,
            "inside": 1,
            "second_bank": 1,
            "low": place_bits,
            "high": place_bits,
            "last": 1,
        }
    )


class InputPlan(Component):
    """Pair beats of heads, in their order. Latency :attr:`latency` clocks from a head; a beat per clock.

    Members
    -------
    head : In stream
        Heads.
    wait : Out stream
        What the next beat waits for.
    fetch, pair_beat : In, Out
        It goes; the beat, a clock later.
    """

    latency = ChunkMap.latency + Queue.latency

    def __init__(self, design: Design, *, place_bits: int):
        self._design = design
        self._place_bits = place_bits
        super().__init__(
            {
                "head": In(stream.Signature(head_layout(design))),
                "wait": Out(stream.Signature(wait_layout(design, place_bits))),
                "fetch": In(1),
                "pair_beat": Out(pair_beat_layout(design, place_bits)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, beats = self._design, self._design.beats_per_head
        order = self.head.payload.order
        word = Signal(range(max(2, beats)))
        at_end = Signal(init=beats == 1)
        base = Signal(self._place_bits)
        issue = Signal()
        m.submodules.credits = credits = Credits(PLACES)
        m.d.comb += [
            issue.eq(self.head.valid & credits.free),
            self.head.ready.eq(credits.free & at_end),
            credits.take.eq(issue),
        ]
        m.d.sync += credits.give.eq(self.fetch)
        with m.If(issue):
            m.d.sync += [word.eq(word + 1), at_end.eq(word == (beats - 2) % beats)]
            with m.If(at_end):
                m.d.sync += [word.eq(0), base.eq(base + beats)]

        m.submodules.map = chunk_map = ChunkMap(design, place_bits=self._place_bits)
        m.submodules.lanes = slice_lanes = SliceLanes(design)
        m.d.comb += [
            chunk_map.word.eq(word),
            chunk_map.order.eq(order),
            chunk_map.split.eq(order.split_in),
            chunk_map.base.eq(base),
            # A slice in interleaved order may begin and end in mid-beat.
            slice_lanes.word.eq(delayed(m, word, 1, name="lanes_word")),
            slice_lanes.start.eq(delayed(m, order.first, 1, name="slice_start")),
            slice_lanes.end.eq(delayed(m, order.first + order.pairs, 1, name="slice_end")),
        ]
        lanes = delayed(m, slice_lanes.lanes, ChunkMap.latency - 1 - SliceLanes.latency, name="lanes")
        head = data.View(head_layout(design), delayed(m, self.head.payload, ChunkMap.latency, name="head"))
        placed = carried(m, issue, ChunkMap.latency, name="placed")

        m.submodules.waits = waits = Queue({"wait": (self.wait.payload.shape(), PLACES)})
        m.submodules.pair_beats = pair_beats = Aside(self.pair_beat.shape(), PLACES)
        wait, pair_beat = waits.in_wait, pair_beats.stored
        m.d.comb += [
            waits.write_wait.eq(placed),
            waits.offer.eq(placed),
            wait.ask.word.eq(delayed(m, word, ChunkMap.latency, name="word")),
            wait.ask.bank.eq(head.bank),
            wait.ask.needed.eq(lanes.any() & head.turned),
            wait.high.eq(chunk_map.high),
            pair_beats.write.eq(placed),
            pair_beat.order.eq(head.order),
            pair_beat.rotated.eq(lanes & head.turned.replicate(design.lanes)),
            pair_beat.inverse.eq(head.inverse),
            pair_beat.inside.eq(chunk_map.inside),
            pair_beat.second_bank.eq(chunk_map.second_bank),
            pair_beat.low.eq(chunk_map.low),
            pair_beat.high.eq(chunk_map.high),
            pair_beat.last.eq(delayed(m, at_end, ChunkMap.latency, name="last")),
            self.wait.valid.eq(waits.output.valid),
            self.wait.payload.eq(waits.output.payload.wait),
            waits.output.ready.eq(self.wait.ready),
            pair_beats.fetch.eq(self.fetch),
            self.pair_beat.eq(pair_beats.fetched),
        ]
        return m
