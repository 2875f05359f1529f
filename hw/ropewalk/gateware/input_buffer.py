"""The buffer on the way into the rotator, which turns heads into pair beats."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import connect

from ..design import Design
from .chunks import zipped
from .component import Component
from .entrance import Entrance
from .input_order import input_members
from .input_plan import InputPlan, head_layout, pair_beat_layout, wait_layout
from .layouts import ask_layout, beat_layout
from .pipeline import delayed
from .primitives import BlockRam
from .queue import Queue
from .relay import Relay


class ReorderedInput(Component):
    """A buffer that turns heads into pair beats. See :func:`.input_order.input_members`.

    A ring of :attr:`depth` beats in two banks. A pair beat may go when both of its chunks have been written, so the
    first goes after about half a head, and from then on one goes per clock; a head's places are free again when its
    last beat has gone. Heads come whole (:mod:`.completer`).
    """

    latency = 1 + BlockRam.latency + 2
    write_latency = 3 + 2 * Entrance.latency + Relay.latency
    """Clocks from taking a beat to one that had to wait for it entering the core."""
    beat_latency = 1 + Queue.latency + InputPlan.latency + 2 * Entrance.latency + Relay.latency
    """Clocks from taking the first beat of a head to its first one entering the core, where it waits for nothing."""

    def __init__(self, design: Design):
        self._design = design
        width = design.lanes * design.data_width + 1
        self._banks = [BlockRam(width=width, depth=self.depth, name=f"chunks_{bank}") for bank in range(2)]
        super().__init__(input_members(design))

    @property
    def depth(self) -> int:
        """Beats that it holds: one head that is read, what comes meanwhile, and the clocks of the way round."""
        return 1 << (self._design.beats_per_head * 3 // 2 + ROUND_TRIP - 1).bit_length()

    @property
    def _pointer_bits(self) -> int:
        """Bits of a beat's number: two more than those of its place, so that before and behind can be told apart."""
        return (self.depth - 1).bit_length() + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, beats = self._design, self._design.beats_per_head
        written = Signal(range(self.depth))
        # The number of the beat to be written next, below 0: a register of its own, near what compares it.
        unwritten = Signal(self._pointer_bits)
        freed = Signal()

        # Clock 0: a beat is taken, if there is a place beside those for the two before it, which are not counted yet.
        accept = Signal()
        accepted = Signal()
        free = Signal(range(self.depth + 1), init=self.depth)
        m.d.comb += [
            accept.eq(self.beat.valid & self.beat.ready),
            self.fetch.eq(accept & ~self.beat.payload.absent),
        ]
        m.d.sync += [
            accepted.eq(accept),
            free.eq(free - accepted + Mux(freed, beats, 0)),
            self.beat.ready.eq(free > 2),
        ]

        # Clock 1: what follows it is there. A head leaves the queue long before its beats leave the ring.
        beat = data.View(beat_layout(design), delayed(m, self.beat.payload, 1, name="beat"))
        m.submodules.heads = heads = Queue({"head": (head_layout(design), 1 << (self.depth // beats + 1).bit_length())})
        m.d.comb += [
            self.came.eq(accepted),
            self.word.eq(beat.ask.word),
            self.absent.eq(beat.absent),
            self.side.eq(self.lagging.side),
            heads.offer.eq(accepted & delayed(m, self.beat.payload.ask.word == 0, 1, name="begins")),
            heads.write_head.eq(heads.offer),
            heads.in_head.order.eq(beat.order),
            heads.in_head.turned.eq(beat.turned),
            heads.in_head.inverse.eq(beat.inverse),
            heads.in_head.bank.eq(beat.ask.bank),
        ]

        # Clock 2: it is written, in the order of coming.
        write = Signal()
        m.d.sync += [write.eq(accepted), written.eq(written + write), unwritten.eq(unwritten - write)]
        half = design.lanes * design.data_width
        elements = self.arriving.as_value() & (~beat.absent).replicate(2 * half)
        first, second = Cat(elements[:half], beat.absent), Cat(elements[half:], beat.absent)
        for bank, (ram, one, other) in enumerate(zip(self._banks, (first, second), (second, first), strict=True)):
            m.submodules[f"bank_{bank}"] = ram
            m.d.comb += [
                ram.write_enable.eq(write),
                ram.write_address.eq(written),
                ram.write_data.eq(delayed(m, Mux(beat.crossed, other, one), 1, name=f"into_{bank}")),
            ]

        # A pair beat may go on when the later of its chunks is there, and enters when its row entries are too.
        m.submodules.plan = plan = InputPlan(design, place_bits=self._pointer_bits)
        waits, ask = wait_layout(design, self._pointer_bits), ask_layout(design)
        m.submodules.written = is_there = Entrance(waits, conditions=[[1]])
        m.submodules.relay = relay = Relay(ask)
        m.submodules.entrance = entrance = Entrance(ask, conditions=[[1, 2]])
        m.d.comb += [
            plan.head.valid.eq(heads.output.valid),
            plan.head.payload.eq(heads.output.payload.head),
            heads.output.ready.eq(plan.head.ready),
            is_there.arrival.valid.eq(plan.wait.valid),
            is_there.arrival.payload.eq(plan.wait.payload),
            plan.wait.ready.eq(is_there.arrival.ready),
            is_there.head_there.eq(self._is_written(is_there.head.high, unwritten)),
            is_there.there.eq(self._is_written(plan.wait.payload.high, unwritten)),
            is_there.room.eq(relay.arrival.ready),
            relay.arrival.valid.eq(is_there.enter),
            relay.arrival.payload.eq(is_there.head.ask),
            plan.fetch.eq(entrance.enter),
            self.asks[0].eq(entrance.head),
            self.asks[1].eq(relay.output.payload),
            Cat(entrance.head_there, entrance.there).eq(self.available),
            entrance.room.eq(self.room),
            self.enter.eq(entrance.enter),
        ]
        connect(m, relay.output, entrance.arrival)
        entered = Signal()
        m.d.sync += entered.eq(entrance.enter)
        m.d.comb += [freed.eq(entered & plan.pair_beat.last), self.order.eq(plan.pair_beat.order)]
        self._read(m, plan.pair_beat)
        return m

    def _read(self, m: Module, pair_beat) -> None:
        """Reads the chunks of the beat that has entered."""
        design = self._design
        for bank, ram in enumerate(self._banks):
            m.d.comb += ram.address.eq(Mux(pair_beat.second_bank == bank, pair_beat.low, pair_beat.high))
        layout = pair_beat_layout(design, self._pointer_bits)
        read = data.View(layout, delayed(m, pair_beat, BlockRam.latency, name="read"))
        zip_up = delayed(
            m,
            Mux(pair_beat.inside, pair_beat.order.split_in, pair_beat.order.split_out),
            BlockRam.latency + 1,
            name="zip_up",
        )
        one, other = (ram.data for ram in self._banks)
        low, high = (
            delayed(m, Mux(read.second_bank, *pair), 1, name=name)
            for name, pair in (("first_chunk", (other, one)), ("other_chunk", (one, other)))
        )
        chosen = data.View(layout, delayed(m, read, 1, name="chosen"))
        # A partner that never came leaves its pair as it is.
        rotated = chosen.rotated & (~(chosen.order.split_in & high[-1])).replicate(design.lanes)
        m.d.comb += [
            self.elements.as_value().eq(delayed(m, _arranged(design, low, high, zip_up), 1, name="elements")),
            self.rotated.eq(delayed(m, rotated, 1, name="rotated")),
            self.inverse.eq(delayed(m, chosen.inverse, 1, name="inverse")),
        ]

    def _is_written(self, number: Value, unwritten: Signal) -> Value:
        """Whether beat ``number`` has been written: the numbers go round, and the sign says which is behind."""
        return (number + unwritten)[self._pointer_bits - 1]


def _arranged(design: Design, low: Value, high: Value, zip_up: Value) -> Value:
    """The elements of two chunks, in turn if ``zip_up``."""
    width = design.data_width
    chunks = [[chunk[lane * width : (lane + 1) * width] for lane in range(design.lanes)] for chunk in (low, high)]
    return Mux(zip_up, Cat(zipped(*chunks)), Cat(*chunks))


ROUND_TRIP = 16
"""Clocks, at most, from the last beat of a head entering the core to a beat in its place being there to be read."""
