"""The registers of a sinusoidal adder, as ``registers.rdl`` describes them."""

from amaranth.hdl import Cat, Module, Signal, signed
from amaranth.lib.wiring import In, Out

from ... import __version__
from ...designs.sinusoidal import SinusoidalDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..counters import Counters
from ..ports import join
from ..register_map import register_map
from ..register_port import RegisterPort, sticky_bits
from ..slot_loader import NO_SLOT
from ..units.layouts import event_layout
from .engine import LOADER_MEMBERS
from .layouts import ERRORS
from .store import SlotStore

UNIT = "sinusoidal"

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

FULL_WORDS = ("offset", "load_begin", "load_data", "load_commit")
IDENTITY = int.from_bytes(b"SINE", "little")


class Registers(Component):
    """All registers of a sinusoidal adder. Accesses: :class:`~ropewalk.gateware.register_port.RegisterPort`.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    offset, soft_reset, flush : Out
        What the engine follows.
    events : In
        What it counts.
    begin .. crc
        To the slot store: see :class:`~ropewalk.gateware.sinusoidal.store.SlotStore`.
    """

    def __init__(self, design: SinusoidalDesign, store: SlotStore):
        self._design = design
        super().__init__(
            {
                **axi_lite_members(""),
                "offset": Out(signed(32)),
                "soft_reset": Out(1),
                "flush": Out(1),
                "events": In(event_layout(design, *ERRORS)),
                **{name: store.signature.members[name].flip() for name in LOADER_MEMBERS},
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.port = port = RegisterPort(
            register_map(UNIT), full_words=FULL_WORDS, banks={"counters": list(COUNTERS)}
        )
        join(m, axi_lite_members(""), outside=self, inside=port)

        def bit(register: str, number: int):
            return port.written[register] & port.strobes[number // 8] & port.word[number]

        # There is one slot, so a begin for another one never reaches the store.
        other = Signal()
        no_slot = Signal()
        known = Signal(reset_less=True)
        m.d.sync += known.eq(port.word[:8] == 0)
        begins = port.written.load_begin & known
        m.d.comb += other.eq(port.written.load_begin & ~known)
        with m.If(other):
            m.d.sync += no_slot.eq(1)
        with m.Elif(self.refusal | begins):
            m.d.sync += no_slot.eq(0)
        m.d.comb += [
            self.soft_reset.eq(bit("control", 0)),
            self.flush.eq(bit("control", 3)),
            self.begin.eq(begins),
            self.word_valid.eq(port.written.load_data),
            self.word.eq(port.word),
            self.commit.eq(port.written.load_commit),
            port.refusal.eq(self.refusal | other),
        ]
        offset = Signal(signed(32))
        m.d.comb += self.offset.eq(offset)
        with m.If(port.written.offset):
            m.d.sync += offset.eq(port.word)

        # The number of saturated elements in a clock is a sum of many bits: it is counted a clock late.
        saturated = Signal(range(design.lanes + 1))
        m.d.sync += saturated.eq(sum(self.events.saturated[1:], self.events.saturated[0]))
        m.submodules.counters = counters = Counters(
            {name: len(saturated) if event == "saturated" else 1 for name, event in COUNTERS.items()}
        )
        m.d.comb += [
            counters.snapshot.eq(bit("control", 1)),
            counters.clear.eq(bit("control", 2)),
            counters.index.eq(port.index),
            port.banks.counters.eq(counters.shown),
            port.waiting.eq(counters.waiting),
        ]
        for name, event in COUNTERS.items():
            m.d.comb += counters.steps[name].eq(saturated if event == "saturated" else self.events[event])

        happened = [
            self.events.position_error,
            self.events.slot_error,
            self.events.framing_error,
            self.events.saturated.any(),
            self.refusal | other,
        ]
        cleared = Cat(bit("status", number) for number in range(len(happened)))
        sticky = sticky_bits(m, happened, cleared, name="sticky")

        major, minor, patch = (int(part) for part in __version__.split("."))
        refused = Signal(3)
        m.d.comb += refused.eq(self.refused)
        with m.If(no_slot):
            m.d.comb += refused.eq(NO_SLOT)
        values = {
            "identity": IDENTITY,
            "version": patch | minor << 8 | major << 16,
            "widths": design.lanes | design.data_width << 8 | design.fraction_bits << 16 | design.phase_bits << 24,
            "row_shape": design.dimension | design.pairs << 16,
            "features": design.generators | int(design.half) << 8 | int(design.scaled) << 9,
            "status": sticky,
            "offset": offset,
            "load_state": Cat(self.loading, self.busy, self.scanning, Signal(5), refused, Signal(5), self.words),
            "geometry_crc": self.crc,
        }
        m.d.comb += [port.values[name].eq(value) for name, value in values.items()]
        return m
