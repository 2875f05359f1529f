"""The way into the rotator: beats of a head as they come, or put into pair beats by a buffer.

Both forms have the same members. A *ticket* is what the entrance needs to know of a beat: which row entries it waits
for. When the entrance takes a ticket, the beat's elements are at the rotator :attr:`latency` clocks later, and nothing
stops them on the way.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ..design import Design
from .chunks import ChunkMap, arrangement, crossed, halves, order_layout, zipped
from .component import Component
from .layouts import beat_layout
from .primitives import BlockRam, delayed


def ticket_layout(design: Design) -> data.StructLayout:
    """A beat as the entrance sees it."""
    order = {} if not design.moves else {"order": order_layout(design)}
    return data.StructLayout(
        {
            "word": range(max(2, design.beats_per_head)),
            "sequence": design.row_number_bits,
            "needed": 1,
            **order,
        }
    )


def input_members(design: Design) -> dict:
    """The members of both forms.

    ``beat`` takes beats from the framer, ``ticket`` offers them to the entrance, ``taken`` is high when a beat that
    came (none that stands in for a missing one) has been taken from the framer; ``elements``, ``rotated`` and
    ``inverse`` go to the rotator.
    """
    return {
        "beat": In(stream.Signature(beat_layout(design))),
        "ticket": Out(stream.Signature(ticket_layout(design))),
        "taken": Out(1),
        "elements": Out(data.ArrayLayout(design.data.shape, design.elements)),
        "rotated": Out(design.lanes),
        "inverse": Out(1),
    }


class DirectInput(Component):
    """Beats go in as they come, in interleaved or in paired order. See :func:`input_members`."""

    latency = 2

    def __init__(self, design: Design):
        self._design = design
        super().__init__(input_members(design))

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        beat = self.beat.payload
        m.d.comb += [
            self.ticket.payload.word.eq(beat.word),
            self.ticket.payload.sequence.eq(beat.sequence),
            self.ticket.payload.needed.eq(beat.rotated.any()),
            self.ticket.valid.eq(self.beat.valid),
            self.beat.ready.eq(self.ticket.ready),
            self.taken.eq(self.beat.valid & self.beat.ready),
        ]
        first = data.View(beat_layout(design), delayed(m, beat, 1, name="beat"))
        elements = first.elements
        if design.moves:
            m.d.comb += [
                self.ticket.payload.order.eq(beat.order),
                self.taken.eq(self.beat.valid & self.beat.ready & ~beat.absent),
            ]
            order = first.order
            elements = arrangement(design, elements, Mux(first.inside, order.split_in, order.split_out))
        m.d.comb += [
            Cat(self.elements[index] for index in range(design.elements)).eq(delayed(m, elements, 1, name="elements")),
            self.rotated.eq(delayed(m, first.rotated, 1, name="rotated")),
            self.inverse.eq(delayed(m, first.inverse, 1, name="inverse")),
        ]
        return m


class ReorderedInput(Component):
    """A buffer that turns heads into pair beats. See :func:`input_members`.

    A ring of :attr:`depth` beats in two banks. A pair beat may go when both of its chunks have been written, so the
    first goes after about half a head, and from then on one goes per clock; a head's places are free again when its
    last beat has gone. Heads come whole (:mod:`.completer`).
    """

    latency = BlockRam.latency + 1
    write_latency = 2
    """Clocks from taking a beat to a ticket that had to wait for it."""
    ticket_latency = 4
    """Clocks from taking the first beat of a head to its first ticket, where nothing else has to be waited for."""

    def __init__(self, design: Design):
        self._design = design
        self._map = ChunkMap(design)
        width = design.lanes * design.data_width + 1
        self._banks = [BlockRam(width=width, depth=self.depth, name=f"chunks_{bank}") for bank in range(2)]
        super().__init__(input_members(design))

    @property
    def depth(self) -> int:
        """Beats that it holds: one head that is read, what comes meanwhile, and the clocks of the way round."""
        return 1 << (self._design.beats_per_head * 3 // 2 + ROUND_TRIP - 1).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design, depth = self._design, self.depth
        beats, pointer = design.beats_per_head, (depth - 1).bit_length() + 2
        m.submodules.map = chunk_map = self._map

        # Writing: beats in their order, at most a ring of them beyond the oldest head that is still read.
        beat = self.beat.payload
        free = Signal(range(depth + 1), init=depth)
        accept = Signal()
        freed = Signal()
        head_layout = data.StructLayout(
            {"order": order_layout(design), "turned": 1, "inverse": 1, "sequence": design.row_number_bits}
        )
        heads = m.submodules.heads = SyncFIFO(width=head_layout.size, depth=max(4, depth // beats))
        arriving = data.View(head_layout, heads.w_data)
        m.d.comb += [
            self.beat.ready.eq((free != 0) & heads.w_rdy),
            accept.eq(self.beat.valid & self.beat.ready),
            self.taken.eq(accept & ~beat.absent),
            heads.w_en.eq(accept & (beat.word == 0)),
            *(getattr(arriving, name).eq(getattr(beat, name)) for name in head_layout.members),
        ]
        m.d.sync += free.eq(free - accept + Mux(freed, beats, 0))
        write = Signal()
        write_word = Signal(pointer)
        written = Signal(pointer)
        swap = crossed(design, beat.order, beat.order.split_in, beat.word)
        first, second = (Cat(chunk, beat.absent) for chunk in halves(design, beat.elements))
        m.d.sync += [write.eq(accept), written.eq(written + write)]
        with m.If(accept):
            m.d.sync += write_word.eq(write_word + 1)
        for bank, (ram, one, other) in enumerate(zip(self._banks, (first, second), (second, first), strict=True)):
            m.submodules[f"bank_{bank}"] = ram
            into = Signal(len(first), name=f"into_{bank}", reset_less=True)
            m.d.sync += into.eq(Mux(swap, other, one))
            m.d.comb += [
                ram.write_enable.eq(write),
                ram.write_address.eq(written),
                ram.write_data.eq(into),
            ]

        # Which chunks the beats of a head take, worked out ahead: first their numbers, then their places.
        head = data.View(head_layout, heads.r_data)
        word = Signal(range(max(2, beats)))
        at_end = Signal()
        issue = Signal()
        base = Signal(pointer)
        m.d.comb += [
            chunk_map.word.eq(word),
            chunk_map.order.eq(head.order),
            chunk_map.split.eq(head.order.split_in),
            at_end.eq(word == beats - 1),
            heads.r_en.eq(issue & at_end),
        ]
        # A slice in interleaved order may begin and end in mid-beat.
        lanes = []
        for lane in range(design.lanes):
            pair = Cat(Signal((design.lanes - 1).bit_length(), init=lane), word)
            lanes.append((pair >= head.order.first) & (pair < head.order.first + head.order.pairs))
        numbered = Signal()
        numbers = Signal(
            data.StructLayout(
                {
                    "head": head_layout,
                    "word": word.shape(),
                    "inside": 1,
                    "lanes": design.lanes,
                    "chunks": chunk_map.chunks.shape(),
                    "banks": chunk_map.banks.shape(),
                    "base": pointer,
                }
            ),
            reset_less=True,
        )
        m.d.sync += [
            numbered.eq(issue),
            numbers.head.eq(head),
            numbers.word.eq(word),
            numbers.inside.eq(chunk_map.inside),
            numbers.lanes.eq(Cat(lanes)),
            numbers.chunks.eq(chunk_map.chunks),
            numbers.banks.eq(chunk_map.banks),
            numbers.base.eq(base),
        ]
        with m.If(issue):
            m.d.sync += word.eq(word + 1)
            with m.If(at_end):
                m.d.sync += [word.eq(0), base.eq(base + beats)]
        place_layout = data.StructLayout(
            {
                "ticket": ticket_layout(design),
                "rotated": design.lanes,
                "inverse": 1,
                "inside": 1,
                "second_bank": 1,
                "low": pointer,
                "high": pointer,
                "last": 1,
            }
        )
        placed = Signal()
        place = Signal(place_layout, reset_less=True)
        m.d.sync += [
            placed.eq(numbered),
            place.ticket.word.eq(numbers.word),
            place.ticket.sequence.eq(numbers.head.sequence),
            place.ticket.needed.eq(numbers.lanes.any() & numbers.head.turned),
            place.ticket.order.eq(numbers.head.order),
            place.rotated.eq(numbers.lanes & numbers.head.turned.replicate(design.lanes)),
            place.inverse.eq(numbers.head.inverse),
            place.inside.eq(numbers.inside),
            place.second_bank.eq(numbers.banks[0]),
            place.low.eq(numbers.base + (numbers.chunks[0] >> 1)),
            place.high.eq(numbers.base + (numbers.chunks[1] >> 1)),
            place.last.eq(numbers.word == beats - 1),
        ]
        ahead = m.submodules.ahead = SyncFIFO(width=place_layout.size, depth=8)
        m.d.comb += [
            issue.eq(heads.r_rdy & (ahead.w_level + numbered + placed < ahead.depth)),
            ahead.w_en.eq(placed),
            ahead.w_data.eq(place),
        ]

        # Reading, once the higher chunk is there.
        following = data.View(place_layout, ahead.r_data)
        past = Signal(pointer)
        enter = Signal()
        m.d.comb += [
            past.eq(written - following.high - 1),
            self.ticket.valid.eq(ahead.r_rdy & ~past[-1]),
            self.ticket.payload.eq(following.ticket),
            enter.eq(self.ticket.valid & self.ticket.ready),
            ahead.r_en.eq(enter),
            freed.eq(enter & following.last),
        ]
        for bank, ram in enumerate(self._banks):
            m.d.comb += ram.address.eq(Mux(following.second_bank == bank, following.low, following.high))
        read = data.View(place_layout, delayed(m, following, BlockRam.latency, name="read"))
        one, other = (ram.data for ram in self._banks)
        low, high = Mux(read.second_bank, other, one), Mux(read.second_bank, one, other)
        width = design.data_width
        chunks = [[chunk[lane * width : (lane + 1) * width] for lane in range(design.lanes)] for chunk in (low, high)]
        order = read.ticket.order
        zip_up = Mux(read.inside, order.split_in, order.split_out)
        # A partner that never came leaves its pair as it is.
        rotated = read.rotated & (~(order.split_in & high[-1])).replicate(design.lanes)
        elements = Signal(design.elements * width, reset_less=True)
        rotated_later = Signal(design.lanes, reset_less=True)
        inverse = Signal(reset_less=True)
        m.d.sync += [
            elements.eq(Mux(zip_up, Cat(zipped(*chunks)), Cat(*chunks))),
            rotated_later.eq(rotated),
            inverse.eq(read.inverse),
        ]
        m.d.comb += [
            Cat(self.elements[index] for index in range(design.elements)).eq(elements),
            self.rotated.eq(rotated_later),
            self.inverse.eq(inverse),
        ]
        return m


ROUND_TRIP = 16
"""Clocks, at most, from the entrance taking the last beat of a head to a beat in its place being there to be read."""
