"""The rotary engine: descriptors and packets in, rotated packets out.

    descriptors -> DescriptorPort -> RowPlanner -> source of rows -> RowMemory
                                         |                           |
    packets ---------------> Framer -> input order -> (row there? room?) -> Rotator -> output order -> packets

The rotator has a fixed latency and never stalls: a beat enters it only when there is room for its result, so a stall
outside stops beats at its entrance and reaches no arithmetic register. Where the order of elements asks for it, input
and output order are buffers of about a head each; else the input is a wire and the output a queue.

Between the ports and the entrance nothing stops anything either: what is taken has a place (:mod:`.credits`).
"""

from amaranth.hdl import Cat, Module, ResetInserter, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from ..design import Design
from .completer import Completer
from .component import Component
from .descriptor import DescriptorPort
from .framer import Framer, packet_layout
from .input_buffer import ReorderedInput
from .input_order import DirectInput
from .latency import first_beat_clock
from .layouts import bank_bits, descriptor_layout, result_layout
from .output_buffer import ReorderedOutput
from .output_order import DirectOutput
from .pipeline import carried
from .planner import RowPlanner
from .rotator import Rotator
from .row_memory import RowMemory
from .row_source import row_source
from .slot_store import SlotStore
from .table import RowTable

LOADER_MEMBERS = (
    "begin", "begin_slot", "word_valid", "word", "commit", "refusal", "refused", "loading", "busy", "scanning", "words",
    "crc_slot", "crc_value",
)  # fmt: skip
"""Members of the slot store that the registers reach through the engine."""

CLEAR_STAGES = 3
"""Parts of the engine that are emptied one clock after the other, so that no register has to reach all of it."""

