"""The buffer on the way out of the rotator, which turns pair beats into beats of the output's order."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import connect

from ..design import Design
from .chunks import ChunkMap, halves, order_layout
from .component import Component
from .credits import Credits
from .entrance import Entrance
from .output_order import ExitQueue, give_back, head_sides, output_members
from .output_plan import OutputPlan, wait_layout
from .pipeline import carried, delayed
from .primitives import BlockRam
from .queue import Queue


class ReorderedOutput(Component):
    """A buffer that turns pair beats into beats of the output's order. See :func:`.output_order.output_members`.

    A ring of :attr:`depth` beats in two banks, as :class:`.input_buffer.ReorderedInput` has one. A head may enter the
    core when all its places are free. A beat is read when both of its chunks are there, and one per clock: it is at
    the queue :attr:`latency` clocks after the later of its two results.

    Parameters
    ----------
    core_latency
        Clocks from a beat entering to its result.
    waiting
        Beats that may wait before the core.
    """

    latency = 2 + Entrance.latency + BlockRam.latency

    def __init__(self, design: Design, core_latency: int, waiting: int):
        self._design = design
        self._core_latency = core_latency
        self._waiting = waiting
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

    @property
    def _pointer_bits(self) -> int:
        """Bits of a beat's number: two more than those of its place, so that before and behind can be told apart."""
        return (self.depth - 1).bit_length() + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, beats = self._design, self._design.beats_per_head
        read = Signal()

        # The entrance: a head at a time, when all of its places are free. The one that begins in this clock, and the
        # one that did in the clock before, are not counted yet.
        free = Signal(range(self.depth + 1), init=self.depth)
        word = Signal(range(max(2, beats)))
        at_start = Signal(init=1)
        at_end = Signal(init=beats == 1)
        begins = Signal()
        begun = Signal()
        room = Signal(init=1)
        was_read = Signal()
        m.d.comb += [begins.eq(self.enter & at_start), self.room.eq(room)]
        m.d.sync += [was_read.eq(read), begun.eq(begins), free.eq(free - Mux(begun, beats, 0) + was_read)]
        if beats == 1:
            m.d.sync += room.eq(free > 2)
        else:
            # Heads do not begin in clocks that follow each other, so the one that was begun is all that counts.
            fits = Mux(begun, free >= 2 * beats, free >= beats)
            m.d.sync += room.eq(fits | ~Mux(self.enter, at_end, at_start))
            with m.If(self.enter):
                m.d.sync += [
                    at_start.eq(at_end),
                    at_end.eq(word == beats - 2),
                    word.eq(Mux(at_end, 0, word + 1)),
                ]

        # Clock 1: its order is there. A head leaves the queue long before its beats leave the ring.
        m.submodules.heads = heads = Queue(
            {"order": (order_layout(design), 1 << (self.depth // beats + 1).bit_length())}
        )
        m.submodules.plan = plan = OutputPlan(design, number_bits=self._pointer_bits)
        m.d.comb += [
            heads.offer.eq(begun),
            heads.write_order.eq(begun),
            heads.in_order.eq(self.order),
            plan.head.valid.eq(heads.output.valid),
            plan.head.payload.eq(heads.output.payload.order),
            heads.output.ready.eq(plan.head.ready),
        ]
        done = self._write(m, word, carried(m, self.enter & at_end, 1, name="ended"))
        self._read(m, plan, done, read)
        return m

    def _write(self, m: Module, word: Signal, head_ended: Value) -> Signal:
        """Writes results where their chunks belong; counts them."""
        design, beats = self._design, self._design.beats_per_head
        base = Signal(self._pointer_bits)
        with m.If(head_ended):
            m.d.sync += base.eq(base + beats)
        m.submodules.map = chunk_map = ChunkMap(design, place_bits=self._pointer_bits)
        place_layout = data.StructLayout(
            {"second_bank": 1, "low": self._pointer_bits, "high": self._pointer_bits, "split": 1}
        )
        place = Signal(place_layout)
        m.d.comb += [
            chunk_map.word.eq(delayed(m, word, 1, name="word")),
            chunk_map.order.eq(self.order),
            chunk_map.split.eq(self.order.split_out),
            chunk_map.base.eq(base),
            place.second_bank.eq(chunk_map.second_bank),
            place.low.eq(chunk_map.low),
            place.high.eq(chunk_map.high),
            place.split.eq(delayed(m, self.order.split_out, ChunkMap.latency, name="split")),
        ]
        # That is known before the result is there.
        here = data.View(place_layout, delayed(m, place, self._core_latency - 1 - ChunkMap.latency, name="place"))
        write = Signal()
        done = Signal(self._pointer_bits)
        m.d.sync += [write.eq(self.valid), done.eq(done + write)]
        even = Cat(self.elements[2 * lane] for lane in range(design.lanes))
        odd = Cat(self.elements[2 * lane + 1] for lane in range(design.lanes))
        front, back = (Cat(half) for half in halves(design, self.elements))
        low, high = Mux(here.split, even, front), Mux(here.split, odd, back)
        for bank, ram in enumerate(self._banks):
            m.submodules[f"bank_{bank}"] = ram
            lower = here.second_bank == bank
            m.d.comb += [
                ram.write_enable.eq(write),
                ram.write_address.eq(delayed(m, Mux(lower, here.low, here.high), 1, name=f"address_{bank}")),
                ram.write_data.eq(delayed(m, Mux(lower, low, high), 1, name=f"into_{bank}")),
            ]
        return done

    def _read(self, m: Module, plan: OutputPlan, done: Signal, read: Signal) -> None:
        """Reads a beat when what it waits for is there, against a place in the queue."""
        design = self._design
        m.submodules.entrance = entrance = Entrance(wait_layout(self._pointer_bits), conditions=[[1]])
        # A read is counted in the clock after it: that is known late.
        m.submodules.credits = credits = Credits(QUEUE_DEPTH, under_way=1)
        m.submodules.queue = queue = ExitQueue(design, QUEUE_DEPTH)
        address = Signal(self._pointer_bits)
        m.d.comb += [
            entrance.arrival.valid.eq(plan.wait.valid),
            entrance.arrival.payload.eq(plan.wait.payload),
            plan.wait.ready.eq(entrance.arrival.ready),
            entrance.head_there.eq(self._is_done(entrance.head.number, done)),
            entrance.there.eq(self._is_done(plan.wait.payload.number, done)),
            entrance.room.eq(credits.free),
            read.eq(entrance.enter),
        ]
        with m.If(read):
            m.d.sync += address.eq(address + 1)
        sides = head_sides(m, self, design, beats=self._waiting + self.depth + QUEUE_DEPTH, goes=read)
        assert sides.latency == BlockRam.latency
        swap = delayed(m, entrance.head.crossed, BlockRam.latency, name="swap")
        for ram in self._banks:
            m.d.comb += ram.address.eq(address)
        first_bank, second_bank = (ram.data for ram in self._banks)
        m.d.comb += [
            queue.write_elements.eq(sides.stays),
            queue.write_side.eq(sides.stays),
            queue.offer.eq(sides.stays),
            queue.in_elements.as_value().eq(Mux(swap, Cat(second_bank, first_bank), Cat(first_bank, second_bank))),
            queue.in_side.eq(sides.side),
        ]
        connect(m, queue.output, wiring.flipped(self.result))
        m.d.sync += credits.take.eq(read)
        give_back(m, credits, self.result.valid & self.result.ready, sides.drops, places=QUEUE_DEPTH)

    def _is_done(self, number: Value, done: Signal) -> Value:
        """Whether result ``number`` has been written: the numbers go round, and the sign says which is behind."""
        return (number - done)[self._pointer_bits - 1]


QUEUE_DEPTH = 8
"""Places in the queue behind the buffer: the beats that are being read, and the clocks a credit takes to come back."""

ROUND_TRIP = 13
"""Clocks, at most, beside those of the core, from a head entering to the places of its first beat being free again."""
