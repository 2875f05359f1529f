"""The AXI4 read master: fetches rows from memory outside, ahead of the data that need them.

A burst is asked for only when the prefetch buffer has room for all of it, so no answer ever waits for a place, and
``rready`` is high from the clock after reset on. All reads have one ID: answers come in order. A read cannot be taken
back; ``clear`` empties the buffer and lets what was asked for come and be dropped.
"""

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ...designs.learned import MAX_BURST, PAGE_BYTES, PREFETCH_BEATS, LearnedDesign
from ..component import Component
from .layouts import place_bits, words_layout

CLOCKS_PER_BURST = 3
"""Clocks from one burst to the next at best: rows of fewer beats do not keep the full rate."""


def axi_read_members(design: LearnedDesign) -> dict[str, wiring.Member]:
    """The signals of an AXI4 read manager, without their prefix."""
    return {
        "arid": Out(1),
        "araddr": Out(design.address_width),
        "arlen": Out(8),
        "arsize": Out(3),
        "arburst": Out(2),
        "arlock": Out(1),
        "arcache": Out(4),
        "arprot": Out(3),
        "arvalid": Out(1),
        "arready": In(1),
        "rid": In(1),
        "rdata": In(8 * design.bus_bytes),
        "rresp": In(2),
        "rlast": In(1),
        "rvalid": In(1),
        "rready": Out(1),
    }


def fetched_layout(design: LearnedDesign) -> data.StructLayout:
    """A beat of a row: its table words, whether reading it failed, whether it ends the row."""
    return data.StructLayout({"words": words_layout(design), "error": 1, "last": 1})


class ReadMaster(Component):
    """Turns places of rows into beats of table words.

    One beat per clock where the memory gives one within 64 clocks, and rows have at least :data:`CLOCKS_PER_BURST`
    beats: a burst of at most :data:`~ropewalk.designs.learned.MAX_BURST` beats goes off every so many clocks. As many
    reads are outstanding as the buffer of :data:`~ropewalk.designs.learned.PREFETCH_BEATS` beats has room for: 8 or
    more.

    Members
    -------
    ar*, r* : AXI4
        The read channels.
    request : In stream
        Places of rows, in beats of the bus.
    fetched : Out stream
        Their beats, in order.
    clear : In
        Forget all rows.
    """

    def __init__(self, design: LearnedDesign):
        self._design = design
        super().__init__(
            {
                **axi_read_members(design),
                "request": In(stream.Signature(place_bits(design))),
                "fetched": Out(stream.Signature(fetched_layout(design))),
                "clear": In(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        beats = design.beats_per_token
        page_beats = PAGE_BYTES // design.bus_bytes
        shift = design.bus_bytes.bit_length() - 1

        # Asking. A row is cut into bursts, each in three steps: what limits it, its length, off it goes.
        busy = Signal()
        place = Signal(place_bits(design), reset_less=True)
        left = Signal(range(beats + 1), reset_less=True)
        limiting, measuring, asking = Signal(), Signal(), Signal()
        to_page = Signal(range(page_beats + 1), reset_less=True)
        most = Signal(range(MAX_BURST + 1), reset_less=True)
        length = Signal(range(MAX_BURST + 1), reset_less=True)
        enough = Signal()
        issue, done = Signal(), Signal()
        free = Signal(range(PREFETCH_BEATS + 1), init=PREFETCH_BEATS)
        m.d.comb += [
            enough.eq(free >= length),
            issue.eq(asking & enough & (~self.arvalid | self.arready) & ~self.clear),
            done.eq(issue & (left == length)),
            self.request.ready.eq((~busy | done) & ~self.clear),
        ]
        with m.If(limiting):
            m.d.sync += [
                to_page.eq(page_beats - place[: (page_beats - 1).bit_length()]),
                most.eq(Mux(left > MAX_BURST, MAX_BURST, left)),
                limiting.eq(0),
                measuring.eq(1),
            ]
        with m.If(measuring):
            m.d.sync += [length.eq(Mux(to_page < most, to_page, most)), measuring.eq(0), asking.eq(1)]
        with m.If(self.arready):
            m.d.sync += self.arvalid.eq(0)
        with m.If(issue):
            m.d.sync += [
                self.arvalid.eq(1),
                self.araddr.eq(Cat(Const(0, shift), place)),
                self.arlen.eq(length - 1),
                place.eq(place + length),
                left.eq(left - length),
                asking.eq(0),
                limiting.eq(~done),
                busy.eq(~done),
            ]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += [busy.eq(1), place.eq(self.request.payload), left.eq(beats), limiting.eq(1)]
        with m.If(self.clear):
            m.d.sync += [busy.eq(0), limiting.eq(0), measuring.eq(0), asking.eq(0)]
        m.d.comb += [
            self.arid.eq(0),
            self.arsize.eq(shift),
            self.arburst.eq(1),  # INCR
            self.arlock.eq(0),
            self.arcache.eq(0b0011),  # normal, not cacheable, bufferable
            self.arprot.eq(0),
        ]

        # Receiving. What was asked for before a clear is dropped, beat for beat.
        arrived, kept = Signal(), Signal()
        pending = Signal(range(2 * PREFETCH_BEATS + 1))
        stale = Signal(range(2 * PREFETCH_BEATS + 1))
        asked = Signal(range(MAX_BURST + 1))
        pending_next = Signal.like(pending)
        number = Signal(range(max(2, beats)))
        m.d.sync += self.rready.eq(1)
        m.d.comb += [
            arrived.eq(self.rvalid & self.rready),
            kept.eq(arrived & (stale == 0) & ~self.clear),
            asked.eq(Mux(issue, length, 0)),
            pending_next.eq(pending + asked - arrived),
        ]
        m.d.sync += pending.eq(pending_next)
        with m.If(self.clear):
            m.d.sync += [stale.eq(pending_next), number.eq(0)]
        with m.Elif(arrived & (stale != 0)):
            m.d.sync += stale.eq(stale - 1)
        with m.Elif(arrived):
            m.d.sync += number.eq(Mux(number == beats - 1, 0, number + 1))

        layout = fetched_layout(design)
        incoming = Signal(layout)
        for lane in range(design.lanes):
            low = lane * design.table_container_bits
            m.d.comb += incoming.words[lane].eq(self.rdata[low : low + design.table_width])
        m.d.comb += [incoming.error.eq(self.rresp[1]), incoming.last.eq(number == beats - 1)]
        buffer = SyncFIFOBuffered(width=layout.size, depth=PREFETCH_BEATS)
        m.submodules.buffer = ResetInserter(self.clear)(buffer)
        used = Signal()
        m.d.comb += [
            buffer.w_data.eq(incoming),
            buffer.w_en.eq(kept),
            self.fetched.payload.eq(data.View(layout, buffer.r_data)),
            self.fetched.valid.eq(buffer.r_rdy),
            buffer.r_en.eq(self.fetched.ready),
            used.eq(self.fetched.valid & self.fetched.ready),
        ]
        m.d.sync += free.eq(free - asked + used)
        with m.If(self.clear):
            m.d.sync += free.eq(PREFETCH_BEATS)
        return m
