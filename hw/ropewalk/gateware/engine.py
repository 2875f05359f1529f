"""The rotary engine: descriptors and packets in, rotated packets out.

    descriptors -> DescriptorPort -> RowPlanner -> RowGenerator or RowTable -> RowMemory
                                         |                                        |
    packets -----------------------------> Framer -> (row there? credit?) -> Rotator -> queue -> packets

The rotator has a fixed latency and never stalls: a beat enters it only against a credit for a place in the output
queue, so a stall outside stops beats at its entrance and reaches no arithmetic register.
"""

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .component import Component
from .descriptor import DescriptorPort
from .framer import Framer, packet_layout
from .generator import RowGenerator
from .layouts import beat_layout, descriptor_layout, side_layout
from .planner import RowPlanner
from .primitives import delayed
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
        self._memory = RowMemory(design)
        self._framer = Framer(design)
        self._rotator = Rotator(design)
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
        """Clocks from a beat at the rotator's entrance to the output queue."""
        return self._memory.latency + self._rotator.latency

    @property
    def queue_depth(self) -> int:
        """Places in the output queue: the beats in flight, and the clocks that a credit takes to come back."""
        return 1 << (self.core_latency + 3).bit_length()

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first rotated beat of an idle engine whose data are waiting.

        The pairs of a beat are made one by one; an entry is in the memory one clock after it has been made, and the
        buffered queue takes two.
        """
        design = self._design
        entries = min(design.lanes - design.geometry.rotary_start // 2 % design.lanes, design.pairs)
        made = self._port.latency + self._source.latency + entries - 1
        return made + 1 + self.core_latency + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = self._port
        m.submodules.planner = planner = RowPlanner(design)
        m.submodules.source = source = self._source
        m.submodules.memory = memory = self._memory
        m.submodules.framer = framer = self._framer
        m.submodules.rotator = rotator = self._rotator

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

        # The entrance.
        beat = framer.beat.payload
        depth = self.queue_depth
        credits = Signal(range(depth + 1), init=depth)
        enter = Signal()
        leave = Signal()
        held = Signal(design.row_number_bits, init=-1)
        m.d.comb += [
            memory.sequence.eq(beat.sequence),
            memory.word.eq(beat.word),
            memory.needed.eq(beat.rotated.any()),
            framer.beat.ready.eq(memory.available & (credits != 0)),
            enter.eq(framer.beat.valid & framer.beat.ready),
            planner.held.eq(held),
            planner.writing.eq(memory.writing),
        ]
        with m.If(enter & ~leave):
            m.d.sync += credits.eq(credits - 1)
        with m.If(~enter & leave):
            m.d.sync += credits.eq(credits + 1)
        with m.If(enter):
            m.d.sync += held.eq(beat.sequence)

        # The core.
        wait = memory.latency
        waiting = delayed(m, beat, wait, name="beat")
        at_rotator = data.View(beat_layout(design), waiting)
        m.d.comb += [
            rotator.elements.eq(at_rotator.elements),
            rotator.rotated.eq(at_rotator.rotated),
            rotator.inverse.eq(at_rotator.inverse),
            rotator.entries.eq(memory.entries),
        ]
        valid = enter
        for clock in range(self.core_latency):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later

        # The exit. What accompanies a beat waits in a queue of its own and needs no delay line.
        results = m.submodules.results = SyncFIFOBuffered(width=rotator.out.shape().size, depth=depth)
        sides = m.submodules.sides = SyncFIFO(width=side_layout().size, depth=depth)
        m.d.comb += [
            results.w_data.eq(rotator.out),
            results.w_en.eq(valid),
            sides.w_data.eq(beat.side),
            sides.w_en.eq(enter),
            self.result.payload.elements.eq(results.r_data),
            self.result.payload.side.eq(sides.r_data),
            self.result.valid.eq(results.r_rdy),
            leave.eq(self.result.valid & self.result.ready),
            results.r_en.eq(self.result.ready),
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
        return m
