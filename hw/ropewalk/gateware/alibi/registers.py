"""The registers of the ALiBi unit, as ``registers.rdl`` beside this file describes them."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from ... import __version__
from ...designs.alibi import AlibiDesign
from ...tables.slopes import SLOPE_FRACTION_BITS
from ..axi_lite import axi_lite_members
from ..component import Component
from ..counters import Counters
from ..register_map import register_map
from ..register_port import RegisterPort, sticky_bits
from .engine import LOADER_MEMBERS
from .layouts import event_layout
from .slope_store import SlopeStore

UNIT = "alibi"
IDENTITY = int.from_bytes(b"ALIB", "little")
FULL_WORDS = ("load_begin", "load_data", "load_commit")

COUNTERS = {
    "rows": "row",
    "beats": "beat",
    "input_stalls": "input_stall",
    "output_stalls": "output_stall",
    "saturations": "saturated",
    "position_errors": "position_error",
    "head_errors": "head_error",
    "framing_errors": "framing_error",
    "count_errors": "count_error",
}
"""Which event each counter counts."""


class AlibiRegisters(Component):
    """All registers of an ALiBi unit.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    mode, soft_reset, flush : Out
        What the engine follows.
    events : In
        What it counts.
    heads .. crc
        To the slope store: see :class:`~ropewalk.gateware.alibi.slope_store.SlopeStore`.
    """

    def __init__(self, design: AlibiDesign):
        self._design = design
        members = SlopeStore.members(design)
        super().__init__(
            {
                **axi_lite_members(""),
                "mode": Out(2),
                "soft_reset": Out(1),
                "flush": Out(1),
                "events": In(event_layout(design)),
                **{name: members[name].flip() for name in LOADER_MEMBERS},
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        registers = register_map(UNIT)
        m.submodules.port = port = RegisterPort(registers, full_words=FULL_WORDS, banks={"counters": list(COUNTERS)})
        for name, member in axi_lite_members("").items():
            outside, inside = getattr(self, name), getattr(port, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)

        written, word, low_byte = port.written, port.word, port.strobes[0]
        control = written.control & low_byte
        m.submodules.counters = counters = Counters(
            {name: design.lanes.bit_length() if event == "saturated" else 1 for name, event in COUNTERS.items()}
        )
        for name, event in COUNTERS.items():
            step = Signal(counters.steps[name].shape(), name=f"step_{name}")
            m.d.sync += step.eq(sum(self.events[event]))
            m.d.comb += counters.steps[name].eq(step)
        m.d.comb += [
            counters.snapshot.eq(control & word[1]),
            counters.clear.eq(control & word[2]),
            counters.index.eq(port.index),
            port.banks.counters.eq(counters.shown),
            port.waiting.eq(counters.waiting),
        ]

        happened = [
            self.events.position_error,
            self.events.head_error,
            self.events.framing_error,
            self.events.saturated.any(),
            self.refusal,
            self.events.count_error,
        ]
        cleared = (written.status & low_byte).replicate(len(happened)) & word[: len(happened)]
        status = sticky_bits(m, happened, cleared, name="status")
        mode = Signal(2, init=design.mode)
        with m.If(written.mode & low_byte):
            m.d.sync += mode.eq(word)

        major, minor, patch = (int(part) for part in __version__.split("."))
        values = {
            "identity": IDENTITY,
            "version": patch | minor << 8 | major << 16,
            "widths": design.lanes | design.data_width << 8 | design.fraction_bits << 16 | SLOPE_FRACTION_BITS << 24,
            "capacity": design.capacity,
            "status": status,
            "mode": mode,
            "heads": self.heads,
            "load_state": Cat(self.loading, self.busy, self.scanning, Signal(5), self.refused, Signal(5), self.words),
            "slope_crc": self.crc,
        }
        m.d.comb += [
            *(port.values[name].eq(value) for name, value in values.items()),
            port.refusal.eq(self.refusal),
            self.mode.eq(mode),
            self.soft_reset.eq(control & word[0]),
            self.flush.eq(control & word[3]),
            self.begin.eq(written.load_begin),
            self.begin_heads.eq(word),
            self.word_valid.eq(written.load_data),
            self.word.eq(word),
            self.commit.eq(written.load_commit),
        ]
        return m
