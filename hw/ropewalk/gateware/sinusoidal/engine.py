"""The sinusoidal adder: descriptors and packets in, packets with the encoding of their position added out.

    descriptors -> DescriptorPort -+-> RowSource (generators, queues) -+
                                   |                                   |
                                   +-> Framer ---------------------> Joiner -> RowAdder -> queue -> packets
    packets -------------------------> Framer

The adder has a fixed latency and never stalls: a beat enters it only against a credit for a place in the output queue.
"""

from amaranth.hdl import Module, Signal, signed
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ...designs.sinusoidal import SinusoidalDesign
from ..capacity import CAPACITY
from ..component import Component
from ..ports import join
from ..units.adder import RowAdder
from ..units.exit import EXIT_EVENTS, Exit
from ..units.layouts import descriptor_layout, event_layout, packet_layout, result_layout
from ..units.queue import queue_before
from .descriptor import DescriptorPort
from .framer import Framer
from .joiner import Joiner
from .layouts import ERRORS
from .source import RowSource
from .store import SlotStore

LOADER_MEMBERS = (
    "begin", "word_valid", "word", "commit", "refusal", "refused", "loading", "busy", "scanning", "words", "crc",
)  # fmt: skip
"""Members of the slot store that the registers reach through the engine."""


class SinusoidalEngine(Component):
    """One token is one row of elements, to which the row of its position is added.

    Throughput: ``design.beats_per_clock``. Latency of the first beat of an idle engine: :attr:`latency`.

    Members
    -------
    descriptor : In stream
        Token descriptors.
    packet : In stream
        Their elements.
    result : Out stream
        The sums.
    offset : In
        What is added to positions.
    events : Out
        What happened in this clock, for the counters.
    """

    def __init__(self, design: SinusoidalDesign):
        self._design = design
        self._port = DescriptorPort()
        self._source = RowSource(design)
        self._store = SlotStore(design, pipeline=self._source.pipeline)
        self._framer = Framer(design)
        self._joiner = Joiner(design)
        self._adder = RowAdder(design, design.encoding.shape)
        self._exit = Exit(design, self._adder.latency)
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "packet": In(stream.Signature(packet_layout(design))),
                "result": Out(stream.Signature(result_layout(design))),
                "offset": In(signed(32)),
                "events": Out(event_layout(design, *ERRORS)),
                **{name: self._store.signature.members[name] for name in LOADER_MEMBERS},
            }
        )

    @property
    def store(self) -> SlotStore:
        """The slot store, for the shapes of its members."""
        return self._store

    @property
    def _contexts(self) -> int:
        """Tokens that wait for their data: rows that are begun before the first beat of theirs is wanted."""
        design, source = self._design, self._source
        ahead = source.latency + 8 + (design.groups if design.half else source.first_groups)
        return CAPACITY + -(-ahead // min(design.groups, design.beats_per_token)) + 2

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first encoded beat of an idle engine whose data are waiting.

        The beat's groups are made one by one.
        """
        source = self._source
        row = source.latency + source.first_groups - 1
        return self._port.latency + row + self._adder.latency + self._exit.latency

    @property
    def memory_bits(self) -> int:
        """Bits of the queues that hold encodings: what grows with the dimension beside the steps."""
        return self._source.memory_bits

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.submodules.port = port = self._port
        m.submodules.store = store = self._store
        m.submodules.source = source = self._source
        m.submodules.framer = framer = self._framer
        m.submodules.joiner = joiner = self._joiner
        m.submodules.adder = adder = self._adder
        m.submodules.exit = way_out = self._exit
        connect(m, wiring.flipped(self.descriptor), port.descriptor)
        connect(m, wiring.flipped(self.packet), framer.packet)
        connect(m, framer.beat, joiner.beat)
        connect(m, way_out.result, wiring.flipped(self.result))

        # A token's row is asked for in the clock in which its data are announced. Both receivers are ready or not by
        # their own registers, so looking at one's ready for the other's valid closes no loop.
        token = port.token.payload
        possible, room = Signal(), Signal()
        waiting = queue_before(
            m,
            framer.token,
            name="waiting",
            depth=self._contexts,
            payload=token.context,
            valid=port.token.valid & port.token.ready,
        )
        # One may come while the level is looked at, and one more by what was seen.
        m.d.sync += room.eq(waiting.w_level < waiting.depth - 1)
        m.d.comb += [
            possible.eq(~token.context.encoded | source.request.ready),
            source.request.payload.eq(token.request),
            source.request.valid.eq(port.token.valid & token.context.encoded & room),
            port.token.ready.eq(room & possible),
            port.offset.eq(self.offset),
            port.place.eq(store.place),
            port.headers.eq(store.headers),
            store.taken.eq(port.taken),
            store.retired.eq(port.token.valid & port.token.ready),
            store.rows.eq(source.pending),
            *(source.amplitudes[place].eq(store.headers[place].amplitude) for place in range(2)),
            *(getattr(source, name).eq(getattr(store, name)) for name in ("load", "load_place", "load_pair")),
            *(
                getattr(source, name).eq(getattr(store, name))
                for name in ("load_step", "read", "read_place", "read_pair")
            ),
            store.granted.eq(source.granted),
            store.step.eq(source.step),
            joiner.words.eq(source.words),
            joiner.ready.eq(source.ready),
            source.take.eq(joiner.take),
        ]
        join(m, LOADER_MEMBERS, outside=self, inside=store)

        # The core.
        m.d.comb += [
            joiner.credit.eq(way_out.credit),
            adder.elements.eq(joiner.beat.payload.elements),
            adder.addends.eq(joiner.encodings),
            way_out.enter.eq(joiner.enter),
            way_out.side.eq(joiner.beat.payload.side),
            way_out.elements.eq(adder.out),
            way_out.saturated.eq(adder.saturated),
            *(self.events[name].eq(way_out.events[name]) for name in EXIT_EVENTS),
            self.events.input_stall.eq(self.packet.valid & ~self.packet.ready),
            self.events.position_error.eq(port.position_error),
            self.events.slot_error.eq(port.slot_error),
            self.events.framing_error.eq(framer.framing_error),
        ]
        return m
