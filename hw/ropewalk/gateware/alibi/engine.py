"""The ALiBi unit without its ports: descriptors and packets in, packets with their biases out.

    descriptors -> RowPort -> frames --+          SlopeStore
                      |                |               |
                      +---- row -------|---------------|----+
                                       v               v    v
    packets ------------------------> RowFramer ----> BiasAdder -> queue -> packets

The adder has a fixed latency and never stalls: the framer takes a beat only against a credit for a place in the output
queue, so a stall outside stops beats at the entrance and reaches no arithmetic register.
"""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..pipeline import delayed
from .bias import BiasAdder
from .framer import RowFramer
from .layouts import descriptor_layout, event_layout, packet_layout, result_layout
from .output_queue import OutputQueue
from .row_port import RowPort
from .slope_store import SlopeStore

LOADER_MEMBERS = (
    "heads", "begin", "begin_heads", "word_valid", "word", "commit", "refusal", "refused", "loading", "busy",
    "scanning", "words", "crc",
)  # fmt: skip
"""Members of the slope store that the registers reach through the engine."""


class AlibiEngine(Component):
    """Adds biases to rows of scores.

    Throughput one beat per clock. Latency of the first beat of an idle engine: :attr:`latency`.

    Members
    -------
    descriptor : In stream
        Row descriptors.
    packet : In stream
        Their scores.
    result : Out stream
        The scores with their biases.
    awake : In
        Without it nothing is taken.
    mode : In
        What keys are measured from, for the descriptor that is taken in this clock.
    events : Out
        What happened in the clock before, for the counters.
    heads .. crc
        See :class:`~ropewalk.gateware.alibi.slope_store.SlopeStore`.
    """

    def __init__(self, design: AlibiDesign):
        self._design = design
        self._port = RowPort(design)
        self._framer = RowFramer(design)
        self._adder = BiasAdder(design)
        self._slopes = SlopeStore(design)
        loader = {name: self._slopes.signature.members[name] for name in LOADER_MEMBERS}
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "packet": In(stream.Signature(packet_layout(design))),
                "result": Out(stream.Signature(result_layout(design))),
                "awake": In(1),
                "mode": In(2),
                "events": Out(event_layout(design)),
                **loader,
            }
        )

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return self._adder.multipliers

    @property
    def core_latency(self) -> int:
        """Clocks from a beat that is taken to the output queue."""
        return self._framer.latency + self._adder.latency

    @property
    def queue_depth(self) -> int:
        """Places in the output queue: more than the beats in flight, and one for the clock that a credit is late."""
        return 1 << (self.core_latency + 1).bit_length()

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle engine whose data are waiting.

        A frame is taken one clock before its first beat, and the queue takes one.
        """
        return self._port.latency + 1 + self.core_latency + 1

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = self._port
        m.submodules.framer = framer = self._framer
        m.submodules.adder = adder = self._adder
        m.submodules.slopes = slopes = self._slopes
        connect(m, wiring.flipped(self.descriptor), port.descriptor)
        connect(m, port.frame, framer.frame)
        connect(m, wiring.flipped(self.packet), framer.packet)
        for name in LOADER_MEMBERS:
            inside, outside = getattr(slopes, name), getattr(self, name)
            flow = slopes.signature.members[name].flow
            m.d.comb += outside.eq(inside) if flow == Out else inside.eq(outside)

        # A beat that the framer gives out finds its row beside it, and its slope two clocks later.
        m.d.comb += [
            port.awake.eq(self.awake),
            framer.awake.eq(self.awake),
            port.mode.eq(self.mode),
            port.heads.eq(slopes.heads),
            port.bank.eq(slopes.bank),
            slopes.address.eq(port.row.address),
            slopes.idle.eq(~framer.accept),
            slopes.taken.eq(port.taken),
            slopes.ended.eq(framer.beat_valid & framer.beat.last),
            slopes.dropped.eq(port.count_error),
            adder.scores.eq(framer.beat.scores),
            adder.index.eq(framer.beat.index),
            adder.row.eq(port.row),
            adder.slope.eq(slopes.slope),
        ]

        depth = self.queue_depth
        leave = Signal()
        m.d.sync += framer.room.eq(self._has_room(m, depth, framer.beat_valid, leave) & ~slopes.hold)

        valid = framer.beat_valid
        keep = delayed(m, framer.side.keep, adder.latency - 1, name="keep")
        for clock in range(adder.latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later

        # The exit. What accompanies a beat waits in the queue and needs no delay line.
        m.submodules.queue = queue = OutputQueue(design, depth=depth, lag=adder.latency - 1)
        connect(m, queue.result, wiring.flipped(self.result))
        m.d.comb += [
            queue.side.eq(framer.side),
            queue.side.tag.eq(delayed(m, port.row.tag, 1, name="tag")),
            queue.side.error.eq(framer.side.error | delayed(m, port.row.error, 1, name="row_error")),
            queue.side_valid.eq(framer.side_valid),
            queue.scores.eq(adder.result),
            queue.scores_valid.eq(valid),
            leave.eq(self.result.valid & self.result.ready),
        ]
        offered, taken = Signal(), Signal()
        m.d.comb += self.events.input_stall.eq(offered & ~taken)
        m.d.sync += [
            offered.eq(self.packet.valid),
            taken.eq(self.packet.ready),
            self.events.row.eq(leave & self.result.payload.side.last),
            self.events.beat.eq(leave),
            self.events.output_stall.eq(self.result.valid & ~self.result.ready),
            self.events.saturated.eq(adder.saturated & keep & valid.replicate(design.lanes)),
            self.events.position_error.eq(port.position_error),
            self.events.head_error.eq(port.head_error),
            self.events.count_error.eq(port.count_error),
            self.events.framing_error.eq(framer.framing_error),
        ]
        return m

    def _has_room(self, m: Module, depth: int, entered: Value, leave: Value) -> Value:
        """Whether a beat that is taken in the next clock has a place in the queue, whatever is taken in this one.

        ``entered`` is known a clock late: such a beat still has the credit that the count shows. A credit that comes
        back just now counts.
        """
        credits = Signal(range(depth + 1), init=depth)
        with m.If(entered ^ leave):
            m.d.sync += credits.eq(credits + Mux(entered, -1, 1))
        few = credits[:2]
        return credits[2:].any() | (few == 3) | ((few == 2) & (leave | ~entered)) | ((few == 1) & leave & ~entered)
