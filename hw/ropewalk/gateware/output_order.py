"""The way out of the rotator: a queue, or a buffer that puts pair beats back into the order of the output.

Both forms have the same members. The rotator never stalls, so a beat may enter it only when there is a place for its
result: that is what ``room`` says.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ..design import Design
from .chunks import ChunkMap, crossed, halves, order_layout, slice_beats
from .component import Component
from .primitives import BlockRam, delayed

QUEUE_LATENCY = 2
"""Clocks of a buffered queue from its input to its output."""


def output_members(design: Design) -> dict:
    """The members of both forms.

    ``enter`` is high when a beat enters the core; ``order`` is its order. ``valid`` is high when it comes out of the
    rotator, with its ``elements``. ``result`` gives the beats in the order of the output.
    """
    elements = data.ArrayLayout(design.data.shape, design.elements)
    return {
        "room": Out(1),
        "enter": In(1),
        "order": In(order_layout(design)),
        "valid": In(1),
        "elements": In(elements),
        "result": Out(stream.Signature(elements)),
    }


class DirectOutput(Component):
    """Beats go out as they leave the rotator, or with each pair in two chunks for paired order.

    See :func:`output_members`.
    """

    def __init__(self, design: Design, core_latency: int):
        self._design = design
        self._core_latency = core_latency
        super().__init__(output_members(design))

    @property
    def depth(self) -> int:
        """Places in the queue: the beats in flight, and the clocks that a credit takes to come back."""
        return 1 << (self._core_latency + 3).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        credits = Signal(range(self.depth + 1), init=self.depth)
        leave = Signal()
        m.d.comb += self.room.eq(credits != 0)
        with m.If(self.enter & ~leave):
            m.d.sync += credits.eq(credits - 1)
        with m.If(~self.enter & leave):
            m.d.sync += credits.eq(credits + 1)
        results = m.submodules.results = SyncFIFOBuffered(width=self.elements.shape().size, depth=self.depth)
        places = range(len(self.elements))
        if self._design.stream_pairings[1] == "paired":
            places = [*places[::2], *places[1::2]]
        m.d.comb += [
            results.w_data.eq(Cat(self.elements[place] for place in places)),
            results.w_en.eq(self.valid),
            self.result.payload.eq(results.r_data),
            self.result.valid.eq(results.r_rdy),
            results.r_en.eq(self.result.ready),
            leave.eq(self.result.valid & self.result.ready),
        ]
        return m


class ReorderedOutput(Component):
    """A buffer that turns pair beats into beats of the output's order. See :func:`output_members`.

    A ring of :attr:`depth` beats in two banks, as :class:`.input_order.ReorderedInput` has one. A head may enter the
    core when all its places are free. A beat is read when both of its chunks are there, and one per clock: it is at
    the queue :attr:`latency` clocks after the later of its two results.
    """

    latency = 2 + BlockRam.latency

    def __init__(self, design: Design, core_latency: int):
        self._design = design
        self._core_latency = core_latency
        self._map = ChunkMap(design)
        self._banks = [
            BlockRam(width=design.lanes * design.data_width, depth=self.depth, name=f"results_{bank}")
            for bank in range(2)
        ]
        super().__init__(output_members(design))

    @property
    def depth(self) -> int:
        """Beats that it holds: a whole head that enters, and what of the one before it has not been read yet."""
        # All of a slice is held back where it begins in mid-beat, half of it elsewhere: that is for slots to say.
        beats = self._design.beats_per_head
        return 1 << (2 * beats + self._core_latency + ROUND_TRIP - 1).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, depth = self._design, self.depth
        beats, pointer = design.beats_per_head, (depth - 1).bit_length() + 2
        m.submodules.map = chunk_map = self._map

        # The entrance: a head at a time.
        free = Signal(range(depth + 1), init=depth)
        word = Signal(range(max(2, beats)))
        at_start = Signal()
        read = Signal()
        heads = m.submodules.heads = SyncFIFO(width=order_layout(design).size, depth=max(4, depth // beats))
        m.d.comb += [
            at_start.eq(word == 0),
            self.room.eq(~at_start | ((free >= beats) & heads.w_rdy)),
            heads.w_data.eq(self.order),
            heads.w_en.eq(self.enter & at_start),
        ]
        m.d.sync += free.eq(free - Mux(self.enter & at_start, beats, 0) + read)
        with m.If(self.enter):
            m.d.sync += word.eq(Mux(word == beats - 1, 0, word + 1))

        # Where the beat's chunks belong, worked out while it is in the rotator: first their numbers, then their places.
        entered = Signal()
        order = Signal(order_layout(design), reset_less=True)
        entered_word = Signal(word.shape(), reset_less=True)
        base = Signal(pointer)
        m.d.sync += [entered.eq(self.enter), order.eq(self.order), entered_word.eq(word)]
        with m.If(entered & (entered_word == beats - 1)):
            m.d.sync += base.eq(base + beats)
        m.d.comb += [chunk_map.word.eq(entered_word), chunk_map.order.eq(order), chunk_map.split.eq(order.split_out)]
        place_layout = data.StructLayout({"second_bank": 1, "low": pointer, "high": pointer, "split": 1})
        placed = Signal()
        place = Signal(place_layout, reset_less=True)
        m.d.sync += [
            placed.eq(entered),
            place.second_bank.eq(chunk_map.banks[0]),
            place.low.eq(base + (chunk_map.chunks[0] >> 1)),
            place.high.eq(base + (chunk_map.chunks[1] >> 1)),
            place.split.eq(order.split_out),
        ]
        places = m.submodules.places = SyncFIFO(
            width=place_layout.size, depth=1 << (self._core_latency - 1).bit_length()
        )
        m.d.comb += [places.w_en.eq(placed), places.w_data.eq(place), places.r_en.eq(self.valid)]

        # Writing.
        here = data.View(place_layout, places.r_data)
        write = Signal()
        done = Signal(pointer)
        m.d.sync += [write.eq(self.valid), done.eq(done + write)]
        even = [self.elements[2 * lane] for lane in range(design.lanes)]
        odd = [self.elements[2 * lane + 1] for lane in range(design.lanes)]
        front, back = halves(design, self.elements)
        low, high = (Mux(here.split, Cat(one), Cat(other)) for one, other in ((even, front), (odd, back)))
        for bank, ram in enumerate(self._banks):
            m.submodules[f"bank_{bank}"] = ram
            lower = here.second_bank == bank
            address = Signal(pointer, name=f"address_{bank}", reset_less=True)
            into = Signal(len(low), name=f"into_{bank}", reset_less=True)
            m.d.sync += [address.eq(Mux(lower, here.low, here.high)), into.eq(Mux(lower, low, high))]
            m.d.comb += [
                ram.write_enable.eq(write),
                ram.write_address.eq(address),
                ram.write_data.eq(into),
            ]

        # Which result each output beat waits for, worked out ahead. All of a slice's first half waits for the beats
        # one after the other; behind it everything is there.
        head = data.View(order_layout(design), heads.r_data)
        next_word = Signal(range(max(2, beats)))
        first, count = slice_beats(design, head)
        behind = Signal(len(next_word) + 1)
        waits_for = Signal(len(next_word) + 1)
        step = Signal(len(next_word) + 2)
        issue = Signal()
        next_base = Signal(pointer)
        m.d.comb += [
            behind.eq(first + count),
            step.eq((next_word << 1) + 1 - first),
            waits_for.eq(next_word),
            heads.r_en.eq(issue & (next_word == beats - 1)),
        ]
        with m.If((next_word >= first) & (next_word <= behind) & head.odd):
            m.d.comb += waits_for.eq(behind)
        with m.Elif((next_word >= first) & (next_word < behind) & head.split_out):
            m.d.comb += waits_for.eq(Mux(step < behind, step, behind - 1))
        with m.If(issue):
            m.d.sync += next_word.eq(next_word + 1)
            with m.If(next_word == beats - 1):
                m.d.sync += [next_word.eq(0), next_base.eq(next_base + beats)]
        wait_layout = data.StructLayout({"number": pointer, "crossed": 1})
        known = Signal()
        wait = Signal(wait_layout, reset_less=True)
        m.d.sync += [
            known.eq(issue),
            wait.number.eq(next_base + waits_for),
            wait.crossed.eq(crossed(design, head, head.split_out, next_word)),
        ]
        ahead = m.submodules.ahead = SyncFIFO(width=wait_layout.size, depth=8)
        m.d.comb += [
            issue.eq(heads.r_rdy & (ahead.w_level + known < ahead.depth)),
            ahead.w_en.eq(known),
            ahead.w_data.eq(wait),
        ]

        # Reading, against a place in the queue.
        following = data.View(wait_layout, ahead.r_data)
        past = Signal(pointer)
        address = Signal(pointer)
        queue = m.submodules.queue = SyncFIFOBuffered(width=self.elements.shape().size, depth=QUEUE_DEPTH)
        credits = Signal(range(QUEUE_DEPTH + 1), init=QUEUE_DEPTH)
        leave = Signal()
        m.d.comb += [
            past.eq(done - following.number - 1),
            read.eq(ahead.r_rdy & ~past[-1] & (credits != 0)),
            ahead.r_en.eq(read),
        ]
        m.d.sync += [credits.eq(credits - read + leave), address.eq(address + read)]
        arrives = read
        for clock in range(BlockRam.latency):
            later = Signal(name=f"arrives_{clock + 1}")
            m.d.sync += later.eq(arrives)
            arrives = later
        swap = delayed(m, following.crossed, BlockRam.latency, name="swap")
        for ram in self._banks:
            m.d.comb += ram.address.eq(address)
        first_bank, second_bank = (ram.data for ram in self._banks)
        m.d.comb += [
            queue.w_en.eq(arrives),
            queue.w_data.eq(Cat(Mux(swap, second_bank, first_bank), Mux(swap, first_bank, second_bank))),
            self.result.payload.eq(queue.r_data),
            self.result.valid.eq(queue.r_rdy),
            queue.r_en.eq(self.result.ready),
            leave.eq(self.result.valid & self.result.ready),
        ]
        return m


QUEUE_DEPTH = 8
"""Places in the queue behind the buffer: the beats that are being read, and the clocks a credit takes to come back."""

ROUND_TRIP = 12
"""Clocks, at most, beside those of the core, from a head entering to the places of its first beat being free again."""
