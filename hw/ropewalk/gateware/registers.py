"""The registers of a rotary engine, as ``registers.rdl`` describes them."""

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from .. import __version__
from ..design import Design
from ..design_checks import MAX_HEADS
from .axi_lite import axi_lite_members
from .component import Component
from .counters import Counters
from .engine import LOADER_MEMBERS, event_layout
from .register_map import register_map
from .register_port import RegisterPort, sticky_bits
from .slot_store import SlotStore

COUNTERS = {
    "tokens": "token",
    "beats": "beat",
    "input_stalls": "input_stall",
    "output_stalls": "output_stall",
    "saturations": "saturated",
    "position_errors": "position_error",
    "slot_errors": "slot_error",
    "framing_errors": "framing_error",
}
"""Which event each counter counts."""

HEADS = ("query_heads", "key_heads", "value_heads")
FULL_WORDS = ("load_begin", "load_data", "load_commit")
STATUS_BITS = 5
PAIRINGS = ("interleaved", "half", "paired", "both")
"""The codes of `features`."""
IDENTITY = int.from_bytes(b"ROPE", "little")


class Registers(Component):
    """All registers of a rotary engine. Accesses: :class:`~ropewalk.gateware.register_port.RegisterPort`.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    heads, offset, settings_changed, soft_reset, flush : Out
        What the engine follows.
    events : In
        What it counts.
    begin .. crc_value
        To the slot store: see :class:`~ropewalk.gateware.slot_store.SlotStore`.
    """

    def __init__(self, design: Design):
        self._design = design
        members = SlotStore.members(design)
        super().__init__(
            {
                **axi_lite_members(""),
                "heads": Out(data.ArrayLayout(8, 3)),
                "offset": Out(data.ArrayLayout(signed(32), design.axes)),
                "settings_changed": Out(1),
                "soft_reset": Out(1),
                "flush": Out(1),
                "events": In(event_layout(design)),
                **{name: members[name].flip() for name in LOADER_MEMBERS},
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        offsets = [f"offset[{axis}]" for axis in range(design.axes)]
        crcs = [f"geometry_crc[{slot}]" for slot in range(design.slots)]
        registers = {name: one for name, one in register_map().items() if "[" not in name or name in (*offsets, *crcs)}
        # A field of a layout cannot be called that.
        registers["engine_shape"] = registers.pop("shape")
        m.submodules.port = port = RegisterPort(
            registers, full_words=(*FULL_WORDS, *offsets), banks={"counters": list(COUNTERS), "crcs": crcs}
        )
        for name, member in axi_lite_members("").items():
            outside, inside = getattr(self, name), getattr(port, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        written, word, low_byte = port.written, port.word, port.strobes[0]
        # What is written is there before it is known to which register.
        bits = Signal(STATUS_BITS, reset_less=True)
        m.d.sync += bits.eq(word & low_byte.replicate(len(bits)))
        control = bits & written.control.replicate(len(bits))
        m.d.comb += [
            self.soft_reset.eq(control[0]),
            self.flush.eq(control[3]),
            self.begin.eq(written.load_begin),
            self.begin_slot.eq(word),
            self.word_valid.eq(written.load_data),
            self.word.eq(word),
            self.commit.eq(written.load_commit),
            self.crc_slot.eq(port.index),
            port.banks.crcs.eq(self.crc_value),
        ]

        # Events are looked at a clock late. How many elements were saturated is a sum of many bits, in three clocks.
        events = Signal(event_layout(design), name="happened")
        halves = [Signal(range(design.lanes + 1), name=f"saturated_{half}") for half in range(2)]
        saturated = Signal(range(design.elements + 1))
        m.d.sync += [
            events.eq(self.events),
            *(half.eq(sum(events.saturated[place::2])) for place, half in enumerate(halves)),
            saturated.eq(halves[0] + halves[1]),
        ]
        m.submodules.counters = counters = Counters(
            {name: len(saturated) if event == "saturated" else 1 for name, event in COUNTERS.items()}
        )
        for name, event in COUNTERS.items():
            m.d.comb += counters.steps[name].eq(saturated if event == "saturated" else events[event])
        m.d.comb += [
            counters.snapshot.eq(control[1]),
            counters.clear.eq(control[2]),
            counters.index.eq(port.index),
            port.banks.counters.eq(counters.shown),
            port.waiting.eq(counters.waiting),
        ]
        happened = [
            events.position_error, events.slot_error, events.framing_error, events.saturated.any(), self.refusal,
        ]  # fmt: skip
        sticky = sticky_bits(m, happened, bits & written.status.replicate(STATUS_BITS), name="status")

        no_heads = self._settings(m, port)
        m.d.comb += port.refusal.eq(self.refusal | no_heads)
        major, minor, patch = (int(part) for part in __version__.split("."))
        values = {
            "identity": IDENTITY,
            "version": patch | minor << 8 | major << 16,
            "widths": design.lanes | design.data_width << 8 | design.coefficient_width << 16 | design.phase_bits << 24,
            "engine_shape": design.geometry.head_dim | MAX_HEADS << 16,
            "features": design.slots
            | design.axes << 8
            | design.clocks_per_pair << 12
            | int(design.source == "table") << 16
            | PAIRINGS.index(design.stream_pairings[0]) << 20
            | PAIRINGS.index(design.stream_pairings[1]) << 22,
            "status": sticky,
            **{name: self.heads[kind] for kind, name in enumerate(HEADS)},
            **{name: self.offset[axis] for axis, name in enumerate(offsets)},
            "load_state": Cat(self.loading, self.busy, self.scanning, Signal(5), self.refused, Signal(5), self.words),
        }
        m.d.comb += [port.values[name].eq(value) for name, value in values.items()]
        return m

    def _settings(self, m: Module, port: RegisterPort) -> Signal:
        """Head counts and offsets; whether a write of them is refused, because no head would be left."""
        design = self._design
        refused = Signal(name="no_heads")
        none = Signal(reset_less=True)
        m.d.sync += none.eq(port.strobes[0] & (port.word[:8] == 0))
        counts = dict(zip(HEADS, design.heads, strict=True))
        heads = [Signal(8, name=name, init=count) for name, count in counts.items()]
        some = Signal(len(heads), init=sum((count != 0) << kind for kind, count in enumerate(design.heads)))
        m.d.sync += some.eq(Cat(register != 0 for register in heads))
        changed = []
        for kind, (name, register) in enumerate(zip(HEADS, heads, strict=True)):
            last = Signal(name=f"last_{name}", reset_less=True)
            written = port.written[name]
            m.d.comb += self.heads[kind].eq(register)
            m.d.sync += last.eq(none & ~(some & ~(1 << kind)).any())
            with m.If(written & last):
                m.d.comb += refused.eq(1)
            with m.Elif(written & port.strobes[0]):
                m.d.sync += register.eq(port.word)
            changed.append(written & ~last)
        offsets = [Signal(signed(32), name=f"offset_{axis}") for axis in range(design.axes)]
        for axis, register in enumerate(offsets):
            written = port.written[f"offset[{axis}]"]
            m.d.comb += self.offset[axis].eq(register)
            with m.If(written):
                m.d.sync += register.eq(port.word)
            changed.append(written)
        m.d.comb += self.settings_changed.eq(Cat(changed).any())
        return refused
