"""The rotary engine: descriptors and packets in, rotated packets out.

    descriptors -> DescriptorPort -> RowPlanner -> RowGenerator or RowTable -> RowMemory
                                         |                                        |
    packets ---------------> Framer -> input order -> (row there? room?) -> Rotator -> output order -> packets

The rotator has a fixed latency and never stalls: a beat enters it only when there is room for its result, so a stall
outside stops beats at its entrance and reaches no arithmetic register. Where the order of elements asks for it, input
and output order are buffers of about a head each; else the input is a wire and the output a queue.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .completer import Completer
from .component import Component
from .descriptor import DescriptorPort
from .framer import Framer, packet_layout
from .generator import RowGenerator
from .input_order import DirectInput, ReorderedInput
from .latency import first_beat_clock
from .layouts import descriptor_layout, side_layout
from .output_order import QUEUE_DEPTH, DirectOutput, ReorderedOutput
from .planner import RowPlanner
from .rotator import Rotator
from .row_memory import RowMemory
from .slot_store import SlotStore
from .table import RowTable


def result_layout(design: Design) -> data.StructLayout:
    """A beat as it goes out."""
    return data.StructLayout({"elements": data.ArrayLayout(design.data.shape, design.elements), "side": side_layout()})


LOADER_MEMBERS = (
    "begin", "begin_slot", "word_valid", "word", "commit", "refusal", "refused", "loading", "busy", "scanning", "words",
    "crc_slot", "crc_value",
)  # fmt: skip
"""Members of the slot store that the registers reach through the engine."""


def event_layout(design: Design) -> data.StructLayout:
    """What can happen in a clock and is counted."""
    return data.StructLayout(
        {
            "token": 1,
            "beat": 1,
            "input_stall": 1,
            "output_stall": 1,
            "saturated": design.elements,
            "position_error": 1,
            "slot_error": 1,
            "framing_error": 1,
        }
    )


class RotaryEngine(Component):
    """One token's row is made once and rotates all of its heads.

    Throughput: ``design.beats_per_clock``. Latency of the first beat of an idle engine: :attr:`latency`.

    Members
    -------
    descriptor : In stream
        Token descriptors.
    packet : In stream
        Their heads.
    result : Out stream
        The rotated heads.
    heads, offset, settings_changed : In
        Query, key and value heads; what is added to positions; whether they change in this clock.
    events : Out
        What happened in this clock, for the counters.
    """

    def __init__(self, design: Design):
        self._design = design
        self._port = DescriptorPort(design)
        self._slots = SlotStore(design)
        self._source = RowGenerator(design) if design.source == "synth" else RowTable(design)
        self._entry = ReorderedInput(design) if design.input_buffer else DirectInput(design)
        self._memory = RowMemory(design, wait=self._entry.latency - RowMemory.latency)
        self._framer = Framer(design)
        self._rotator = Rotator(design)
        output = ReorderedOutput if design.output_buffer else DirectOutput
        self._output = output(design, self.core_latency)
        loader = {name: self._slots.signature.members[name] for name in LOADER_MEMBERS}
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout(design.axes))),
                "packet": In(stream.Signature(packet_layout(design))),
                "result": Out(stream.Signature(result_layout(design))),
                "heads": In(data.ArrayLayout(8, 3)),
                "offset": In(data.ArrayLayout(signed(32), design.axes)),
                "settings_changed": In(1),
                "events": Out(event_layout(design)),
                **loader,
            }
        )

    @property
    def core_latency(self) -> int:
        """Clocks from a beat at the entrance to its result."""
        return self._entry.latency + self._rotator.latency

    @property
    def side_depth(self) -> int:
        """Places for what accompanies a beat: as many as there can be beats between the framer and the exit."""
        places = self._output.depth
        if isinstance(self._entry, ReorderedInput):
            places += self._entry.depth
        if isinstance(self._output, ReorderedOutput):
            places += QUEUE_DEPTH
        return 1 << (places - 1).bit_length()

    @property
    def latency(self) -> int:
        """Clocks, at most, from a descriptor to the first rotated beat of an idle engine whose data are waiting."""
        return max(self.latencies)

    @property
    def latencies(self) -> tuple[int, ...]:
        """The same for a token of each variant, in slot order."""
        design, parts = self._design, (self._port.latency, self._source.latency, self.core_latency)
        return tuple(first_beat_clock(design, slot, *parts) for slot in range(len(design.variants)))

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = self._port
        m.submodules.planner = planner = RowPlanner(design)
        m.submodules.source = source = self._source
        m.submodules.memory = memory = self._memory
        m.submodules.framer = framer = self._framer
        m.submodules.rotator = rotator = self._rotator
        m.submodules.entry = entry = self._entry
        m.submodules.output = output = self._output

        m.submodules.slots = slots = self._slots

        connect(m, wiring.flipped(self.descriptor), port.descriptor)
        connect(m, port.token, planner.token)
        connect(m, planner.request, source.request)
        connect(m, planner.context, framer.context)
        connect(m, wiring.flipped(self.packet), framer.packet)
        m.d.comb += [
            port.heads.eq(self.heads),
            port.offset.eq(self.offset),
            port.changed.eq(self.settings_changed | slots.changed),
            port.hold.eq(slots.hold),
            port.known.eq(slots.known),
            port.place.eq(slots.physical),
            port.header.eq(slots.header),
            slots.slot.eq(port.slot),
            slots.lookup.eq(port.lookup),
            slots.taken.eq(port.lookup),
            slots.retired.eq(planner.token.valid & planner.token.ready),
            slots.rows_idle.eq(source.idle),
            slots.row_begun.eq(source.begun),
            source.read.eq(slots.read),
            source.read_address.eq(slots.read_address),
            slots.granted.eq(source.granted),
            slots.read_data.eq(source.read_data),
            *(getattr(memory, name).eq(getattr(source, name)) for name in ("write", "entry", "place", "last")),
        ]
        if isinstance(source, RowGenerator):
            m.d.comb += [
                source.load.eq(slots.entry_write),
                source.load_address.eq(slots.entry_address),
                source.load_data.eq(Cat(slots.entry_data[:48], slots.entry_data[62:])),
            ]
        for name in LOADER_MEMBERS:
            inside, outside = getattr(slots, name), getattr(self, name)
            flow = slots.signature.members[name].flow
            m.d.comb += outside.eq(inside) if flow == Out else inside.eq(outside)
        if design.buffered:
            m.submodules.completer = completer = Completer(design)
            connect(m, framer.beat, completer.arrival)
            connect(m, completer.beat, entry.beat)
        else:
            connect(m, framer.beat, entry.beat)

        # The entrance.
        ticket = entry.ticket.payload
        enter = Signal()
        held = Signal(design.row_number_bits, init=-1)
        m.d.comb += [
            memory.sequence.eq(ticket.sequence),
            memory.word.eq(ticket.word),
            memory.needed.eq(ticket.needed),
            entry.ticket.ready.eq(memory.available & output.room),
            enter.eq(entry.ticket.valid & entry.ticket.ready),
            output.enter.eq(enter),
            planner.held.eq(held),
            planner.writing.eq(memory.writing),
        ]
        if design.moves:
            m.d.comb += output.order.eq(ticket.order)
        with m.If(enter):
            m.d.sync += held.eq(ticket.sequence)

        # The core.
        m.d.comb += [
            rotator.elements.eq(entry.elements),
            rotator.rotated.eq(entry.rotated),
            rotator.inverse.eq(entry.inverse),
            rotator.entries.eq(memory.entries),
            output.elements.eq(rotator.out),
        ]
        valid = enter
        for clock in range(self.core_latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        m.d.comb += output.valid.eq(valid)

        # The exit. What accompanies a beat keeps its place in the stream, whatever becomes of the elements, and waits
        # in a queue of its own.
        sides = m.submodules.sides = SyncFIFO(width=side_layout().size, depth=self.side_depth)
        leave = Signal()
        m.d.comb += [
            sides.w_data.eq(entry.beat.payload.side),
            sides.w_en.eq(entry.taken),
            self.result.payload.elements.eq(output.result.payload),
            self.result.payload.side.eq(sides.r_data),
            self.result.valid.eq(output.result.valid),
            output.result.ready.eq(self.result.ready),
            leave.eq(self.result.valid & self.result.ready),
            sides.r_en.eq(leave),
        ]
        m.d.comb += [
            self.events.token.eq(leave & self.result.payload.side.last),
            self.events.beat.eq(leave),
            self.events.input_stall.eq(self.packet.valid & ~self.packet.ready),
            self.events.output_stall.eq(self.result.valid & ~self.result.ready),
            self.events.saturated.eq(rotator.saturated & valid.replicate(design.elements)),
            self.events.position_error.eq(port.position_error),
            self.events.slot_error.eq(port.slot_error),
            self.events.framing_error.eq(framer.framing_error),
        ]
        if design.buffered:
            # Of a short packet's last head, the rest is dropped.
            word = Signal(range(max(2, design.beats_per_head)))
            at_head_end = Signal()
            dropping = Signal()
            m.d.comb += at_head_end.eq(word == design.beats_per_head - 1)
            with m.If(dropping):
                m.d.comb += [self.result.valid.eq(0), output.result.ready.eq(1)]
            with m.If(output.result.valid & output.result.ready):
                m.d.sync += word.eq(Mux(at_head_end, 0, word + 1))
                with m.If(at_head_end):
                    m.d.sync += dropping.eq(0)
                with m.Elif(leave & self.result.payload.side.last):
                    m.d.sync += dropping.eq(1)
        return m
