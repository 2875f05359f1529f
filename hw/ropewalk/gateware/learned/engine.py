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
from amaranth.lib.wiring import In, Out, connect, flipped

from ...designs.learned import LearnedDesign
from ..component import Component
from ..pipeline import delayed
from ..units.exit import EXIT_EVENTS, Exit
from ..units.layouts import descriptor_layout, event_layout, packet_layout, result_layout
from .adder import TableAdder
from .descriptor import STRIDE_BITS, DescriptorPort
from .framer import Framer
from .layouts import ERRORS, place_bits, words_layout
from .read_master import fetched_layout
from .table_rows import rows_latency


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
        To a :class:`~ropewalk.gateware.learned.table_memory.TableMemory`, where the table is inside.
    request, fetched, base, stride
        To a ``ReadMaster`` and from registers, where it is outside.
    """

    def __init__(self, design: LearnedDesign):
        self._design = design
        self._port = DescriptorPort(design)
        self._framer = Framer(design)
        self._adder = TableAdder(design)
        self._exit = Exit(design, self.words_latency + self._adder.latency)
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
        return rows_latency(self._design) if self._design.storage == "block-ram" else 1

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle engine whose data are waiting.

        The framer takes a token a clock after it was queued. Where the table is outside it is the latency of a token
        without a row; one with a row waits for the memory besides.
        """
        core = self.words_latency + self._adder.latency
        return self._port.latency + 1 + self._framer.latency + core + self._exit.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = self._port
        m.submodules.framer = framer = self._framer
        m.submodules.adder = adder = self._adder
        m.submodules.exit = way_out = self._exit
        connect(m, flipped(self.descriptor), port.descriptor)
        connect(m, flipped(self.packet), framer.packet)
        connect(m, port.token, framer.token)
        connect(m, way_out.result, flipped(self.result))
        m.d.comb += [port.offset.eq(self.offset), port.masked_row.eq(self.masked_row)]

        # The entrance.
        beat = framer.beat.payload
        available, enter, failed = Signal(), Signal(), Signal()
        m.d.comb += [
            framer.beat.ready.eq(available & way_out.credit),
            enter.eq(framer.beat.valid & framer.beat.ready),
        ]
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
            self._follow_rows(m, beat, available, enter, framer.beat.valid & way_out.credit, failed)

        # The core.
        wait = self.words_latency
        at_adder = data.View(
            data.ArrayLayout(design.data.shape, design.lanes), delayed(m, beat.elements, wait, name="x")
        )
        m.d.comb += [
            adder.elements.eq(at_adder),
            adder.words.eq(words),
            adder.add.eq(delayed(m, beat.add & ~failed.replicate(design.lanes), wait, name="add")),
            way_out.enter.eq(enter),
            way_out.side.eq(beat.side),
            way_out.side.error.eq(beat.side.error | failed),
            way_out.elements.eq(adder.out),
            way_out.saturated.eq(adder.saturated),
            *(self.events[name].eq(way_out.events[name]) for name in EXIT_EVENTS),
            self.events.input_stall.eq(self.packet.valid & ~self.packet.ready),
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