CLEAR_CLOCKS = CLEAR_STAGES + 2
"""Clocks for which ``clear`` has to be high: all parts are then in reset together."""


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
    stop : In
        Nothing is taken in the next clock. Nor is it in reset, and in the clock behind it.
    clear : In
        High for :data:`CLEAR_CLOCKS` clocks, in which ``stop`` is too, empties the engine. From the first of them on
        nothing at its ports is meant.
    heads, offset, settings_changed : In
        Query, key and value heads; what is added to positions; whether they change in this clock.
    events : Out
        What happened in this clock, for the counters.
    """

    def __init__(self, design: Design):
        self._design = design
        self._planner = RowPlanner(design)
        self._port = DescriptorPort(design, places=self._planner.places)
        self._slots = SlotStore(design)
        self._source = row_source(design)
        self._entry = ReorderedInput(design) if design.input_buffer else DirectInput(design)
        self._memory = RowMemory(design, wait=self._entry.latency - RowMemory.latency)
        self._framer = Framer(design)
        self._rotator = Rotator(design)
        output = ReorderedOutput if design.output_buffer else DirectOutput
        self._output = output(design, self.core_latency, self._entry.depth)
        loader = {name: self._slots.signature.members[name] for name in LOADER_MEMBERS}
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout(design.axes))),
                "packet": In(stream.Signature(packet_layout(design))),
                "result": Out(stream.Signature(result_layout(design))),
                "stop": In(1),
                "clear": In(1),
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
    def latency(self) -> int:
        """Clocks, at most, from a descriptor to the first rotated beat of an idle engine whose data are waiting."""
        return max(self.latencies)

    @property
    def latencies(self) -> tuple[int, ...]:
        """The same for a token of each variant, in slot order."""
        design, parts = self._design, (self._source.latency, self.core_latency)
        return tuple(first_beat_clock(design, slot, *parts) for slot in range(len(design.variants)))

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        port, planner, source, memory, slots = self._port, self._planner, self._source, self._memory, self._slots
        framer, rotator, entry, output = self._framer, self._rotator, self._entry, self._output
        # What joins the parts, and is emptied with some of them.
        joint = Module()
        # Where data and tokens come in is freed last, when there is room for them behind it.
        clear = [Signal(name=f"clear_{stage}") for stage in range(CLEAR_STAGES)]
        m.d.sync += Cat(clear).eq(Cat(self.clear, clear))
        before = [self.clear, *clear]
        for stage, parts in enumerate(
            (
                {"output": output, "entry": entry, "joint": joint},
                {"planner": planner, "source": source, "memory": memory, "rotator": rotator},
                {"port": port, "framer": framer, "slots": slots},
            )
        ):
            for name, part in parts.items():
                # A register for each, which synthesis must not take for one of several: none drives too much.
                part_clear = Signal(name=f"clear_{name}", attrs={"keep": 1})
                m.d.sync += part_clear.eq(before[stage])
                m.submodules[name] = ResetInserter(part_clear)(part)

        # Tokens and their rows. A token that has been passed on, and a row that was begun with it, are told together.
        connect(m, wiring.flipped(self.descriptor), port.descriptor)
        for name in ("request", "row"):
            connect(m, getattr(planner, name), getattr(source, name))
        for name in ("tag", "heads", "context"):
            connect(m, getattr(planner, name), getattr(framer, name))
        joint.d.sync += [
            port.left.eq(planner.heads.valid & planner.heads.ready),
            slots.row_begun.eq(planner.begun),
            planner.made.eq(memory.made),
        ]
        m.d.comb += [
            slots.retired.eq(planner.passed),
            planner.valid.eq(port.valid),
            planner.token.eq(port.token),
            port.stop.eq(self.stop),
            framer.stop.eq(self.stop),
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
            slots.rows_idle.eq(source.idle),
            source.read.eq(slots.read),
            source.read_address.eq(slots.read_address),
            slots.granted.eq(source.granted),
            slots.read_data.eq(source.read_data),
            memory.begun.eq(slots.row_begun),
            *(getattr(memory, name).eq(getattr(source, name)) for name in ("write", "entry", "place", "last")),
        ]
        if not isinstance(source, RowTable):
            m.d.comb += [
                source.load.eq(slots.entry_write),
                source.load_address.eq(slots.entry_address),
                source.load_data.eq(Cat(slots.entry_data[:48], slots.entry_data[62:])),
            ]
        for name in LOADER_MEMBERS:
            inside, outside = getattr(slots, name), getattr(self, name)
            flow = slots.signature.members[name].flow
            m.d.comb += outside.eq(inside) if flow == Out else inside.eq(outside)
        # Beats to the entrance.
        connect(m, wiring.flipped(self.packet), framer.packet)
        if design.buffered:
            completer = Completer(design)
            m.submodules.completer = ResetInserter(clear[1])(completer)
            connect(m, framer.beat, completer.arrival)
            connect(m, completer.beat, entry.beat)
        else:
            connect(m, framer.beat, entry.beat)
        m.d.comb += [
            framer.fetch.eq(entry.fetch),
            entry.arriving.eq(framer.elements),
            entry.lagging.eq(framer.lagging),
            memory.asks.eq(entry.asks),
            entry.available.eq(memory.available),
            entry.room.eq(output.room),
            output.enter.eq(entry.enter),
            *(getattr(output, name).eq(getattr(entry, name)) for name in ("came", "word", "absent", "side")),
        ]
        if design.moves:
            m.d.comb += output.order.eq(entry.order)
        # The reader lets go of a row when a beat of another one goes: the rows of beats that follow come in turn.
        entered = Signal()
        bank, held = Signal(bank_bits(design), reset_less=True), Signal(bank_bits(design), init=-1)
        joint.d.sync += [
            entered.eq(entry.enter),
            bank.eq(entry.asks[0].bank),
            planner.released.eq(entered & (bank != held)),
        ]
        with joint.If(entered):
            joint.d.sync += held.eq(bank)

        # The core.
        m.d.comb += [
            rotator.elements.eq(entry.elements),
            rotator.rotated.eq(entry.rotated),
            rotator.inverse.eq(entry.inverse),
            rotator.entries.eq(memory.entries),
            output.elements.eq(rotator.out),
        ]
        valid = carried(joint, entry.enter, self.core_latency, name="valid")
        m.d.comb += output.valid.eq(valid)

        connect(m, output.result, wiring.flipped(self.result))
        leave = self.result.valid & self.result.ready
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
