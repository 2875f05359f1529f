"""The learned-table engine: descriptors and packets in, packets with their rows added out.

    descriptors -> DescriptorPort -> Framer <- packets
                        |              |
              (places of rows)   (words there? credit?) -> TableAdder -> queue -> packets

The adder has a fixed latency and never stalls: a beat enters it only against a credit for a place in the output queue.
The table itself is beside the engine: :class:`~ropewalk.gateware.learned.table_memory.TableMemory` or
:class:`~ropewalk.gateware.learned.read_master.ReadMaster`.
"""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from ...designs.learned import LearnedDesign
from ..component import Component
from ..primitives import delayed
from ..units.layouts import descriptor_layout, event_layout, packet_layout, result_layout, side_layout
from .adder import TableAdder
from .descriptor import STRIDE_BITS, DescriptorPort
from .framer import Framer
from .layouts import ERRORS, place_bits, words_layout
from .read_master import fetched_layout
from .table_memory import TableMemory


class LearnedEngine(Component):
    """Adds table rows to tokens.

    Throughput: one beat per clock, without a bubble between beats, rows and tokens, where the table is inside; outside
    as :class:`~ropewalk.gateware.learned.read_master.ReadMaster` says. Latency of the first beat of an idle engine:
    :attr:`latency`.

    Members
    -------
    descriptor : In stream
        Token descriptors.
    packet : In stream
        Their elements.
    result : Out stream
        The sums.
    offset, masked_row : In
        What is added to positions; the row of masked tokens.
    events : Out
        What happened in this clock, for the counters.
    lookup, place, grant, words
        To a :class:`TableMemory`, where the table is inside.
    request, fetched, base, stride
        To a ``ReadMaster`` and from registers, where it is outside.
    """

    def __init__(self, design: LearnedDesign):
        self._design = design
        self._port = DescriptorPort(design)
        self._framer = Framer(design)
        self._adder = TableAdder(design)
        place = place_bits(design)
        if design.storage == "block-ram":
            source = {
                "lookup": Out(1),
                "place": Out(place),
                "grant": In(1),
                "words": In(words_layout(design)),
            }
        else:
            source = {
                "request": Out(stream.Signature(place)),
                "fetched": In(stream.Signature(fetched_layout(design))),
                "base": In(place),
                "stride": In(STRIDE_BITS),
            }
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "packet": In(stream.Signature(packet_layout(design))),
                "result": Out(stream.Signature(result_layout(design))),
                "offset": In(signed(32)),
                "masked_row": In(32),
                "events": Out(event_layout(design, *ERRORS)),
                **source,
            }
        )

    @property
    def words_latency(self) -> int:
        """Clocks from a beat's entrance to its table words at the adder; outside, a register behind the buffer."""
        return TableMemory.latency if self._design.storage == "block-ram" else 1

    @property
    def core_latency(self) -> int:
        """Clocks from a beat's entrance to the output queue."""
        return self.words_latency + self._adder.latency

    @property
    def queue_depth(self) -> int:
        """Places in the output queue: the beats in flight, and the clocks that a credit takes to come back."""
        return 1 << (self.core_latency + 3).bit_length()

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle engine whose data are waiting.

        The framer takes a token a clock after it was queued, and the buffered output queue takes two. Where the table
        is outside it is the latency of a token without a row; one with a row waits for the memory besides.
        """
        return self._port.latency + 1 + self._framer.latency + self.core_latency + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = self._port
        m.submodules.framer = framer = self._framer
        m.submodules.adder = adder = self._adder
        connect(m, flipped(self.descriptor), port.descriptor)
        connect(m, flipped(self.packet), framer.packet)
        connect(m, port.token, framer.token)
        m.d.comb += [port.offset.eq(self.offset), port.masked_row.eq(self.masked_row)]

        # The entrance.
        beat = framer.beat.payload
        depth = self.queue_depth
        credits = Signal(range(depth + 1), init=depth)
        available, enter, leave, failed = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            framer.beat.ready.eq(available & (credits != 0)),
            enter.eq(framer.beat.valid & framer.beat.ready),
        ]
        with m.If(enter & ~leave):
            m.d.sync += credits.eq(credits - 1)
        with m.If(~enter & leave):
            m.d.sync += credits.eq(credits + 1)
        words = Signal(words_layout(design))
        if design.storage == "block-ram":
            m.d.comb += [
                self.lookup.eq(framer.beat.valid),
                self.place.eq(beat.place),
                available.eq(self.grant),
                words.eq(self.words),
            ]
        else:
            connect(m, port.request, flipped(self.request))
            m.d.comb += [port.base.eq(self.base), port.stride.eq(self.stride)]
            m.d.comb += words.eq(delayed(m, self.fetched.payload.words, 1, name="fetched_words"))
            self._follow_rows(m, beat, available, enter, framer.beat.valid & (credits != 0), failed)

        # The core.
        wait = self.words_latency
        at_adder = data.View(
            data.ArrayLayout(design.data.shape, design.lanes), delayed(m, beat.elements, wait, name="x")
        )
        m.d.comb += [
            adder.elements.eq(at_adder),
            adder.words.eq(words),
            adder.add.eq(delayed(m, beat.add & ~failed.replicate(design.lanes), wait, name="add")),
        ]
        valid = enter
        for clock in range(self.core_latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later

        # The exit. What accompanies a beat waits in a queue of its own and needs no delay line.
        results = m.submodules.results = SyncFIFOBuffered(width=adder.out.shape().size, depth=depth)
        sides = m.submodules.sides = SyncFIFO(width=side_layout(design).size, depth=depth)
        side = Signal(side_layout(design))
        m.d.comb += [
            side.eq(beat.side),
            side.error.eq(beat.side.error | failed),
            results.w_data.eq(adder.out),
            results.w_en.eq(valid),
            sides.w_data.eq(side),
            sides.w_en.eq(enter),
            self.result.payload.elements.eq(results.r_data),
            self.result.payload.side.eq(sides.r_data),
            self.result.valid.eq(results.r_rdy),
            leave.eq(self.result.valid & self.result.ready),
            results.r_en.eq(self.result.ready),
            sides.r_en.eq(leave),
            self.events.token.eq(leave & self.result.payload.side.last),
            self.events.beat.eq(leave),
            self.events.input_stall.eq(self.packet.valid & ~self.packet.ready),
            self.events.output_stall.eq(self.result.valid & ~self.result.ready),
            self.events.saturated.eq(adder.saturated & valid.replicate(design.lanes)),
            self.events.position_error.eq(port.position_error),
            self.events.framing_error.eq(framer.framing_error),
        ]
        return m

    def _follow_rows(
        self, m: Module, beat: data.View, available: Signal, enter: Signal, willing: Signal, failed: Signal
    ) -> None:
        """Takes the fetched beats that the data need, and those that a token which ended early has left over.

        ``failed`` tells that the beat at the entrance, or one of its token before it, could not be read.
        """
        fetched = self.fetched
        draining, failing = Signal(), Signal()
        m.d.comb += [
            available.eq(~draining & (~beat.row | fetched.valid)),
            fetched.ready.eq(draining | (willing & beat.row)),
            failed.eq(beat.row & (failing | fetched.payload.error)),
            self.events.read_error.eq(enter & failed & ~failing),
        ]
        with m.If(enter):
            m.d.sync += [
                failing.eq(failed & ~beat.side.last),
                draining.eq(beat.row & beat.side.last & ~fetched.payload.last),
            ]
        with m.If(draining & fetched.valid & fetched.payload.last):
            m.d.sync += draining.eq(0)
